import { describe, expect, it, vi } from "vitest";
import { createMemoryChatRunControl } from "../contracts/conversation/chat-run-control.ts";
import * as toolPairs from "../contracts/conversation/tool-pairs.ts";
import { createHooks } from "../contracts/hooks.ts";
import type { RunOptions, TurnRunner } from "./options.ts";
import { runConversation } from "./run-conversation.ts";
import { nullTranscriptLock, nullTranscriptPersister } from "./transcript.ts";

const hello = [{ role: "user", content: "hello" }];
const says: TurnRunner = (messages) => ({ messages: [...messages, { role: "assistant", content: "hi" }] });
const toolDeclarations = {
  "ability/save": { name: "ability/save", source: "abilities", description: "Saves." },
};
const callsOnce = (): TurnRunner => {
  const answers = [
    { tool_calls: [{ id: "a", name: "ability/save", parameters: { x: 1 } }] },
    { content: "done", tool_calls: [] },
  ];
  return () => answers.shift();
};

/** A run that goes on for a second turn, and is spoken to after the first. */
const interruptedBy = (given: unknown): RunOptions => ({
  maxTurns: 2,
  shouldContinue: () => true,
  interruptSource: (_request, { turn }) => (turn === 1 ? given : null),
});

describe("runConversation", () => {
  it("returns the transcript, what was said last and that it is complete", async () => {
    expect(await runConversation(hello, says)).toMatchObject({
      schema: "agents-api.conversation-result",
      completed: true,
      turn_count: 1,
      final_content: "hi",
      messages: [{ content: "hello" }, { content: "hi" }],
    });
  });

  it("takes synchronous and asynchronous callbacks alike", async () => {
    const plain = { maxTurns: 2, toolDeclarations, toolExecutor: () => "saved", preToolMediator: () => null };
    const eventual = { ...plain, toolExecutor: async () => "saved", preToolMediator: async () => null };
    const runner = callsOnce();
    const results = [
      await runConversation(hello, callsOnce(), plain),
      await runConversation(hello, async (...given) => runner(...given), eventual),
    ];
    expect(results[1]).toEqual(results[0]);
  });

  it("hands a tool its call, its declaration and the context of the turn, all frozen", async () => {
    const toolExecutor = vi.fn((..._given: unknown[]) => "saved");
    await runConversation(hello, callsOnce(), {
      maxTurns: 2,
      toolDeclarations,
      toolExecutor,
      context: { tenant: "t" },
    });
    const [call, declaration, context] = toolExecutor.mock.lastCall ?? [];
    expect(call).toMatchObject({ id: "a", tool_name: "ability/save", parameters: { x: 1 } });
    expect(declaration).toMatchObject({ name: "ability/save", executor: "host" });
    expect(context).toEqual({ tenant: "t", turn: 1, tool_call_id: "a" });
    for (const given of [call, declaration, context]) expect(Object.isFrozen(given)).toBe(true);
  });

  it("goes on while the model calls tools, and no further than it may", async () => {
    const runner = vi.fn<TurnRunner>(() => ({ tool_calls: [{ name: "ability/save" }] }));
    const options = { toolDeclarations, toolExecutor: () => 1 };
    expect(await runConversation(hello, runner, { ...options, maxTurns: 4 })).toMatchObject({ turn_count: 4 });
    expect(await runConversation(hello, runner, options)).toMatchObject({ turn_count: 1 });
    expect(await runConversation(hello, runner, { ...options, maxTurns: 4, shouldContinue: null })).toMatchObject({
      turn_count: 1,
    });
  });

  it("stops on the wall clock that it is handed", async () => {
    let seconds = 0;
    const now = () => 1_000 * seconds++;
    const options = { maxTurns: 9, toolDeclarations, toolExecutor: () => 1, now };
    const ended = await runConversation(hello, () => ({ tool_calls: [{ name: "ability/save" }] }), {
      ...options,
      budgets: [{ name: "wall_clock_seconds", ceiling: 5 }],
    });
    expect(ended).toMatchObject({ status: "budget_exceeded", budget: "wall_clock_seconds" });
  });

  it.each<[string, TurnRunner | null, RunOptions, string]>([
    ["nobody to ask", null, {}, "invalid_agent_conversation_loop"],
    ["an answer that is no map", () => 7, {}, "invalid_agent_conversation_loop"],
    ["a transcript that is none", () => ({ messages: 7 }), {}, "invalid_agent_conversation_result"],
    ["a bad workspace", says, { workspace: { workspace_type: "" } }, "invalid_agent_workspace_scope"],
    ["an interrupt that is no message", says, interruptedBy({ role: "" }), "invalid_ai_message_envelope"],
    ["a bad output format", says, { structuredOutput: 7 }, "invalid_agent_structured_output_request"],
  ])("throws the code of what breaks the contract: %s", async (_title, runner, options, code) => {
    await expect(runConversation(hello, runner, options)).rejects.toMatchObject({ code });
  });

  it("passes over an interrupt that is neither a list nor a map, and says so", async () => {
    const ignored: unknown[] = [];
    const onEvent = (event: string, payload: unknown) => event === "interrupt_ignored" && ignored.push(payload);
    for (const given of ["stop", 7, true]) {
      expect(await runConversation(hello, says, { ...interruptedBy(given), onEvent })).toMatchObject({ turn_count: 2 });
    }
    expect(ignored).toEqual(Array(3).fill({ reason: "invalid_message", turn: 1 }));
  });

  it("calls a call by the first id that it has, and by its place when that cannot be used", async () => {
    const name = "ability/save";
    const tool_calls = [
      { name, id: 5, tool_call_id: "c" },
      { name, id: " ", tool_call_id: "d" },
      { name, id: null, tool_call_id: " e " },
      { name, id: "f", tool_call_id: "g" },
    ];
    const { tool_execution_results } = await runConversation(hello, () => ({ tool_calls }), {
      toolDeclarations,
      toolExecutor: () => 1,
    });
    expect(tool_execution_results.map((execution) => execution.tool_call_id)).toEqual([
      "tool-call-1-1",
      "tool-call-1-2",
      "e",
      "f",
    ]);
  });

  it("gives each of two calls that the texts of an answer give one id a result of its own", async () => {
    const save = (page: string) => `<tool_call name="ability/save">{"page":"${page}"}</tool_call>`;
    const answers = [{ content: save("a"), message: { role: "assistant", content: save("b") } }, { content: "Done." }];
    const ended = await runConversation(hello, null, {
      maxTurns: 2,
      toolDeclarations,
      toolExecutor: ({ parameters }) => parameters.page,
      providerTurnAdapter: () => answers.shift(),
    });
    const told = ended.messages.filter(({ type }) => type === "tool_result");
    expect(told.map(({ payload, metadata }) => [metadata.tool_call_id, payload.result])).toEqual([
      ["tag-tool-call-1", "a"],
      ["tag-tool-call-1", "b"],
    ]);
    expect(toolPairs.validate(ended.messages)).toEqual([]);
    expect(ended.tool_observability.calls).toMatchObject([{ status: "succeeded" }, { status: "succeeded" }]);
  });

  it("throws for messages before anything else is done", async () => {
    const acquire = vi.fn(() => "token");
    const options = { sessionId: "s", transcriptLock: { acquire, release: () => undefined } };
    await expect(runConversation([{ role: "" }], says, options)).rejects.toMatchObject({
      code: "invalid_ai_message_envelope",
    });
    expect(acquire).not.toHaveBeenCalled();
  });

  it("gives the lock back even when a runner's answer is refused", async () => {
    const release = vi.fn();
    const options = { sessionId: "s", transcriptLock: { acquire: () => "token", release } };
    await expect(runConversation(hello, () => 7, options)).rejects.toMatchObject({
      code: "invalid_agent_conversation_loop",
    });
    expect(release).toHaveBeenCalledExactlyOnceWith("s", "token");
  });

  it("does not run while somebody else holds the transcript", async () => {
    const runner = vi.fn(says);
    const ended = await runConversation(hello, runner, {
      sessionId: "s",
      transcriptLock: { acquire: () => null, release: () => expect.fail("not ours") },
    });
    expect(ended).toMatchObject({ status: "transcript_lock_contention", completed: false, turn_count: 0 });
    expect(runner).not.toHaveBeenCalled();
  });

  it("does not run under a run id that is taken", async () => {
    const runControl = createMemoryChatRunControl({ now: () => new Date(0) });
    await runControl.start({ run_id: "r", session_id: "other" });
    const runner = vi.fn(says);
    const ended = await runConversation(hello, runner, { runControl, runId: "r", sessionId: "s" });
    expect(ended).toMatchObject({
      status: "failed",
      failure: { type: "run_control", code: "agents_chat_run_owner_forbidden" },
    });
    expect(runner).not.toHaveBeenCalled();
  });

  it("runs under ports that do nothing as it does without them", async () => {
    const ports = { transcriptLock: nullTranscriptLock, transcriptPersister: nullTranscriptPersister, sessionId: "s" };
    expect(await runConversation(hello, says, ports)).toEqual(await runConversation(hello, says));
  });

  it("tells the persister the transcript, the request and the very result that is returned", async () => {
    const transcriptPersister = vi.fn((..._given: unknown[]) => undefined);
    const ended = await runConversation(hello, says, { transcriptPersister, metadata: { channel: "web" } });
    expect(transcriptPersister).toHaveBeenCalledTimes(1);
    const [messages, request, result] = transcriptPersister.mock.lastCall ?? [];
    expect(messages).toEqual(ended.messages);
    expect(request).toMatchObject({ metadata: { channel: "web" }, max_turns: 1 });
    expect(result).toBe(ended);
  });

  it("tells observers which declarations it cannot use, and that no tool is left to run", async () => {
    const events: string[] = [];
    await runConversation(hello, says, {
      toolDeclarations: { bad: {} },
      toolExecutor: () => 1,
      onEvent: (event) => events.push(event),
    });
    expect(events.slice(0, 2)).toEqual(["tool_declarations_rejected", "tool_mediation_disabled"]);
  });

  it("leaves the caller's own messages and options as they were", async () => {
    const messages = structuredClone(hello);
    const options = { maxTurns: 2, toolDeclarations: structuredClone(toolDeclarations), context: { a: { b: 1 } } };
    const before = structuredClone({ messages, options });
    await runConversation(messages, callsOnce(), { ...options, toolExecutor: () => 1 });
    expect({ messages, options }).toEqual(before);
    expect(Object.isFrozen(messages[0])).toBe(false);
  });
});

