// Promise: whatever a caller passes in is taken or refused with a code and a hint, at once. Nothing that was passed in
// ever keeps a thread from going on.
import { expect, it } from "vitest";
import { HoldfastError } from "../src/contracts/error.ts";
import type { Holdfast } from "../src/holdfast.ts";
import { says } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";

const cycle: Record<string, unknown> = {};
cycle.content = cycle;

/** What nobody should pass, and somebody will. */
const odd: readonly unknown[] = [
  null,
  Number.NaN,
  -1,
  1.5,
  true,
  "",
  " ",
  [],
  {},
  { content: null },
  { content: 5 },
  { role: 5, content: "x" },
  { content: "x", metadata: 5 },
  { type: "tool_call", content: "x" },
  cycle,
  Symbol("odd"),
  () => 1,
  5n,
  "half \ud800",
  "nul \0 in it",
  "x".repeat(100_000),
];

type Wrongly = (passed: never, thread: ThreadHandle, holdfast: Holdfast) => Promise<unknown>;

const methods: Readonly<Record<string, Wrongly>> = {
  send: (passed, thread) => thread.send(passed),
  "send under a key": (passed, thread) => thread.send("x", { key: passed }),
  queueMessage: (passed, thread) => thread.queueMessage(passed),
  "queueTool by name": (passed, thread) => thread.queueTool(passed),
  "queueTool with parameters": (passed, thread) => thread.queueTool("shop/note", passed),
  "stop for a reason": (passed, thread) => thread.stop({ reason: passed }),
  "stop under a key": (passed, thread) => thread.stop({ key: passed }),
  continue: (passed, thread) => thread.continue({ key: passed }),
  editMessage: (passed, thread) => thread.editMessage(0, passed),
  "editMessage of a number": (passed, thread) => thread.editMessage(passed, "y"),
  deleteMessage: (passed, thread) => thread.deleteMessage(passed),
  fork: (passed, thread) => thread.fork(passed),
  "fork at": (passed, thread) => thread.fork(crypto.randomUUID(), { at: passed }),
  cancelQueued: (passed, thread) => thread.cancelQueued(passed),
  "threads.open": (passed, _thread, { threads }) => threads.open(passed, { agent: "clerk" }),
  "threads.open of an agent": (passed, _thread, { threads }) => threads.open("x", { agent: passed }),
  "threads.get": (passed, _thread, { threads }) => threads.get(passed),
  "threads.list": (passed, _thread, { threads }) => threads.list({ limit: passed }),
  "threads.list after": (passed, _thread, { threads }) => threads.list({ after: passed }),
  "threads.retry": (passed, _thread, { threads }) => threads.retry(passed),
  "requests.get": (passed, _thread, { requests }) => requests.get(passed),
  "requests.open": (passed, _thread, { requests }) => requests.open(passed),
  "requests.list": (passed, _thread, { requests }) => requests.list({ limit: passed }),
  "requests.list of a thread": (passed, _thread, { requests }) => requests.list({ thread: passed }),
  "requests.submit": (passed, _thread, { requests }) => requests.submit(passed, { decision: "accepted" }),
  "calls.unknown": (passed, _thread, { calls }) => calls.unknown({ limit: passed }),
  "calls.settle": (passed, { id }, { calls }) => calls.settle({ thread_id: id, run: passed, number: passed }, 1),
  "calls.settle of a thread": (passed, _thread, { calls }) => calls.settle({ thread_id: passed, run: 1, number: 0 }, 1),
};

eachDatabase((newWorld) => {
  it("holds for every method", async () => {
    const world = await newWorld();
    const note = tool({ name: "shop/note", description: "Notes.", execute: (input) => input });
    const holdfast = await world.open(agent({ slug: "clerk", model: () => says("Hi."), tools: [note] }));

    for (const [name, call] of Object.entries(methods)) {
      const thread = await holdfast.threads.open(name, { agent: "clerk" });
      await thread.send("Hello.");
      for (const passed of odd) {
        const thrown = await call(passed as never, thread, holdfast).then(
          () => undefined,
          (error: unknown) => error,
        );
        if (thrown !== undefined) expect(thrown, name).toBeInstanceOf(HoldfastError);
      }
      expect(await thread.send("Still there?"), name).toMatchObject({ status: "completed" });
    }
  });
});
