import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type HookCalls, type HookName, hook } from "../definitions/hook.ts";
import type { ThreadState } from "../state/thread-state.ts";
import { hooksFor, noHooks } from "./hook-set.ts";
import { runHook } from "./run-hook.ts";

const state = { threadId: "t" } as ThreadState;

function watched() {
  const reported: unknown[] = [];
  return { reported, scope: { host: { report: (error: unknown) => reported.push(error) }, state } };
}

/** Hooks of one place, in the order in which they are listed. */
function listed<Name extends HookName>(name: Name, ...executes: readonly HookCalls[Name][]) {
  const made = executes.map((execute, index) => hook({ id: `hook_${index + 1}`, hook: name, execute }));
  return hooksFor(
    { hooks: new Map(made.map((each) => [each.id, each])) },
    { agent: made.map(({ id }) => id), prompt: [] },
  );
}

describe("the order of hooks", () => {
  const ids = ["of_agent", "of_prompt", "before", "after", "elsewhere"];
  const hooks = new Map(
    ids.map((id) => {
      const place = id === "elsewhere" ? "filter_messages" : "after_system_message";
      return [id, hook({ id, hook: place, execute: () => null })];
    }),
  );
  const children = [
    { hook: "after", stage: "after_parent" },
    { hook: "before", stage: "before_parent" },
  ] as const;
  const order = (set: ReturnType<typeof hooksFor>) => set.get("after_system_message")?.map(({ id }) => id);

  it("is the children's that want to be first, the prompt's own, then those of the other children", () => {
    const set = hooksFor({ hooks }, { agent: ["of_agent"], prompt: ["of_prompt", "elsewhere"], children });

    expect(order(set)).toEqual(["before", "of_prompt", "after"]);
    expect(set.get("filter_messages")?.map(({ id }) => id)).toEqual(["elsewhere"]);
  });

  it("has the agent's hooks where the prompt lists none, and each hook once", () => {
    expect(order(hooksFor({ hooks }, { agent: ["of_agent", "after"], prompt: [], children }))).toEqual([
      "before",
      "of_agent",
      "after",
    ]);
  });

  it("refuses a hook that nobody has defined", () => {
    expect(() => hooksFor({ hooks }, { agent: ["gone"], prompt: [] })).toThrow('There is no hook "gone".');
  });
});

describe("a value that goes through hooks", () => {
  it("is handed from one to the next, and kept by those that return nothing", async () => {
    const { reported, scope } = watched();
    const set = listed(
      "after_system_message",
      (_state, text) => `${text} Be brief.`,
      () => null,
      async (_state, text) => `${text} Be kind.`,
    );

    expect(await runHook(set, "after_system_message", scope, "You help.")).toEqual({
      value: "You help. Be brief. Be kind.",
    });
    expect(reported).toEqual([]);
  });

  it("is what it was where there is no hook", async () => {
    expect(await runHook(noHooks, "after_system_message", watched().scope, "You help.")).toEqual({
      value: "You help.",
    });
  });

  it("is the last good one when a hook fails, whatever that had changed in it", async () => {
    const { reported, scope } = watched();
    const messages = [{ role: "user", content: "Hi" }];
    const set = listed(
      "prefilter_llm_history",
      (_state, given) => [...given, { role: "user", content: "And?" }],
      (_state, given) => {
        (given as object[]).pop();
        throw new Error("oops");
      },
      (_state, given) => `${given}` as never,
    );

    const outcome = await runHook(set, "prefilter_llm_history", scope, messages);

    expect(outcome).toEqual({ value: [messages[0], { role: "user", content: "And?" }] });
    expect(messages).toHaveLength(1);
    expect(reported).toEqual([
      expect.objectContaining({
        code: "hook_failed",
        detail: "The hook hook_2 (prefilter_llm_history) failed: oops",
      }),
      expect.objectContaining({ detail: expect.stringContaining("must return a list of maps") }),
    ]);
  });

  it("is the last that a hook is given, behind what it belongs to", async () => {
    const { scope } = watched();
    const told: unknown[] = [];
    const set = listed("before_update_message", (_state, id, updates) => {
      told.push(id);
      return { ...updates, content: "Better" };
    });

    expect(await runHook(set, "before_update_message", scope, "7", { content: "Good" })).toEqual({
      value: { content: "Better" },
    });
    expect(told).toEqual(["7"]);
  });

  it("does not change where hooks only look on", async () => {
    const { scope } = watched();
    const child = { threadId: "child" } as ThreadState;
    const seen: unknown[] = [];
    const set = listed("after_subagent_created", (_state, given) => {
      seen.push(given);
      return "ignored";
    });

    expect(await runHook(set, "after_subagent_created", scope, child)).toEqual({ value: child });
    expect(seen[0]).toBe(child);
  });
});

describe("a result that goes through hooks", () => {
  const call = { id: "c", type: "function", function: { name: "peek", arguments: "{}" } } as const;

  it("is dropped by null, and hooks behind that do not run", async () => {
    const { scope } = watched();
    const later = vi.fn();
    const set = listed(
      "after_tool_call_success",
      () => undefined,
      () => null,
      later,
    );

    expect(await runHook(set, "after_tool_call_success", scope, call, { status: "success" })).toEqual({
      dropped: true,
    });
    expect(later).not.toHaveBeenCalled();
  });

  it("is kept by null where there is nothing to drop any more", async () => {
    const { scope } = watched();
    const set = listed("before_store_tool_result", () => null);

    expect(await runHook(set, "before_store_tool_result", scope, call, { status: "success" })).toEqual({
      value: { status: "success" },
    });
  });
});

describe("a hook that throws", () => {
  const forbids = () => {
    throw Object.assign(new Error("Not today."), { block: true });
  };

  it("keeps the model from being asked when it says so, with its own words", async () => {
    const { reported, scope } = watched();

    expect(await runHook(listed("prefilter_llm_history", forbids), "prefilter_llm_history", scope, [])).toEqual({
      blocked: "Not today.",
    });
    expect(reported).toEqual([]);
  });

  it("blocks nothing anywhere else", async () => {
    const { reported, scope } = watched();

    expect(await runHook(listed("filter_messages", forbids), "filter_messages", scope, [])).toEqual({ value: [] });
    expect(reported).toHaveLength(1);
  });

  it("refuses what it was asked about where its caller wants to know", async () => {
    const { reported, scope } = watched();
    const asked = runHook(
      listed("after_system_message", forbids),
      "after_system_message",
      { ...scope, throws: true },
      "",
    );

    await expect(asked).rejects.toThrow("Not today.");
    expect(reported).toEqual([]);
  });
});

describe("a hook that takes too long", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("is passed over after half a minute", async () => {
    const { reported, scope } = watched();
    const set = listed(
      "after_system_message",
      () => new Promise(() => {}),
      (_state, text) => `${text}!`,
    );
    const running = runHook(set, "after_system_message", scope, "Hi");

    await vi.advanceTimersByTimeAsync(29_999);
    expect(reported).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);

    expect(await running).toEqual({ value: "Hi!" });
    expect(reported).toEqual([expect.objectContaining({ code: "hook_failed" })]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