describe("an overflow of the transcript", () => {
  const long = Array.from({ length: 6 }, (_, index) => ({ role: "user", content: `message ${index}` }));
  const overflowing: RunOptions = {
    compactionPolicy: { overflow_archive_enabled: true, overflow_threshold_bytes: 100, overflow_retained_messages: 2 },
    summarizer: () => expect.fail("nothing is summarised"),
  };

  it("is handed over before it leaves the transcript", async () => {
    const overflowArchive = vi.fn();
    const { messages } = await runConversation(long, says, { ...overflowing, overflowArchive });
    const [items, details] = overflowArchive.mock.lastCall ?? [];
    expect(items).toMatchObject(long.slice(0, 4));
    expect(messages.map(({ content }) => content)).toEqual([expect.any(String), "message 4", "message 5", "hi"]);
    expect(messages[0]?.metadata).toMatchObject({ agents_api_compaction_archive: { archive_id: details.archive_id } });
  });

  it("counts as handed over whatever the archive answers", async () => {
    const overflowArchive = vi.fn(() => ({ lastInsertRowid: 1n }));
    const { messages } = await runConversation(long, says, { ...overflowing, overflowArchive });
    expect(messages).toHaveLength(4);
  });

  it("stays in the transcript when nobody could take it", async () => {
    const overflowArchive = () => Promise.reject(new Error("disk full"));
    const { messages, events } = await runConversation(long, says, { ...overflowing, overflowArchive });
    expect(messages).toHaveLength(7);
    expect(events).toMatchObject([{ type: "compaction_failed", metadata: { error: "disk full" } }]);
  });
});

