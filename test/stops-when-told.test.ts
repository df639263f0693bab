// Promise: an abort stops a run wherever it stands. What is under way is let go, what has not begun never begins, the
// transcript stays one that a provider accepts, and the lock is given back.
import { describe, expect, it } from "vitest";
import { createMemoryChatRunControl } from "../src/contracts/conversation/chat-run-control.ts";
import type { ConversationResult } from "../src/contracts/conversation/result.ts";
import * as toolPairs from "../src/contracts/conversation/tool-pairs.ts";
import { createHooks } from "../src/contracts/hooks.ts";
import type { ToolExecutor } from "../src/contracts/tools/execution.ts";
import { createMemoryPendingActionStore } from "../src/contracts/trust/pending-action-store.ts";
import type { RunOptions, TurnRunner } from "../src/loop/options.ts";
import { runConversation } from "../src/loop/run-conversation.ts";

const hello = [
  { role: "user", content: "hello" },
  { role: "assistant", content: "hi" },
  { role: "user", content: "save it twice" },
];
const declaration = (name: string) => ({ name, source: "abilities", description: "Saves." });
const toolDeclarations = { "ability/save": declaration("ability/save") };
const callsThrice: TurnRunner = () => ({
  content: "saving",
  tool_calls: ["a", "b", "c"].map((id) => ({ id, name: "ability/save", parameters: { id } })),
});

type World = {
  readonly abort: () => void;
  /** Aborts at once and then never settles. */
  readonly hang: () => Promise<never>;
  /** The ids of the calls whose tool was begun. */
  readonly begun: string[];
  readonly locks: string[];
  run(given?: RunOptions & { runner?: TurnRunner }): Promise<ConversationResult>;
};

/** A conversation with a lock and a tool that is called three times, and the hand on its signal. */
function newWorld(): World {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const begun: string[] = [];
  const locks: string[] = [];
  return {
    abort,
    hang: () => {
      queueMicrotask(abort);
      return new Promise(() => undefined);
    },
    begun,
    locks,
    run: ({ runner = callsThrice, toolExecutor = () => "saved", ...given } = {}) =>
      runConversation(hello, runner, {
        maxTurns: 3,
        toolDeclarations,
        toolExecutor: (call, ...rest) => {
          begun.push(String(call.id));
          return toolExecutor(call, ...rest);
        },
        sessionId: "s",
        transcriptLock: {
          acquire: () => {
            locks.push("acquired");
            return "token";
          },
          release: () => locks.push("released"),
        },
        signal: controller.signal,
        ...given,
      }),
  };
}

/** How each call of the transcript ended, by its id. */
function endings({ messages, tool_execution_results }: ConversationResult) {
  expect(toolPairs.validate(messages)).toEqual([]);
  return Object.fromEntries(
    tool_execution_results.map(({ tool_call_id, result }) => {
      const { success, metadata } = result as { success: boolean; metadata: { error_type?: string } };
      return [tool_call_id, success ? "success" : metadata.error_type];
    }),
  );
}

