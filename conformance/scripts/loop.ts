// The callbacks that loop.run describes as scripts.
import { trimmed } from "../../src/contracts/coerce.ts";
import { createMemoryChatRunControl } from "../../src/contracts/conversation/chat-run-control.ts";
import { createHooks, type Hooks } from "../../src/contracts/hooks.ts";
import type { Json, JsonMap, UnknownMap } from "../../src/contracts/json.ts";
import type { ToolCall } from "../../src/contracts/tools/call.ts";
import { chatExecutor } from "../../src/contracts/tools/chat-executor.ts";
import type { ToolExecutor } from "../../src/contracts/tools/execution.ts";
import { createMemoryRuntimeToolStore } from "../../src/contracts/tools/runtime-tool-store.ts";
import type { PendingAction } from "../../src/contracts/trust/pending-action.ts";
import { createMemoryPendingActionStore } from "../../src/contracts/trust/pending-action-store.ts";
import type { MediationDecision } from "../../src/loop/decision.ts";
import type { CompletionContext, CompletionDecision, MediationContext } from "../../src/loop/next.ts";
import type { RunOptions, TurnRunner } from "../../src/loop/options.ts";
import { runConversation } from "../../src/loop/run-conversation.ts";
import { createPlayer, type Player, type Tape } from "./tape.ts";

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
  /** Not in the vectors: what a policy provider says in each turn, and another about each call. */
  readonly policy_fragments?: readonly Json[];
  readonly action_policies?: readonly Json[];
  readonly pending_store?: boolean | "throws";
  /** A run that parks where others end, and what is brought to it each time. */
  readonly brought?: readonly Json[];
};

export type ScriptedRun = {
  readonly turnRunner: TurnRunner | null;
  readonly options: RunOptions;
  /** What a case compares beside the result. */
  seen(): Promise<Record<string, unknown>>;
  readonly play: Player["play"];
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
  const player = createPlayer();
  const given = script.options ?? {};
  const runControl = createMemoryChatRunControl({ now: () => new Date(0) });
  const runtimeToolStore = script.runtime_store ? createMemoryRuntimeToolStore() : undefined;
  if (script.existing_run) await runControl.start(script.existing_run);
  const options: RunOptions = {
    ...camelOptions(given),
    runControl,
    now: () => 0,
    newId: () => "key",
    hooks: hooksOf(script, player),
    onEvent: observer(script, player, () => runControl.cancel(String(given.run_id))),
    ...executors(script, player),
    ...models(script, player),
    ...policies(script, player),
    ...callbacks(script, player),
    ...guards(script),
    ...ports(script, player),
    ...(runtimeToolStore && { runtimeToolStore }),
  };
  return {
    turnRunner: script.no_runner || script.provider_adapter ? null : turnRunner(script, player),
    options,
    play: player.play,
    tape: player.tape,
    rewind: player.rewind,
    async seen() {
      return {
        ...seenOf(script, player.tape()),
        ...(runtimeToolStore && { stored_requests: await runtimeToolStore.recentPending({}) }),
        ...(given.run_id !== undefined && { run: await runControl.get(String(given.run_id)) }),
      };
    },
  };
}

function seenOf(script: LoopScript, { seen }: Tape): Record<string, unknown> {
  const named = Object.keys(script.named_executors ?? {}).map((target) => [target, seen[`named ${target}`] ?? []]);
  return {
    events: seen.events,
    ...pick(seen, ["turn_calls", "provider_requests", "mediator_calls"]),
    ...(script.executor && { executor_calls: seen.executor_calls ?? [] }),
    ...(named.length > 0 && { named_executor_calls: Object.fromEntries(named) }),
    ...(script.completion && { completion_calls: seen.completion_calls ?? [] }),
    ...(script.persister && { persisted: seen.persisted ?? [] }),
    ...(script.lock && { lock_calls: seen.lock_calls ?? [] }),
  };
}

function turnRunner(script: LoopScript, player: Player): TurnRunner {
  return (messages, context, { tools }) => {
    player.see("turn_calls", { turn: context.turn, message_count: messages.length, context });
    player.see("shown_tools", Object.keys(tools));
    return takeTurn(script, player, messages);
  };
}

function takeTurn({ turns }: LoopScript, { play }: Player, messages: readonly unknown[]): unknown {
  const turn = play("turns", turns, turns.at(-1)) ?? {};
  if ("returns" in turn) return turn.returns;
  const { append_messages, ...answer } = turn;
  return Array.isArray(append_messages) ? { ...answer, messages: [...messages, ...append_messages] } : turn;
}

function models(script: LoopScript, player: Player): RunOptions {
  return {
    ...(script.provider_adapter && {
      providerTurnAdapter: (request: UnknownMap) => {
        player.see("provider_requests", request);
        return takeTurn(script, player, []);
      },
    }),
    ...(script.streaming && { onProviderDelta: () => undefined }),
  };
}

