// The in-memory driver: runs the machine to its end without a store and returns the versioned result. Lock, persister
// and run control are its own affair; the machine knows nothing of them.
import * as message from "../contracts/conversation/message.ts";
import type { ConversationResult } from "../contracts/conversation/result.ts";
import * as conversationResult from "../contracts/conversation/result.ts";
import { runControlStatus } from "../contracts/conversation/run-outcome.ts";
import * as usage from "../contracts/conversation/usage.ts";
import { type HoldfastError, holdfastError } from "../contracts/error.ts";
import { type JsonMap, seal, type UnknownMap } from "../contracts/json.ts";
import { isOperationError, type OperationError } from "../contracts/operation-error.ts";
import { advance } from "./advance.ts";
import { assembleResult } from "./assemble-result.ts";
import { attempt } from "./attempt.ts";
import { callbacks } from "./callbacks.ts";
import { type ConfiguredRun, configure } from "./configure.ts";
import type { Arrived, Next } from "./next.ts";
import { observe, type Tell } from "./observe.ts";
import type { RunOptions, TurnRunner } from "./options.ts";
import { initialState, type State } from "./state.ts";
import { startWorking, type Working } from "./working.ts";

const DEFAULT_LOCK_SECONDS = 300;

/**
 * Runs a conversation until it is complete or something stops it. What goes wrong in the provider, in tools or in
 * observers is told by the result; only messages, options or a runner answer that break the contract throw.
 */
export async function runConversation(
  messages: unknown,
  turnRunner: TurnRunner | null,
  options: RunOptions = {},
): Promise<ConversationResult> {
  const run = configure(messages, options);
  const tell = observe(options);
  reportDeclarations(run, options, tell);
  const refused = await startRun(run, options);
  if (refused) return runRefused(run, refused, tell);
  if (typeof options.providerTurnAdapter !== "function" && typeof turnRunner !== "function") throw noRunner();
  return withLock(run, options, tell, () => converse(run, turnRunner, options, tell));
}

function reportDeclarations({ config, rejected }: ConfiguredRun, options: RunOptions, tell: Tell): void {
  const rejected_count = rejected.length;
  if (rejected_count === 0) return;
  const accepted_count = Object.keys(config.tools).length;
  tell("tool_declarations_rejected", seal({ rejected, rejected_count, accepted_count }));
  if (accepted_count > 0 || typeof options.toolExecutor !== "function") return;
  tell("tool_mediation_disabled", seal({ reason: "all_declarations_rejected", rejected, rejected_count }));
}

async function startRun({ runId, sessionId }: ConfiguredRun, { runControl, signal }: RunOptions) {
  if (!runControl || runId === "" || sessionId === "") return undefined;
  const metadata = { source: "conversation_loop" };
  const started = await arrival(() => runControl.start({ run_id: runId, session_id: sessionId, metadata }), signal);
  return isOperationError(started) ? started : undefined;
}

function runRefused({ messages }: ConfiguredRun, { code, message: words }: OperationError, tell: Tell) {
  tell("failed", seal({ error: words }));
  return conversationResult.normalize({
    messages,
    status: "failed",
    completed: false,
    turn_count: 0,
    final_content: conversationResult.finalContent(messages),
    events: [],
    failure: { type: "run_control", message: words, code, turn_count: 0 },
  });
}

function noRunner(): HoldfastError {
  return holdfastError("invalid_agent_conversation_loop", "Pass a turn runner or a provider turn adapter.");
}

/** Holds the transcript while the conversation runs. Without a lock or a session there is nothing to hold. */
async function withLock(
  run: ConfiguredRun,
  { transcriptLock, transcriptLockTtl, signal }: RunOptions,
  tell: Tell,
  converse: () => Promise<ConversationResult>,
): Promise<ConversationResult> {
  const { sessionId } = run;
  if (!transcriptLock || sessionId === "") return converse();
  const ttl = Math.max(1, Math.trunc(transcriptLockTtl ?? DEFAULT_LOCK_SECONDS));
  const token = await arrival(() => transcriptLock.acquire(sessionId, ttl), signal);
  if (typeof token !== "string" || token === "") {
    tell("transcript_lock_contention", seal({ session_id: sessionId }));
    return contended(run);
  }
  try {
    return await converse();
  } finally {
    await attempt(() => transcriptLock.release(sessionId, token), signal);
  }
}

