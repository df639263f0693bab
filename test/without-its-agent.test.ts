// Promise: what takes a thread's agent is refused at once where no process can know it, and waits where another one may.
import { expect, it } from "vitest";
import { callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, onPostgres, sqliteWorld, type World } from "./databases.ts";
import { talker } from "./standard-agents/talker.ts";

const pay = tool({ name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });
const clerk = () => agent({ slug: "clerk", model: talker(callsTool("shop/pay"), says("Done.")).model, tools: [pay] });
const other = () => agent({ slug: "other", model: talker(says("Hello.")).model });

/** A thread of a clerk, who waits for an approval, in a process that knows only somebody else. */
async function orphan(world: World) {
  const before = await world.open(clerk());
  const thread = await before.threads.open("t", { agent: "clerk" });
  const { waiting_for } = await thread.send("Pay.");
  await before.close();
  const now = await world.open(other());
  return { now, thread: await now.threads.get(thread.id), requestId: waiting_for?.request_id ?? "" };
}

it("refuses on SQLite what nobody would ever see to, and stores nothing of it", async () => {
  const world = await sqliteWorld();
  const { thread } = await orphan(world);
  const asked = [
    thread.send("Hello?"),
    thread.stop(),
    thread.continue(),
    thread.editMessage(0, "Pay me."),
    thread.deleteMessage(0),
    thread.eraseMessage(0),
    thread.eraseMessages({ all: true }),
  ];

  for (const refused of await Promise.allSettled(asked)) {
    expect(refused).toMatchObject({ status: "rejected", reason: { code: "agent_not_found" } });
  }

  expect(await world.sql("select kind from inbox where drained_at is null")).toEqual([]);
  // What somebody else may run one day can be left, and nobody waits for it in vain.
  await thread.queueMessage("For later.");
  expect(await thread.wait()).toMatchObject({ status: "approval_required" });
});

it("says on SQLite that nobody will go on with a thread, rather than wait for that", async () => {
  const world = await sqliteWorld();
  const { now, thread, requestId } = await orphan(world);
  await now.requests.submit(requestId, { decision: "rejected" });

  await expect(thread.wait()).rejects.toMatchObject({ code: "agent_not_found" });
  expect(await now.threads.diagnose(thread.id)).toMatchObject({ cause: "agent_unknown" });
});

it("terminates a thread on SQLite though nobody knows its agent, and settles its call once somebody does", async () => {
  const world = await sqliteWorld();
  const { now, thread, requestId } = await orphan(world);

  expect((await thread.terminate()).status).toBe("terminated");

  await expect(thread.queueMessage("Hello?")).rejects.toMatchObject({ code: "thread_terminated" });
  await now.close();
  const later = await world.open(clerk());
  const again = await later.threads.get(thread.id);
  expect((await again.terminate()).status).toBe("terminated");
  expect((await later.requests.get(requestId)).status).toBe("cancelled");
  expect((await again.calls()).map(({ phase }) => phase)).not.toContain("waiting");
});

onPostgres((newWorld) => {
  it("waits for another process that knows the agent", async () => {
    const world = await newWorld();
    const { now, thread } = await orphan(world);
    const stopped = thread.stop();
    await world.untilLeft(thread.id, 2);
    expect(await now.threads.diagnose(thread.id)).toMatchObject({ cause: "agent_unknown" });

    await world.open(clerk());

    expect((await stopped).status).toBe("stopped");
  });
});

eachDatabase((newWorld) => {
  it("can be read and deleted whoever knows its agent", async () => {
    const world = await newWorld();
    const { now, thread } = await orphan(world);

    expect((await thread.messages()).length).toBeGreaterThan(0);
    expect((await thread.status()).status).toBe("waiting");
    expect(await now.threads.delete(thread.id)).toEqual([thread.id]);
  });
});
