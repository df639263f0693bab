import { beforeEach, describe, expect, it } from "vitest";
import { commit, directScope, hostInTest, keptScope, openThread } from "../../../test/thread-states.ts";
import { aThread } from "../../backend/contract/a-commit.ts";
import type { Thread } from "../../backend/thread-rows.ts";
import { agent } from "../agent.ts";
import type { Host } from "../host.ts";
import { createThreadState } from "./create-thread-state.ts";

let host: Host;
let parent: Thread;
let child: Thread;

beforeEach(async () => {
  host = await hostInTest({ agents: [agent({ slug: "support" })] });
  parent = await openThread(host, { userId: "ada" });
  child = await openThread(host, { parent: parent.id, arguments: { topic: "cats" } });
});

const direct = (thread: Thread) => createThreadState(host, directScope(host, thread));
const inboxOf = async ({ id }: Thread) =>
  (await host.stores.inbox.waiting(id)).map(({ kind, body }) => ({ kind, ...JSON.parse(body).message }));

describe("the state of a thread", () => {
  it("says whose it is", async () => {
    const state = createThreadState(host, directScope(host, parent, { arguments: () => ({ topic: "dogs" }) }));
    expect(state).toMatchObject({ threadId: parent.id, agentId: "support", userId: "ada", terminated: null });
    expect([state.arguments, state.execution, state.createdAt]).toEqual([{ topic: "dogs" }, null, parent.created_at]);
  });

  it("loads definitions by name", () => {
    const state = direct(parent);
    expect(state.getAgentNames()).toEqual(["support"]);
    expect(state.loadAgent("support")).toBe(host.registry.agents.get("support"));
    expect(() => state.loadPrompt("x")).toThrow('definition_not_found: There is no prompt "x" (there is: none).');
  });

  it("asks of the run what only the run can do, and says so where there is none", () => {
    const scope = keptScope(host, parent);
    const state = createThreadState(host, scope);
    state.stopSession({ result: "Enough.", status: "failure" });
    state.runAgent("support");
    expect(scope.buffer.control).toEqual({
      ...{ session: { status: "failure", result: "Enough.", notifies: true }, handoff: "support" },
    });
    expect(() => state.runAgent("nobody")).toThrow(/^definition_not_found: /);
    expect(() => direct(parent).stopSession()).toThrow(/^no_run: /);
  });

  it("emits what JSON can carry", () => {
    const scope = keptScope(host, parent);
    const state = createThreadState(host, scope);
    state.emit("progress", { percent: 50 });
    state.emit("done");
    expect(scope.buffer.events).toEqual([
      { event: "progress", data: { percent: 50 } },
      { event: "done", data: null },
    ]);
    expect(() => state.emit("", 1)).toThrow(/^invalid_argument: /);
  });
});

describe("children and parents", () => {
  it("are found by those they belong to, and by nobody else", async () => {
    const stranger = await openThread(host);
    expect((await direct(parent).getChildThread(child.id))?.arguments).toEqual({ topic: "cats" });
    expect(await direct(stranger).getChildThread(child.id)).toBeNull();
    expect(await direct(parent).getChildThread(parent.id)).toBeNull();
    expect(await direct(parent).getChildThread("nobody")).toBeNull();
    expect((await direct(child).getParentThread())?.threadId).toBe(parent.id);
    expect(await direct(parent).getParentThread()).toBeNull();
  });

  it("lead back to the state that one came from", async () => {
    const state = direct(parent);
    const other = await state.getChildThread(child.id);
    expect(await other?.getParentThread()).toBe(state);
    expect(await state.getChildThread(child.id)).toBe(other);
  });

  it("are listed with what their registry knows of them", async () => {
    expect(await direct(parent).children()).toEqual([
      {
        ...{ reference: child.id, name: "support", relationship: "helper", owner: "a", title: "Helper" },
        ...{ description: "Helps.", blocking: false, resumable: true, receives_messages: "side_a" },
        ...{ parentCommunication: "implicit", threadName: "first", initialArguments: { topic: "cats" } },
        ...{ spawnGroupId: null, createdAt: child.created_at, status: "running" },
      },
    ]);
  });

  it("hear of one another in the commit of whoever speaks", async () => {
    const scope = keptScope(host, parent);
    const state = createThreadState(host, scope);
    const other = await state.getChildThread(child.id);
    const { id } = (await other?.queueMessage("Hello, child.")) ?? {};
    await other?.setValue("told", true);
    expect(await other?.getMessage(id ?? "")).toMatchObject({ content: "Hello, child.", status: "pending" });
    expect(scope.buffer.writes).toMatchObject([
      { write: "entry", thread_id: child.id, entry: { kind: "message" } },
      { write: "value", thread_id: child.id, key: "told" },
    ]);
    expect([scope.buffer.entries, await inboxOf(child)]).toEqual([[], []]);
    await commit(host, parent.id, scope.buffer);
    expect(await inboxOf(child)).toMatchObject([{ kind: "message", content: "Hello, child." }]);
    expect(await direct(child).getValue("told")).toBe(true);
  });

  it("hear of one another at once outside of a run", async () => {
    await (await direct(child).getParentThread())?.queueMessage("Hello, parent.");
    expect(await inboxOf(parent)).toMatchObject([{ content: "Hello, parent." }]);
    expect([...(host.news ?? [])]).toEqual([parent.id]);
  });

  it("have no say in each other's runs", async () => {
    const other = await createThreadState(host, keptScope(host, parent)).getChildThread(child.id);
    expect(() => other?.stopSession()).toThrow(/^no_run: /);
  });

  it("are known before they are stored, within the call that creates them", async () => {
    const scope = keptScope(host, parent);
    const state = createThreadState(host, scope);
    const { id } = aThread();
    const sealed = host.sealing.seal('{"topic":"dogs"}', id);
    const thread = aThread({
      id,
      parent_id: parent.id,
      child: child.child,
      child_status: "running",
      arguments: sealed,
    });
    await scope.buffer.write({ write: "thread", thread });
    const created = await state.getChildThread(id);
    await created?.queueMessage("Welcome.");
    await created?.writeFile("/hello.txt", "hello");
    expect(created?.arguments).toEqual({ topic: "dogs" });
    expect((await state.children()).map(({ reference }) => reference)).toEqual([child.id, id]);
    await commit(host, parent.id, scope.buffer);
    expect((await host.stores.inbox.waiting(id)).map(({ kind }) => kind)).toEqual(["message"]);
  });
});

