// The token that a configuration names for an agent: refused where it may manage the gateway, and shown nowhere.
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { scriptedPlanner } from "../../src/gateway/agent/planner/scripted-planner.ts";
import { createHoldfast } from "../../src/holdfast.ts";
import { secretKey, sqliteWorld, type World } from "../databases.ts";
import { openServed, type ServedGateway, serveGateway } from "../gateway-doors/served-gateway.ts";
import { node } from "../plugin-folders.ts";

const VARIABLE = "GATEWAY_TEST_AGENT";

/** A token that is in the database before there is a gateway, and in the environment. */
async function tokenIn(world: World, allowed_capabilities: readonly string[] | null): Promise<string> {
  const holdfast = await createHoldfast({
    ...{ backend: world.backend, agents: [], secretKey, runs: false, drainsOnSignal: false },
    trust: { administrators: [1] },
  });
  const { token } = await holdfast.tokens.create({ agent: "helper", owner_user_id: 1, allowed_capabilities });
  await holdfast.close();
  vi.stubEnv(VARIABLE, token);
  onTestFinished(() => void vi.unstubAllEnvs());
  return token;
}

const withToken = { plugins: { "agentic-loop": { token_ref: VARIABLE, config: {} } } };

describe("the token of an agent", () => {
  it.each([
    ["everything", null],
    ["gateway.manage", ["gateway.run", "gateway.manage"]],
    ["tokens.manage", ["tokens.manage"]],
    ["operate", ["operate"]],
  ])("that may do %s opens no gateway, and is not in the error", async (_, capabilities) => {
    const world = await sqliteWorld();
    const token = await tokenIn(world, capabilities);
    const refused = await serveGateway({ backend: world.backend, config: withToken }).catch(
      (thrown: unknown) => thrown,
    );
    expect(refused).toMatchObject({
      code: "gateway_config_invalid",
      detail: expect.stringMatching(/The token of the agent agentic-loop may not have the capability/),
    });
    expect(String(refused)).not.toContain(token);
  });

  it("that is unknown, or not set, opens no gateway, and is not in the error", async () => {
    const world = await sqliteWorld();
    vi.stubEnv(VARIABLE, "hf_no-such-token-anywhere");
    onTestFinished(() => void vi.unstubAllEnvs());
    const open = () => serveGateway({ backend: world.backend, config: withToken }).catch((thrown: unknown) => thrown);
    const unknown = await open();
    expect(unknown).toMatchObject({
      code: "gateway_config_invalid",
      detail: expect.stringContaining("is unknown or revoked"),
    });
    expect(String(unknown)).not.toContain("no-such-token-anywhere");
    vi.stubEnv(VARIABLE, "");
    expect(await open()).toMatchObject({ code: "gateway_config_invalid", detail: expect.stringContaining(VARIABLE) });
  });

  it("that a reload would give too much is refused with 409, and the old configuration goes on", async () => {
    const world = await sqliteWorld();
    await tokenIn(world, ["gateway.manage"]);
    const served = await serveGateway({ plugins: { good: {} }, backend: world.backend, asFile: true });
    served.write(withToken);
    const refused = await served.ask(await served.token(), "/system/reload", { method: "POST" });
    expect(refused).toMatchObject({ status: 409, body: { code: "gateway_config_invalid", error: expect.any(String) } });
    expect(await served.run("good")).toMatchObject({ status: "succeeded" });
  });

  it("that is good is in no answer, though a plugin says it, and in no byte of the database", async () => {
    const world = await sqliteWorld();
    const token = await tokenIn(world, ["gateway.jobs"]);
    const say = node(
      `console.error(process.env.SAID); console.log(JSON.stringify({ status: "ok", result: "It is ${token}." }));`,
    );
    const served: ServedGateway = await serveGateway({
      plugins: { say: { script: say } },
      config: withToken,
      setup: { planner: scriptedPlanner([{ decision: "done", outcome: `It is ${token}.` }]) },
      backend: world.backend,
    });
    const owner = await served.token();
    const { id, result } = await served.run("say", { note: `Use ${token}.` });
    expect(result).toBe("It is [redacted].");
    await served.gateway.runs.start({ goal: `Use ${token}.`, run_id: "R1" }, { via: "api" });
    await served.untilIdle();
    for (const path of [
      "/config/view",
      `/job/${id}`,
      `/job-logs?job_id=${id}`,
      "/runs",
      "/runs/R1",
      "/runs/R1/trace",
      "/jobs",
    ]) {
      const answer = await served.ask(owner, path);
      expect(answer.status, path).toBe(200);
      expect(answer.text, path).not.toContain(token);
    }
    expect(JSON.stringify(served.logs)).not.toContain(token);
    expect(await world.everything()).not.toContain(token);
    await served.close();
    // It stays known for what was said before, when the gateway is opened again.
    const again = await openServed({ config: withToken, backend: world.backend }, served.root);
    expect((await again.ask(await again.token(), `/job/${id}`)).text).not.toContain(token);
  });
});