function executors(
  { executor: answers, named_executors, default_chat_executor }: LoopScript,
  player: Player,
): RunOptions {
  const own = answers && executor(answers, "executor_calls", player);
  return {
    ...(own && { toolExecutor: default_chat_executor ? chatExecutor(own) : own }),
    ...(named_executors && {
      namedToolExecutors: Object.fromEntries(
        Object.entries(named_executors).map(([target, scripted]) => [
          target,
          executor(scripted, `named ${target}`, player, target),
        ]),
      ),
    }),
  };
}

function executor(answers: ExecutorScript, list: string, { see, play }: Player, target?: string): ToolExecutor {
  return (call: ToolCall) => {
    see(list, target === undefined ? call : { ...call, executor: target });
    const own = answers[call.tool_name] ?? { result: { ok: true } };
    const listed: readonly ToolAnswer[] = Array.isArray(own) ? own : [own as ToolAnswer];
    return play(`${list} ${call.tool_name}`, listed, listed.at(-1))?.result;
  };
}

function hooksOf({ filter_decisions, audit_filter }: LoopScript, { play }: Player): Hooks {
  const hooks = createHooks();
  if (filter_decisions) hooks.filter("preToolCallDecision", () => play("filter_decisions", filter_decisions, null));
  if (audit_filter !== undefined) hooks.filter("toolAuditParameters", () => audit_filter);
  return hooks;
}

function observer({ cancel_on, on_event_throws }: LoopScript, { see, count }: Player, cancel: () => unknown) {
  return (event: string, payload: JsonMap) => {
    see("events", { event, payload });
    if (event === cancel_on?.event && count("cancel_on") + 1 === cancel_on.count) void cancel();
    if (on_event_throws) throw new Error("observer");
  };
}

function policies({ policy_fragments, action_policies, pending_store }: LoopScript, { see, play }: Player): RunOptions {
  const pendingActionStore = {
    ...createMemoryPendingActionStore({ now: () => new Date(0) }),
    store: (action: PendingAction) => {
      see("pending_actions", action);
      if (pending_store === "throws") throw new Error("store");
      return true;
    },
  };
  return {
    ...(policy_fragments && { toolPolicyProviders: [() => play("policy_fragments", policy_fragments, null)] }),
    ...(action_policies && { actionPolicyProviders: [() => play("action_policies", action_policies, null)] }),
    ...(pending_store && { pendingActionStore }),
  };
}

function callbacks(script: LoopScript, { see, play }: Player): RunOptions {
  const { mediator, completion, interrupts, summarizer, diagnostics, should_continue } = script;
  return {
    ...(mediator && {
      preToolMediator: (context: MediationContext) => {
        see("mediator_calls", mediation(context));
        return play("mediator", mediator, null) as MediationDecision;
      },
    }),
    ...(completion && {
      completionPolicy: ({ tool_name, turn, tool_declaration }: CompletionContext) => {
        see("completion_calls", { tool_name, turn, has_def: tool_declaration !== null });
        return play("completion", completion, { complete: false, message: "" }) as CompletionDecision;
      },
    }),
    ...(interrupts && { interruptSource: () => play("interrupts", interrupts, null) }),
    ...(summarizer && { summarizer: () => play("summarizer", summarizer, "summary") }),
    ...(diagnostics && { postToolResultDiagnostics: () => play("diagnostics", diagnostics, null) }),
    // An explicit null is an option that is present and never says yes.
    ...(should_continue !== undefined && {
      shouldContinue: should_continue && (() => play("should_continue", should_continue, false)),
    }),
  };
}

function guards({ spin_threshold, identical_failure_threshold, truncate_bytes }: LoopScript): RunOptions {
  return {
    ...(spin_threshold !== undefined && { spinDetector: { threshold: spin_threshold } }),
    ...(identical_failure_threshold !== undefined && {
      identicalFailureTracker: { threshold: identical_failure_threshold },
    }),
    ...(truncate_bytes !== undefined && { toolResultTruncator: { max_bytes: truncate_bytes } }),
  };
}

function ports({ lock, persister }: LoopScript, { see }: Player): RunOptions {
  return {
    ...(lock && {
      transcriptLock: {
        acquire: (session: string, ttl: number) => {
          see("lock_calls", ["acquire", session, ttl]);
          return lock.token;
        },
        release: (session: string, token: string) => {
          see("lock_calls", ["release", session, token]);
          if (lock.release_throws) throw new Error("release");
        },
      },
    }),
    ...(persister && {
      transcriptPersister: (messages: readonly unknown[], _request: unknown, result: UnknownMap) => {
        const { status, completed, schema } = result;
        const has_schema = schema !== undefined;
        see("persisted", { message_count: messages.length, status: status ?? "", completed, has_schema });
        if (persister === "throws") throw new Error("persister");
      },
    }),
  };
}

function mediation(context: MediationContext) {
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
