// The callbacks that loop.run describes as scripts. Everything they remember is on one tape of plain JSON, so that a
// test can stop a run, put the tape back to where the log ends, and go on.
import { trimmed } from "../../src/contracts/coerce.ts";
import { createMemoryChatRunControl } from "../../src/contracts/conversation/chat-run-control.ts";
import { createHooks } from "../../src/contracts/hooks.ts";
import { isMap, type Json, type JsonMap, type UnknownMap } from "../../src/contracts/json.ts";
import type { ToolCall } from "../../src/contracts/tools/call.ts";
import { chatExecutor } from "../../src/contracts/tools/chat-executor.ts";
import type { ToolExecutor } from "../../src/contracts/tools/execution.ts";
import { createMemoryRuntimeToolStore } from "../../src/contracts/tools/runtime-tool-store.ts";
import type { MediationDecision } from "../../src/loop/decision.ts";
import type { CompletionDecision } from "../../src/loop/next.ts";
import type { RunOptions, TurnRunner } from "../../src/loop/options.ts";
import { runConversation } from "../../src/loop/run-conversation.ts";

type Throwing = { readonly throws?: string; readonly throw_code?: number };
type ToolAnswer = Throwing & { readonly result?: Json };
type ExecutorScript = Readonly<Record<string, ToolAnswer | readonly ToolAnswer[]>>;

export type LoopScript = {
  readonly messages: Json;
  readonly options?: JsonMap;
  readonly turns: readonly JsonMap[];
  readonly provider_adapter?: boolean;
  readonly no_runner?: boolean;
  readonly executor?: ExecutorScript;
  readonly named_executors?: Readonly<Record<string, ExecutorScript>>;
  readonly default_chat_executor?: boolean;
  readonly mediator?: readonly Json[];
  readonly filter_decisions?: readonly Json[];
  readonly audit_filter?: Json;
  readonly completion?: readonly Json[];
  readonly interrupts?: readonly Json[];
  readonly should_continue?: readonly boolean[] | null;
  readonly spin_threshold?: number;
  readonly identical_failure_threshold?: number;
  readonly truncate_bytes?: number;
  readonly summarizer?: readonly Json[];
  readonly diagnostics?: readonly Json[];
  readonly lock?: { readonly token: string | null; readonly release_throws?: boolean };
  readonly persister?: boolean | "throws";
  readonly runtime_store?: boolean;
  readonly streaming?: boolean;
  readonly existing_run?: { readonly run_id: string; readonly session_id: string };
  readonly cancel_on?: { readonly event: string; readonly count: number };
  readonly on_event_throws?: boolean;
};

/** How far each script was played, and what was seen while playing. */
export type Tape = { positions: Record<string, number>; seen: Record<string, unknown[]> };

export type ScriptedRun = {
  readonly turnRunner: TurnRunner | null;
  readonly options: RunOptions;
  /** What a case compares beside the result. */
  seen(): Promise<Record<string, unknown>>;
  readonly tape: () => Tape;
  readonly rewind: (tape: Tape) => void;
};

/** Plays a case from beginning to end. */
export async function runLoop(script: LoopScript) {
  const run = await scriptRun(script);
  const result = await runConversation(script.messages, run.turnRunner, run.options);
  return { result, ...(await run.seen()) };
}