describe("a call that waits", () => {
  const asks =
    (parameters: object): TurnRunner =>
    () => ({ tool_calls: [{ id: "a", name: "ability/save", parameters }] });

  it("shows its secrets to whoever runs the tool and leaves them out of the transcript", async () => {
    const toolExecutor = () => ({ success: false, status: "runtime_tool_pending" });
    const runner = asks({ api_key: "hunter2", page: 1 });
    const ended = await runConversation(hello, runner, { toolDeclarations, toolExecutor });
    expect(ended.runtime_tool_pending).toMatchObject({ parameters: { api_key: "hunter2", page: 1 } });
    expect(JSON.stringify(ended.messages)).not.toContain("hunter2");
    expect(ended.messages.at(-1)?.payload).toMatchObject({
      result: { parameters: { api_key: "[redacted]", page: 1 } },
    });
  });

  it("may ask for approval without the formalities of an envelope", async () => {
    const toolExecutor = () => ({ type: "approval_required", content: "May I?", payload: { action_id: "x" } });
    const ended = await runConversation(hello, asks({}), { toolDeclarations, toolExecutor });
    expect(ended.status).toBe("approval_required");
    expect(ended.messages.at(-1)).toMatchObject({ type: "approval_required", role: "tool", content: "May I?" });
  });
});

