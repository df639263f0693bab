// Promise: forgetting a person reaches what that person has sent to the gateway over HTTP, with any token.
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { scriptedPlanner } from "../../src/gateway/agent/planner/scripted-planner.ts";
import { eventPayload, plugin, toolPipeline } from "../gateway/gateway-world.ts";
import { newFolder, serveGateway } from "./served-gateway.ts";

const TEXT = "a private matter";

/** Two people who may do everything, with a job and an agent run each. */
async function served() {
  const workspaceRoot = newFolder();
  const mirror = plugin("mirror", (request) => ({ result: String(eventPayload(request).text) }));
  const gateway = await serveGateway({
    config: {
      plugins: { "agentic-loop": { config: { allowed_plugins: ["mirror"] } } },
      pipelines: [
        { name: "mail", on: "mail", steps: [{ uses: "mirror" }] },
        toolPipeline("mirror") as { readonly name: string },
      ],
    },
    setup: {
      plugins: [mirror],
      planner: scriptedPlanner([{ tool: "mirror" }, { decision: "done", outcome: TEXT }]),
      workspaceRoot,
    },
    options: { trust: { administrators: [1, 2] } },
  });
  const send = async (user: number) => {
    const { token } = await gateway.holdfast.tokens.create({ agent: "helper", owner_user_id: user });
    const json = { type: "mail", payload: { text: TEXT } };
    const emitted = await gateway.ask(token, "/events", { json });
    const started = await gateway.ask(token, "/runs", { json: { goal: TEXT, run_id: `R${user}` } });
    expect([emitted.status, started.status]).toEqual([202, 202]);
    await gateway.untilIdle();
    return { token, job: String(emitted.body.job_ids[0]), folder: String(started.body.job_id) };
  };
  const [own, other] = [await send(1), await send(2)];
  return { ...gateway, own, other, folders: () => readdirSync(workspaceRoot).toSorted() };
}

const kept = { payload: { payload: { text: TEXT } }, result: TEXT };
const erased = { payload: null, result: null };

describe("forgetting a person", () => {
  it("erases the jobs and the agent runs that were sent with any token of that person, and no others", async () => {
    const { ask, own, other, folders } = await served();
    expect((await ask(own.token, `/job/${own.job}`)).body).toMatchObject(kept);
    expect(folders()).toEqual([own.folder, other.folder].toSorted());
    const forgotten = await ask(other.token, "/memories?user_id=1", { method: "DELETE" });
    expect(forgotten).toMatchObject({ status: 200, body: { forgotten: 0 } });
    expect((await ask(own.token, `/job/${own.job}`)).body).toMatchObject(erased);
    expect((await ask(own.token, `/job/${other.job}`)).body).toMatchObject(kept);
    const runs: { run_id: string }[] = (await ask(own.token, "/runs")).body.runs;
    expect(runs.map(({ run_id }) => run_id)).toEqual(["R2"]);
    expect(folders()).toEqual([other.folder]);
  });

  it("in one workspace, or by one agent, leaves the gateway as it is: it knows neither", async () => {
    const { ask, own, holdfast, folders } = await served();
    const workspace = { workspace_type: "site", workspace_id: "shop" };
    const inOne = await ask(own.token, `/memories?${new URLSearchParams({ user_id: "1", ...workspace })}`, {
      method: "DELETE",
    });
    expect(inOne.status).toBe(200);
    await holdfast.memories.forgetAll({ user_id: 1, workspace });
    await holdfast.memories.forgetAll({ user_id: 1, agent_id: 1 });
    expect((await ask(own.token, `/job/${own.job}`)).body).toMatchObject(kept);
    expect(folders()).toHaveLength(2);
  });
});
