// The in-memory driver's front: reads the options, holds the transcript, runs the machine to its end and returns the
// versioned result. Lock, persister and run control are its own affair; the machine knows nothing of them.
import type { ConversationResult } from "../contracts/conversation/result.ts";
import * as conversationResult from "../contracts/conversation/result.ts";
import type { RunStatus } from "../contracts/conversation/run-control.ts";
import { runControlStatus } from "../contracts/conversation/run-outcome.ts";
import * as usage from "../contracts/conversation/usage.ts";
import { errorMessage, HoldfastError, holdfastError } from "../contracts/error.ts";
import { type JsonMap, seal, type UnknownMap } from "../contracts/json.ts";
import { assembleResult } from "./assemble-result.ts";
import { attemptLast } from "./attempt.ts";
import { beginRun } from "./begin-run.ts";
import { callbacks } from "./callbacks.ts";
import { type ConfiguredRun, canRunTools, configure } from "./configure.ts";
import { drive } from "./drive.ts";
import { wordsAndCode } from "./failure.ts";
import { holdTranscript } from "./hold-transcript.ts";
import { observe, type Tell } from "./observe.ts";
import type { RunOptions, TurnRunner } from "./options.ts";
import { startWorking, type Working } from "./working.ts";

/**
 * Runs a conversation until it is complete or something stops it. What goes wrong in the provider, in tools or in
 * observers is told by the result; only messages, options, a runner answer or an interrupt that break the contract throw.
 */
export async function runConversation(
  messages: unknown,
  turnRunner: TurnRunner | null,
  options: RunOptions = {},
): Promise<ConversationResult> {
  const run = readRun(messages, options);
  if (!hasRunner(turnRunner, options)) throw noRunner();
  const tell = observe(options);
  reportDeclarations(run, options, tell);
  const begun = await beginRun(run, options);
  if (begun.kind === "refused") return neverBegan(run, { ...begun, type: "run_control" }, tell);
  if (begun.kind === "stopped") return stopped(run);
  try {
    return await runHeld(run, turnRunner, options, tell, begun.finish);
  } catch (thrown) {
    await begun.finish("failed");
    throw thrown;
  }
}

/** Whatever cannot even be looked at is as unusable as what breaks the contract. */
function readRun(messages: unknown, options: RunOptions): ConfiguredRun {
  try {
    return configure(messages, options);
  } catch (thrown) {
    if (thrown instanceof HoldfastError) throw thrown;
    const detail = `The messages or options cannot be read: ${errorMessage(thrown)}`;
    throw holdfastError("invalid_agent_conversation_loop", detail, thrown);
  }
}

function hasRunner(turnRunner: TurnRunner | null, { providerTurnAdapter }: RunOptions): boolean {
  return typeof (providerTurnAdapter ?? turnRunner) === "function";
}

function noRunner(): HoldfastError {
  return holdfastError("invalid_agent_conversation_loop", "Pass a turn runner or a provider turn adapter.");
}

function reportDeclarations({ config, rejected }: ConfiguredRun, options: RunOptions, tell: Tell): void {
  const rejected_count = rejected.length;
  if (rejected_count === 0) return;
  const accepted_count = Object.keys(config.tools).length;
  tell("tool_declarations_rejected", seal({ rejected, rejected_count, accepted_count }));
  if (accepted_count > 0 || !canRunTools(options)) return;
  tell("tool_mediation_disabled", seal({ reason: "all_declarations_rejected", rejected, rejected_count }));
}

type Finish = (status: RunStatus) => Promise<void>;

/** Runs the conversation while the transcript is held. */
async function runHeld(
  run: ConfiguredRun,
  turnRunner: TurnRunner | null,
  options: RunOptions,
  tell: Tell,
  finish: Finish,
): Promise<ConversationResult> {
  const held = await holdTranscript(run.sessionId, options);
  switch (held.kind) {
    case "held":
      try {
        return await converse(run, turnRunner, options, tell, finish);
      } finally {
        await held.release();
      }
    case "stopped":
      await finish("interrupted");
      return stopped(run);
    case "contended":
      await finish("failed");
      tell("transcript_lock_contention", seal({ session_id: run.sessionId }));
      return contended(run);
    case "failed":
      await finish("failed");
      return neverBegan(run, { type: "transcript_lock", ...wordsAndCode(held.threw) }, tell);
  }
}

/** The result of a run that was refused. The contract has it without usage and request metadata. */
function neverBegan(run: ConfiguredRun, refusal: { type: string; message: string; code: string }, tell: Tell) {
  const { type, message, code } = refusal;
  tell("failed", seal({ error: message }));
  const failure = { type, message, code, turn_count: 0 };
  return conversationResult.normalize({ ...untouched(run), status: "failed", failure });
}

function contended(run: ConfiguredRun): ConversationResult {
  return conversationResult.normalize({ ...unused(run), status: "transcript_lock_contention" });
}

/** A run that its caller stopped before the first turn. */
function stopped(run: ConfiguredRun): ConversationResult {
  const interrupted = { type: "run_stopped", source: "abort_signal", action: "cancel", turn: 0 };
  return conversationResult.normalize({ ...unused(run), status: "interrupted", interrupted });
}

function unused(run: ConfiguredRun): UnknownMap {
  return { ...untouched(run), usage: usage.zero, request_metadata: run.request.metadata };
}

function untouched({ messages }: ConfiguredRun): UnknownMap {
  const final_content = conversationResult.finalContent(messages);
  return { messages, completed: false, turn_count: 0, final_content, events: [] };
}

async function converse(
  run: ConfiguredRun,
  turnRunner: TurnRunner | null,
  options: RunOptions,
  tell: Tell,
  finish: Finish,
): Promise<ConversationResult> {
  const working = startWorking(run.config, run.messages);
  const { signal } = options;
  const now = clock(options);
  const { state, refused } = await drive(working, callbacks(run, turnRunner, options), tell, { now, signal });
  if (refused) {
    if (refused.isReported) await reportBroken(refused.error, state.turn, { run, working, options, tell });
    throw refused.error;
  }
  const result = assembleResult(state, working);
  await finish(runControlStatus(result));
  await persist(run, options, working, result);
  if (!state.stops.failure) tell("completed", completion(state.turn, working));
  return result;
}

/** The caller's clock; where it does not tell a time, the machine's. */
function clock({ now }: RunOptions): () => number {
  if (typeof now !== "function") return Date.now;
  return () => {
    const at = now();
    return Number.isFinite(at) && Math.abs(at) <= LATEST ? at : Date.now();
  };
}

/** The furthest time from 1970 that a date can tell, in milliseconds. */
const LATEST = 8_640_000_000_000_000;

function completion(turn: number, { transcript, run }: Working): JsonMap {
  return seal({ turn, message_count: transcript.length, tool_results: run.executions.length });
}

/** A runner that answers with no answer at all is told to observers and the persister before it is thrown. */
async function reportBroken(
  error: HoldfastError,
  turn: number,
  { run, working, options, tell }: { run: ConfiguredRun; working: Working; options: RunOptions; tell: Tell },
): Promise<void> {
  tell("failed", seal({ turn, error: error.detail }));
  const bare = { messages: working.transcript.slice(), status: "failed", completed: false, turn_count: turn };
  await persist(run, options, working, bare);
}

async function persist(run: ConfiguredRun, options: RunOptions, { transcript }: Working, result: UnknownMap) {
  const { transcriptPersister, signal } = options;
  if (!transcriptPersister) return;
  await attemptLast(() => transcriptPersister(transcript.slice(), run.request, result), signal);
}