it("leaves no run behind as running, whatever becomes of it", async () => {
  const runControl = createMemoryChatRunControl({ now: () => new Date(0) });
  const options = { sessionId: "s", runControl };
  const contended = { acquire: () => null, release: () => undefined };
  await expect(runConversation(hello, () => "no map", { ...options, runId: "broken" })).rejects.toThrow();
  await runConversation(hello, says, { ...options, runId: "contended", transcriptLock: contended });
  const controller = new AbortController();
  const stops = () => Promise.resolve().then(() => controller.abort());
  await runConversation(hello, stops, { ...options, runId: "stopped", signal: controller.signal });
  const statuses = ["broken", "contended", "stopped"].map((runId) => runControl.get(runId));
  expect(await Promise.all(statuses)).toMatchObject([
    { status: "failed" },
    { status: "failed" },
    { status: "interrupted" },
  ]);
});

it("finishes no run that it did not begin", async () => {
  const runControl = createMemoryChatRunControl({ now: () => new Date(0) });
  await runControl.start({ run_id: "taken", session_id: "theirs" });
  const mine = { runId: "taken", runControl };
  await runConversation(hello, says, mine);
  await runConversation(hello, says, { ...mine, sessionId: "mine" });
  await runConversation(hello, says, { ...mine, sessionId: "mine", signal: AbortSignal.abort() });
  expect(await runControl.get("taken")).toMatchObject({ session_id: "theirs", status: "running" });
});

it("reads a list as an answer that lacks everything", async () => {
  await expect(runConversation(hello, () => [])).rejects.toThrow("invalid_agent_conversation_result: messages");
});

it("says which message of a returned transcript is wrong", async () => {
  const runner: TurnRunner = (messages) => ({ messages: [...messages, { role: "" }], tool_calls: [] });
  const run = runConversation(hello, runner, { toolDeclarations, toolExecutor: () => 1 });
  await expect(run).rejects.toThrow("messages[1]");
});

it("lets a timer stop a run whose callbacks all answer at once", async () => {
  const runner: TurnRunner = () => ({ tool_calls: [{ name: "ability/save" }] });
  const options = { toolDeclarations, toolExecutor: () => 1, maxTurns: 1_000_000 };
  const ended = await runConversation(hello, runner, { ...options, signal: AbortSignal.timeout(20) });
  expect(ended.status).toBe("interrupted");
});

it("refuses a signal that is none, before anything has happened", async () => {
  const signal = { aborted: false } as AbortSignal;
  await expect(runConversation(hello, says, { signal })).rejects.toThrow("invalid_agent_conversation_loop: signal");
});

it("asks the host's diagnostics filter even when the callback's own cannot be read", async () => {
  const hooks = createHooks();
  hooks.filter("toolResultDiagnostics", (own) => ({ ...own, by: "host" }));
  const postToolResultDiagnostics = () => ({ took: 1n });
  const options = { maxTurns: 2, toolDeclarations, toolExecutor: () => 1, hooks, postToolResultDiagnostics };
  const { tool_execution_results } = await runConversation(hello, callsOnce(), options);
  expect(tool_execution_results).toMatchObject([{ diagnostics: { by: "host" } }]);
});

it("hears a cancellation that an observer asks for when the gate keeps the run going", async () => {
  const runControl = createMemoryChatRunControl({ now: () => new Date(0) });
  const runner: TurnRunner = () => ({ content: "done", tool_calls: [] });
  const ended = await runConversation(hello, runner, {
    ...{ toolDeclarations, toolExecutor: () => 1, runControl, runId: "r", sessionId: "s" },
    toolCallRules: [{ require_tool_use: true }],
    onEvent: (event) => event === "tool_call_gate_completion_blocked" && runControl.cancel("r"),
  });
  expect(ended.status).toBe("interrupted");
});
