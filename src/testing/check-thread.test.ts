import { expect, it, onTestFinished } from "vitest";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import type { Message } from "../contracts/conversation/message.ts";
import { createHoldfast } from "../holdfast.ts";
import { callsTool, says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import type { ThreadExport } from "../threads/export.ts";
import { type Tool, tool } from "../threads/tool.ts";
import { checkThread } from "./check-thread.ts";

const add = tool({ name: "sum/add", description: "Adds.", execute: () => 3 });
const ring = tool({ name: "client/ring", description: "Rings." });

/** A thread after two runs, the first of which has called the tool. */
async function playedThread(own: Tool = add) {
  const holdfast = await createHoldfast({
    backend: sqlite(":memory:"),
    agents: [agent({ slug: "a", model: scriptedModel([callsTool(own.name), says("3."), says("Bye.")]), tools: [own] })],
  });
  onTestFinished(() => holdfast.close());
  const thread = await holdfast.threads.open("t", { agent: "a" });
  await thread.send("1 + 2?");
  if (own === add) await thread.send("Thank you.");
  return { exported: await thread.export(), messages: await thread.messages() };
}

it("finds nothing in a thread that is as it should be", async () => {
  const { exported, messages } = await playedThread();
  expect(messages.map(({ message }) => message.type)).toEqual([
    "text",
    "tool_call",
    "tool_result",
    "text",
    "text",
    "text",
  ]);
  expect(checkThread(exported, messages)).toEqual([]);
});

it("finds nothing in a thread that waits for somebody", async () => {
  const { exported, messages } = await playedThread(ring);
  expect(exported.thread.status).toBe("waiting");
  expect(checkThread(exported, messages)).toEqual([]);
});

const changes: Readonly<Record<string, { sentence: string; change(exported: ThreadExport): ThreadExport }>> = {
  "an event that is not what was written": {
    sentence: "the chain of its log breaks at event 1",
    change: (exported) => ({
      ...exported,
      events: exported.events.map((event) => (event.seq === 1 ? { ...event, hash: "another" } : event)),
    }),
  },
  "a thread that got stuck": {
    sentence: "it is stuck",
    change: (exported) => ({ ...exported, thread: { ...exported.thread, status: "stuck" } }),
  },
  "a run that is not there": {
    sentence: "there are runs 1, and it counts 2",
    change: (exported) => ({ ...exported, runs: exported.runs.slice(0, 1) }),
  },
  "a run without an outcome": {
    sentence: "run 2 has no outcome",
    change: (exported) => ({
      ...exported,
      runs: exported.runs.map((run) => (run.run === 2 ? { ...run, outcome: null } : run)),
    }),
  },
  "a run that has not ended": {
    sentence: "run 2 began 1 times and ended 0 times",
    change: ({ events, ...exported }) => ({
      ...exported,
      thread: { ...exported.thread, next_seq: exported.thread.next_seq - 1 },
      events: events.slice(0, -1),
    }),
  },
  "a call that has begun and nothing more": {
    sentence: "call 0 of sum/add is begun",
    change: (exported) => ({ ...exported, calls: exported.calls.map((call) => ({ ...call, phase: "begun" })) }),
  },
  "two calls under one key": {
    sentence: "two calls share a key",
    change: (exported) => ({ ...exported, calls: [...exported.calls, ...exported.calls] }),
  },
};

it.each(Object.keys(changes))("finds %s", async (name) => {
  const { exported, messages } = await playedThread();
  const { sentence, change } = changes[name] ?? expect.fail();
  expect(checkThread(change(exported), messages)).toEqual([sentence]);
});

it("finds a request that nobody settled", async () => {
  const { exported, messages } = await playedThread(ring);
  const requests = [...exported.requests, ...exported.requests];
  expect(checkThread({ ...exported, requests }, messages)).toEqual(["2 requests are not settled"]);
});

it("finds calls without a result, results without a call, and words in between", async () => {
  const { exported, messages } = await playedThread();
  const without = (type: Message["type"]) => messages.filter(({ message }) => message.type !== type);
  expect(checkThread(exported, without("tool_call"))).toEqual(["message 2 answers no open call"]);
  expect(checkThread(exported, without("tool_result"))).toEqual([
    "message 3 of step 2 comes while 1 calls have no result",
    "message 4 of step 2 comes while 1 calls have no result",
    "message 5 of step 3 comes while 1 calls have no result",
    "1 calls have no result",
  ]);
});

it("looks into what prompts have said that were used as tools", async () => {
  const { exported, messages } = await playedThread();
  const [, call, result] = exported.messages;
  if (!call || !result) expect.fail();
  const deeper = (row: typeof call, seq: number) => ({ ...row, seq, depth: 1, parent_seq: 1 });
  // Not what was written, which the chain of the log shows as well.
  const check = (...more: readonly (typeof call)[]) => {
    const found = checkThread({ ...exported, messages: [...exported.messages, ...more] }, messages);
    return found.filter((sentence) => !sentence.includes("chain"));
  };
  expect(check(deeper(call, 100), deeper(result, 101))).toEqual([]);
  expect(check(deeper(call, 100))).toEqual(["1 calls have no result"]);
});

it("finds nothing in a child that waits for its variables", async () => {
  const { exported, messages } = await playedThread(ring);
  const [request] = exported.requests;
  if (!request) expect.fail();
  const requests = [request, { ...request, kind: "variables" as const }];
  expect(checkThread({ ...exported, requests }, messages)).toEqual([]);
});