describe("an abort", () => {
  it("before the run lets nothing begin, and leaves lock and run control alone", async () => {
    const world = newWorld();
    world.abort();
    const ended = await world.run({ runner: () => expect.fail("the model was asked") });
    expect(ended).toMatchObject({ status: "interrupted", completed: false, run_outcome: { status: "interrupted" } });
    expect(endings(ended)).toEqual({});
    expect(world.locks).toEqual([]);
  });

  it("while the model is asked lets go of the model", async () => {
    const world = newWorld();
    const ended = await world.run({ runner: world.hang });
    expect(ended).toMatchObject({ status: "interrupted", turn_count: 1, tool_execution_results: [] });
    expect(endings(ended)).toEqual({});
    expect(world.locks).toEqual(["acquired", "released"]);
  });

  it("reaches the model and the tool through the signal they are handed", async () => {
    for (const part of ["runner", "toolExecutor"] as const) {
      const world = newWorld();
      let told = false;
      const listens = (_first: unknown, _second: unknown, ...rest: unknown[]) => {
        const { signal } = rest.at(-1) as { signal: AbortSignal };
        signal.addEventListener("abort", () => {
          told = true;
        });
        return world.hang();
      };
      expect(await world.run({ [part]: listens })).toMatchObject({ status: "interrupted" });
      expect(told).toBe(true);
    }
  });

  it("while a tool runs leaves its outcome unknown, and the calls behind it never run", async () => {
    const world = newWorld();
    const toolExecutor: ToolExecutor = ({ id }) => (id === "b" ? world.hang() : "saved");
    const ended = await world.run({ toolExecutor });
    expect(ended).toMatchObject({ status: "interrupted", completed: false });
    expect(endings(ended)).toEqual({ a: "success", b: "outcome_unknown" });
    expect(world.begun).toEqual(["a", "b"]);
    expect(world.locks).toEqual(["acquired", "released"]);
  });

  it("while a tool runs does not take a late answer for its result", async () => {
    const world = newWorld();
    const toolExecutor = () => {
      world.abort();
      return Promise.resolve("too late");
    };
    expect(endings(await world.run({ toolExecutor }))).toEqual({ a: "outcome_unknown" });
  });

  it("while a tool runs does not mistake its complaint about the abort for its own failure", async () => {
    const world = newWorld();
    const toolExecutor: ToolExecutor = (_call, _declaration, _context, options) => {
      queueMicrotask(world.abort);
      return new Promise((_, reject) => {
        options?.signal?.addEventListener("abort", () => reject(new Error("aborted")));
      });
    };
    expect(endings(await world.run({ toolExecutor }))).toEqual({ a: "outcome_unknown" });
  });

  it("between two calls of a batch keeps the finished one and cancels the next", async () => {
    const world = newWorld();
    const toolExecutor = () => {
      world.abort();
      return "saved";
    };
    const ended = await world.run({ toolExecutor });
    expect(ended).toMatchObject({ status: "interrupted" });
    expect(endings(ended)).toEqual({ a: "success", b: "cancelled" });
    expect(world.begun).toEqual(["a"]);
    expect(world.locks).toEqual(["acquired", "released"]);
  });

  it.each(["preToolMediator", "postToolResultDiagnostics", "completionPolicy"] as const)(
    "inside the callback %s runs nothing more",
    async (callback) => {
      const world = newWorld();
      const ended = await world.run({ [callback]: world.hang });
      expect(ended).toMatchObject({ status: "interrupted" });
      const mediated = callback === "preToolMediator";
      expect(endings(ended)).toEqual({ a: mediated ? "cancelled" : "success" });
      expect(world.begun).toEqual(mediated ? [] : ["a"]);
      expect(world.locks).toEqual(["acquired", "released"]);
    },
  );

  it.each(["toolAuditParameters", "preToolCallDecision", "toolResultDiagnostics"] as const)(
    "inside the filter %s runs nothing more",
    async (name) => {
      const world = newWorld();
      const hooks = createHooks();
      hooks.filter(name, world.hang);
      const ended = await world.run({ hooks });
      expect(ended).toMatchObject({ status: "interrupted" });
      expect(endings(ended)).toEqual(
        { toolAuditParameters: {}, preToolCallDecision: { a: "cancelled" }, toolResultDiagnostics: { a: "success" } }[
          name
        ],
      );
      expect(world.locks).toEqual(["acquired", "released"]);
    },
  );

  it.each(["toolPolicyProviders", "toolAccessChecker"] as const)("inside %s never asks the model", async (option) => {
    const world = newWorld();
    const asked = option === "toolPolicyProviders" ? [world.hang] : world.hang;
    const ended = await world.run({ [option]: asked, runner: () => expect.fail("the model was asked") });
    expect(ended).toMatchObject({ status: "interrupted", turn_count: 1 });
    expect(endings(ended)).toEqual({});
  });

  it("while it is asked how a call may run, or its proposal is stored, runs nothing", async () => {
    const store = createMemoryPendingActionStore({ now: () => new Date(0) });
    for (const options of [
      (hang: () => Promise<never>) => ({ actionPolicyProviders: [hang] }),
      (hang: () => Promise<never>) => ({
        actionPolicyProviders: [() => "preview"],
        pendingActionStore: { ...store, store: hang },
      }),
    ]) {
      const world = newWorld();
      const ended = await world.run(options(world.hang));
      expect(ended).toMatchObject({ status: "interrupted" });
      expect(endings(ended)).toEqual({ a: "cancelled" });
      expect(world.begun).toEqual([]);
    }
  });

  it.each(["shouldContinue", "interruptSource"] as const)("inside %s begins no other turn", async (callback) => {
    const world = newWorld();
    const ended = await world.run({ [callback]: world.hang });
    expect(ended).toMatchObject({ status: "interrupted", turn_count: 1 });
    expect(endings(ended)).toEqual({ a: "success", b: "success", c: "success" });
  });

  it("during compaction leaves the transcript as it was", async () => {
    const world = newWorld();
    const ended = await world.run({
      compactionPolicy: { enabled: true, max_messages: 2, recent_messages: 1 },
      summarizer: world.hang,
      runner: () => expect.fail("the model was asked"),
    });
    expect(ended).toMatchObject({ status: "interrupted" });
    expect(ended.messages.slice(0, 3).map(({ content }) => content)).toEqual(hello.map(({ content }) => content));
    expect(world.locks).toEqual(["acquired", "released"]);
  });

  it("while a request is handed to an external runtime gives the call a result all the same", async () => {
    const world = newWorld();
    const { hang } = world;
    const ended = await world.run({
      toolExecutor: () => ({ success: false, status: "runtime_tool_pending" }),
      runtimeToolStore: { create: hang, get: hang, complete: hang, timeout: hang, recentPending: hang },
    });
    expect(ended).toMatchObject({ status: "interrupted" });
    expect(Object.keys(endings(ended))).toEqual(["a"]);
    expect(world.begun).toEqual(["a"]);
  });

  it("while the lock is waited for lets nothing begin", async () => {
    const world = newWorld();
    const transcriptLock = { acquire: world.hang, release: () => expect.fail("nothing to release") };
    const ended = await world.run({ transcriptLock, runner: () => expect.fail("the model was asked") });
    expect(ended).toMatchObject({ status: "interrupted", completed: false, turn_count: 0 });
    expect(world.begun).toEqual([]);
  });

  it("while the lock is waited for gives it back when it comes after all", async () => {
    const world = newWorld();
    const late = Promise.withResolvers<string>();
    const released = Promise.withResolvers<unknown[]>();
    const transcriptLock = {
      acquire: () => {
        queueMicrotask(world.abort);
        return late.promise;
      },
      release: (...given: unknown[]) => released.resolve(given),
    };
    expect(await world.run({ transcriptLock })).toMatchObject({ status: "interrupted" });
    late.resolve("late token");
    expect(await released.promise).toEqual(["s", "late token"]);
  });

  it("while run control is asked to start lets nothing begin", async () => {
    const world = newWorld();
    const runControl = { ...createMemoryChatRunControl({ now: () => new Date(0) }), start: world.hang };
    expect(await world.run({ runControl, runId: "r" })).toMatchObject({ status: "interrupted", turn_count: 0 });
    expect(world.locks).toEqual([]);
    expect(world.begun).toEqual([]);
  });

  it("is told to run control, to the persister and to observers", async () => {
    const world = newWorld();
    const runControl = createMemoryChatRunControl({ now: () => new Date(0) });
    const events: string[] = [];
    const persisted: unknown[] = [];
    await world.run({
      runControl,
      runId: "r",
      toolExecutor: world.hang,
      onEvent: (event) => events.push(event),
      transcriptPersister: (_messages, _request, { status }) => persisted.push(status),
    });
    expect(await runControl.get("r")).toMatchObject({ status: "interrupted" });
    expect(persisted).toEqual(["interrupted"]);
    expect(events).toEqual(["turn_started", "tool_call", "tool_result", "interrupt_received", "completed"]);
  });

  it("after the run changes nothing", async () => {
    const world = newWorld();
    const ended = await world.run({ runner: () => ({ content: "done", tool_calls: [] }) });
    world.abort();
    expect(ended).toMatchObject({ completed: true, final_content: "done" });
    expect(world.locks).toEqual(["acquired", "released"]);
  });
});
