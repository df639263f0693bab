// Promise: an answer counts once, also when it comes while the thread is looked at for something else: whoever waits is told
// what the thread waits for next.
import { expect, it, onTestFinished } from "vitest";
import { createHoldfast } from "../src/holdfast.ts";
import { callsTool, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { withDriver } from "./changed-driver.ts";
import { onPostgres, secretKey } from "./databases.ts";

onPostgres((newWorld) => {
  it("a thread that waits again after an answer is at rest", async () => {
    const world = await newWorld();
    const pay = tool({ name: "client/pay", description: "Pays.", actionPolicy: "preview" });
    const shop = agent({ slug: "shop", model: scriptedModel([callsTool("client/pay", {})]), tools: [pay] });
    let meanwhile: (() => Promise<unknown>) | undefined;
    const backend = withDriver(world.backend, (real) => ({
      all: async (sql, params) => {
        const act = sql.includes("from requests where id") ? meanwhile : undefined;
        if (act) meanwhile = undefined;
        await act?.();
        return await real.all(sql, params);
      },
    }));
    const runs = await createHoldfast({ backend, agents: [shop], secretKey, pollMs: 60_000, drainsOnSignal: false });
    onTestFinished(() => runs.close());
    const writes = await world.open(shop, { runs: false });
    const thread = await writes.threads.open("t", { agent: "shop" });
    const { waiting_for } = await thread.send("Go.");
    meanwhile = () => writes.requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" });
    await thread.queueMessage("Hello?");
    const asked = async () =>
      (await writes.requests.list({ status: "pending" })).find(({ kind }) => kind === "client_tool");
    while (!(await asked())) await new Promise(setImmediate);

    expect(await thread.wait()).toMatchObject({ status: "runtime_tool_pending" });
  });
});