/** The callbacks of a case. */
export async function scriptRun(script: LoopScript): Promise<ScriptedRun> {
  let tape: Tape = { positions: {}, seen: { events: [] } };
  const given = script.options ?? {};
  const hooks = createHooks();
  const runControl = createMemoryChatRunControl({ now: () => new Date(0) });
  const runtimeStore = script.runtime_store ? createMemoryRuntimeToolStore() : undefined;
  if (script.existing_run) await runControl.start(script.existing_run);

  function see(list: string, entry: unknown): void {
    tape.seen[list] = [...(tape.seen[list] ?? []), entry];
  }

  function turnOf(name: string): number {
    const turn = tape.positions[name] ?? 0;
    tape.positions[name] = turn + 1;
    return turn;
  }

  function play<Entry>(name: string, entries: readonly Entry[], after: Entry | undefined): Entry | undefined {
    const turn = turnOf(name);
    const entry = turn < entries.length ? entries[turn] : after;
    if (isMap(entry) && typeof entry.throws === "string") {
      throw Object.assign(new Error(entry.throws), entry.throw_code !== undefined && { code: entry.throw_code });
    }
    return entry;
  }

  function takeTurn(messages: readonly unknown[]): unknown {
    const turn = play("turns", script.turns, script.turns.at(-1)) ?? {};
    if ("returns" in turn) return turn.returns;
    const { append_messages, ...answer } = turn;
    return Array.isArray(append_messages) ? { ...answer, messages: [...messages, ...append_messages] } : turn;
  }

  function executor(answers: ExecutorScript, list: string, target?: string): ToolExecutor {
    return (call: ToolCall) => {
      see(list, target === undefined ? call : { ...call, executor: target });
      const own = answers[call.tool_name] ?? { result: { ok: true } };
      const listed: readonly ToolAnswer[] = Array.isArray(own) ? own : [own as ToolAnswer];
      return play(`${list} ${call.tool_name}`, listed, listed.at(-1))?.result;
    };
  }

  async function cancelWhenDue(event: string): Promise<void> {
    if (event !== script.cancel_on?.event || turnOf("cancel_on") + 1 !== script.cancel_on.count) return;
    await runControl.cancel(String(given.run_id));
  }

  const own = script.executor && executor(script.executor, "executor_calls");
  const { filter_decisions, audit_filter, mediator, completion, interrupts, summarizer, diagnostics } = script;
  if (filter_decisions) hooks.filter("preToolCallDecision", () => play("filter_decisions", filter_decisions, null));
  if (audit_filter !== undefined) hooks.filter("toolAuditParameters", () => audit_filter);

  const options = {
    ...camelOptions(given),
    hooks,
    runControl,
    now: () => 0,
    onEvent: (event: string, payload: JsonMap) => {
      see("events", { event, payload });
      void cancelWhenDue(event);
      if (script.on_event_throws) throw new Error("observer");
    },
    ...(own && { toolExecutor: script.default_chat_executor ? chatExecutor(own) : own }),
    ...(script.named_executors && {
      namedToolExecutors: Object.fromEntries(
        Object.entries(script.named_executors).map(([target, answers]) => [
          target,
          executor(answers, `named ${target}`, target),
        ]),
      ),
    }),
    ...(script.provider_adapter && {
      providerTurnAdapter: (request: UnknownMap) => {
        see("provider_requests", request);
        return takeTurn([]);
      },
    }),
    ...(mediator && {
      preToolMediator: (context) => {
        see("mediator_calls", mediation(context));
        return play("mediator", mediator, null) as MediationDecision;
      },
    }),
    ...(completion && {
      completionPolicy: ({ tool_name, turn, tool_declaration }) => {
        see("completion_calls", { tool_name, turn, has_def: tool_declaration !== null });
        return play("completion", completion, { complete: false, message: "" }) as CompletionDecision;
      },
    }),
    ...(interrupts && { interruptSource: () => play("interrupts", interrupts, null) }),
    ...(summarizer && { summarizer: () => play("summarizer", summarizer, "summary") }),
    ...(diagnostics && { postToolResultDiagnostics: () => play("diagnostics", diagnostics, null) }),
    ...continuation(script, (entries) => play("should_continue", entries, false)),
    ...(script.spin_threshold !== undefined && { spinDetector: { threshold: script.spin_threshold } }),
    ...(script.identical_failure_threshold !== undefined && {
      identicalFailureTracker: { threshold: script.identical_failure_threshold },
    }),
    ...(script.truncate_bytes !== undefined && { toolResultTruncator: { max_bytes: script.truncate_bytes } }),
    ...(script.lock && {
      transcriptLock: {
        acquire: (session: string, ttl: number) => {
          see("lock_calls", ["acquire", session, ttl]);
          return script.lock?.token ?? null;
        },
        release: (session: string, token: string) => {
          see("lock_calls", ["release", session, token]);
          if (script.lock?.release_throws) throw new Error("release");
        },
      },
    }),
    ...(script.persister && {
      transcriptPersister: (messages, _request, { status, completed, schema }) => {
        see("persisted", {
          message_count: messages.length,
          status: status ?? "",
          completed,
          has_schema: schema !== undefined,
        });
        if (script.persister === "throws") throw new Error("persister");
      },
    }),
    ...(runtimeStore && { runtimeToolStore: runtimeStore }),
    ...(script.streaming && { onProviderDelta: () => undefined }),
  } satisfies RunOptions as RunOptions;

  return {
    turnRunner:
      script.no_runner || script.provider_adapter
        ? null
        : (messages, context) => {
            see("turn_calls", { turn: context.turn, message_count: messages.length, context });
            return takeTurn(messages);
          },
    options,
    tape: () => structuredClone(tape),
    rewind: (to) => {
      tape = structuredClone(to);
    },
    async seen() {
      const { seen } = tape;
      const named = Object.keys(script.named_executors ?? {}).map((target) => [target, seen[`named ${target}`] ?? []]);
      return {
        events: seen.events,
        ...pick(seen, ["turn_calls", "provider_requests", "mediator_calls"]),
        ...(own && { executor_calls: seen.executor_calls ?? [] }),
        ...(named.length > 0 && { named_executor_calls: Object.fromEntries(named) }),
        ...(completion && { completion_calls: seen.completion_calls ?? [] }),
        ...(script.persister && { persisted: seen.persisted ?? [] }),
        ...(script.lock && { lock_calls: seen.lock_calls ?? [] }),
        ...(runtimeStore && { stored_requests: await runtimeStore.recentPending({}) }),
        ...(given.run_id !== undefined && { run: await runControl.get(String(given.run_id)) }),
      };
    },
  };
}

function mediation(context: Parameters<NonNullable<RunOptions["preToolMediator"]>>[0]) {
  const { messages, prepared_tool_call, tool_declaration, prior_tool_results, prior_mediated_results } = context;
  return {
    ...pick(context, ["tool_name", "tool_call_id", "turn", "parameters"]),
    prepared: prepared_tool_call !== null,
    has_declaration: tool_declaration !== null,
    message_count: messages.length,
    last_message_type: messages.at(-1)?.type,
    prior_tool_results: prior_tool_results.length,
    prior_mediated_results: prior_mediated_results.length,
  };
}

/** An explicit null is an option that is present and never says yes. */
function continuation(
  { should_continue }: LoopScript,
  play: (entries: readonly boolean[]) => boolean | undefined,
): Pick<RunOptions, "shouldContinue"> {
  if (should_continue === undefined) return {};
  return { shouldContinue: should_continue === null ? null : () => play(should_continue) };
}

/** Vectors write options as the contract does; where it has several names for one, the first that says something counts. */
function camelOptions(options: JsonMap): RunOptions {
  const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const named = Object.fromEntries(Object.entries(options).map(([name, value]) => [camel(name), value]));
  const firstOf = (...names: string[]) =>
    names.map((name) => trimmed(options[name])).find((value) => value !== undefined);
  const sessionId = firstOf("transcript_session_id", "session_id", "transcript_id");
  const runId = firstOf("run_id", "chat_run_id");
  return { ...named, ...(sessionId !== undefined && { sessionId }), ...(runId !== undefined && { runId }) };
}

function pick(from: object, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)));
}