function contended({ messages, request }: ConfiguredRun): ConversationResult {
  return conversationResult.normalize({
    messages,
    status: "transcript_lock_contention",
    completed: false,
    turn_count: 0,
    final_content: conversationResult.finalContent(messages),
    events: [],
    usage: usage.zero,
    request_metadata: request.metadata,
  });
}

async function converse(
  run: ConfiguredRun,
  turnRunner: TurnRunner | null,
  options: RunOptions,
  tell: Tell,
): Promise<ConversationResult> {
  const working = startWorking(run.config, run.messages);
  const state = await drive(run, working, turnRunner, options, tell);
  const result = assembleResult(state, working);
  const { runControl, signal } = options;
  if (run.config.asked.cancellation)
    await attempt(() => runControl?.finish(run.runId, runControlStatus(result)), signal);
  await persist(run, options, working, result);
  if (!state.stops.failure) tell("completed", completion(state, working));
  return result;
}

function completion(state: State, { transcript, run }: Working): JsonMap {
  return seal({ turn: state.turn, message_count: transcript.length, tool_results: run.executions.length });
}

async function persist(run: ConfiguredRun, options: RunOptions, { transcript }: Working, result: UnknownMap) {
  const { transcriptPersister, signal } = options;
  if (transcriptPersister) await attempt(() => transcriptPersister(transcript.slice(), run.request, result), signal);
}

/** Steps the machine until it ends, doing between the steps what it asks for. */
async function drive(
  run: ConfiguredRun,
  working: Working,
  turnRunner: TurnRunner | null,
  options: RunOptions,
  tell: Tell,
): Promise<State> {
  const { now = Date.now, signal } = options;
  const { perform, answer } = callbacks(run, turnRunner, options);
  let state: State = initialState;
  let arrived: Arrived | undefined;
  for (;;) {
    const step = advance(state, working, now(), arrived);
    state = step.state;
    for (const { event, payload } of step.notices) tell(event, payload);
    const { next } = step;
    switch (next.kind) {
      case "end":
        return state;
      case "effect":
        arrived = stopped(signal) ?? (await attempt(() => perform(next.order), signal)) ?? stopped(signal, true);
        break;
      case "consult":
        arrived = stopped(signal) ?? (await attempt(() => answer(next.question), signal)) ?? stopped(signal);
        break;
      case "refuse":
        throw await refusal(next, state, run, working, options, tell);
      case "park":
        throw new Error("A conversation in memory ends where it would wait.");
      default:
        next satisfies never;
    }
  }
}

function stopped(signal: AbortSignal | undefined, performed = false): Arrived | undefined {
  if (!signal?.aborted) return undefined;
  const metadata = { type: "run_stopped", interrupt_action: "cancel", source: "abort_signal" };
  return { stop: message.text("user", "The run was stopped by its caller.", metadata), performed };
}

/** What a broken runner answer throws. When the run counts as failed, observers and the persister are told first. */
async function refusal(
  { error, failed }: Extract<Next, { kind: "refuse" }>,
  state: State,
  run: ConfiguredRun,
  working: Working,
  options: RunOptions,
  tell: Tell,
): Promise<HoldfastError> {
  if (!failed) return error;
  tell("failed", seal({ turn: state.turn, error: error.detail }));
  const bare = { messages: working.transcript.slice(), status: "failed", completed: false, turn_count: state.turn };
  await persist(run, options, working, bare);
  return error;
}

/** The value of a call that the run cannot begin without. */
async function arrival(call: () => unknown, signal: AbortSignal | undefined): Promise<unknown> {
  const outcome = await attempt(call, signal);
  if (!outcome) throw holdfastError("aborted", "The run was stopped before it began.");
  if ("threw" in outcome) throw outcome.threw;
  return outcome.returned;
}