describe("a child", () => {
  it("tells its parent something, silently and in its own name", async () => {
    await direct(child).notifyParent("Half of it is done.");
    expect(await inboxOf(parent)).toMatchObject([
      { role: "user", content: "Half of it is done.", metadata: { silent: true, subagent_id: child.id } },
    ]);
    await expect(direct(child).notifyParent("  ")).rejects.toThrow(/^invalid_argument: /);
    await direct(parent).notifyParent("Is anybody there?");
    expect(await inboxOf(parent)).toHaveLength(1);
  });

  it("of the other side speaks to that side", async () => {
    const ofB = await openThread(host, { parent: parent.id, child: { side: "b" } });
    await direct(ofB).notifyParent("Done.");
    expect(await inboxOf(parent)).toMatchObject([{ role: "assistant" }]);
  });

  it("says how it stands", async () => {
    const scope = keptScope(host, child);
    const state = createThreadState(host, scope);
    await state.setStatus("half done");
    const seenByParent = async () => (await direct(parent).children()).map(({ status }) => status);
    expect(await (await state.getParentThread())?.children()).toMatchObject([{ status: "half done" }]);
    expect(await seenByParent()).toEqual(["running"]);
    await commit(host, child.id, scope.buffer);
    expect(await seenByParent()).toEqual(["half done"]);
    await expect(state.setStatus("")).rejects.toThrow(/^invalid_argument: /);
  });
});

describe("a thread that is terminated through its state", () => {
  it("takes its children along, at once outside of a run", async () => {
    const state = direct(parent);
    await state.terminate();
    await state.terminate();
    const stored = await host.stores.threads.get(parent.id);
    expect(state.terminated).toBe(stored?.terminated_at);
    expect((await host.stores.threads.get(child.id))?.status).toBe("terminated");
    expect(new Set(host.news)).toEqual(new Set([parent.id, child.id]));
    await expect(state.queueMessage("Hello?")).rejects.toThrow(/^thread_terminated: /);
    await expect(state.setValue("a", 1)).rejects.toThrow(/^thread_terminated: /);
    expect(await direct(parent).getValue("a")).toBeUndefined();
  });

  it("refuses work from then on within the same call, and ends with its commit", async () => {
    const scope = keptScope(host, parent);
    const state = createThreadState(host, scope);
    const other = await state.getChildThread(child.id);
    await other?.terminate();
    await expect(other?.queueMessage("Hello?")).rejects.toThrow(/^thread_terminated: /);
    expect(await state.children()).toMatchObject([{ status: "terminated" }]);
    expect((await host.stores.threads.get(child.id))?.terminated_at).toBeNull();
    await state.queueMessage("I am still here.");
    await commit(host, parent.id, scope.buffer);
    expect((await host.stores.threads.get(child.id))?.status).toBe("terminated");
  });
});

it("a thread that is gone is not written to", async () => {
  const state = direct({ ...parent, id: "nobody" });
  await expect(state.queueMessage("Hello?")).rejects.toThrow(/^thread_not_found: /);
  await expect(state.setValue("a", 1)).rejects.toThrow(/^thread_not_found: /);
});
