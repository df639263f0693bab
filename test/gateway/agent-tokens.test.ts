// The token of an agent may not manage the gateway: a configuration that says so is refused, at the start and at a reload.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { eachDatabase, type World } from "../databases.ts";
import { newFolder, openGateway } from "./gateway-world.ts";

const NAME = "HOLDFAST_TEST_AGENT_TOKEN";

afterEach(() => {
  delete process.env[NAME];
});

const config = { plugins: { "agentic-loop": { token_ref: NAME } } };

/** Makes a token with these capabilities, and puts it where the configuration looks for it. */
async function withToken(world: World, allowed_capabilities: readonly string[] | null): Promise<void> {
  const { holdfast } = await openGateway({ world });
  const { token } = await holdfast.tokens.create({ agent: "loop", owner_user_id: 1, allowed_capabilities });
  process.env[NAME] = token;
  await holdfast.close();
}

eachDatabase((newWorld) => {
  it.each(["gateway.manage", "tokens.manage", "operate"])("one with %s is refused", async (capability) => {
    const world = await newWorld();
    await withToken(world, ["gateway.run", capability]);
    await expect(openGateway({ world, config })).rejects.toMatchObject({
      ...{ code: "gateway_config_invalid", message: expect.stringContaining(capability) },
    });
  });

  it("one that may do whatever its owner may is refused, and so is one that is unknown", async () => {
    const world = await newWorld();
    await withToken(world, null);
    await expect(openGateway({ world, config })).rejects.toMatchObject({ code: "gateway_config_invalid" });
    process.env[NAME] = "no such token";
    await expect(openGateway({ world, config })).rejects.toMatchObject({ code: "gateway_config_invalid" });
  });

  it("one that may only run things is accepted, and a reload refuses a stronger one", async () => {
    const world = await newWorld();
    await withToken(world, ["gateway.run", "gateway.jobs"]);
    const { gateway, holdfast } = await openGateway({ world, config });
    const stronger = { agent: "loop", owner_user_id: 1, allowed_capabilities: ["gateway.manage"] };
    process.env[NAME] = (await holdfast.tokens.create(stronger)).token;
    await expect(gateway.reload()).rejects.toMatchObject({ code: "gateway_config_invalid" });
    expect(JSON.stringify(gateway.configuration())).not.toContain(process.env[NAME]);
  });

  it("that takes a while to look up does not bring a configuration back that was replaced meanwhile", async () => {
    const world = await newWorld();
    await withToken(world, ["gateway.run"]);
    const file = join(newFolder(), "gateway.yaml");
    const write = (name: string, more: object) => {
      const plugins = { "agentic-loop": more };
      writeFileSync(file, JSON.stringify({ service: { name }, plugins }));
    };
    write("first", {});
    const { gateway } = await openGateway({ world, file });
    write("slow", { token_ref: NAME });
    const slow = gateway.reload();
    write("last", {});
    await Promise.all([slow, gateway.reload()]);
    expect((await gateway.status()).name).toBe("last");
    writeFileSync(file, "broken: [");
    await expect(gateway.reload()).rejects.toMatchObject({ code: "gateway_config_invalid" });
    write("good again", {});
    await gateway.reload();
    expect((await gateway.status()).name).toBe("good again");
  });
});
