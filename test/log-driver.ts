// A driver that keeps a log and can lose everything else: the proof that the machine hides nothing.
import { expect } from "vitest";
import { type LoopScript, type ScriptedRun, scriptRun } from "../conformance/scripts/loop.ts";
import type { Tape } from "../conformance/scripts/tape.ts";
import type { Message } from "../src/contracts/conversation/message.ts";
import * as message from "../src/contracts/conversation/message.ts";
import { errorMessage } from "../src/contracts/error.ts";
import type { Json } from "../src/contracts/json.ts";
import { advance } from "../src/loop/advance.ts";
import { assembleResult } from "../src/loop/assemble-result.ts";
import { attempt } from "../src/loop/attempt.ts";
import { callbacks } from "../src/loop/callbacks.ts";
import type { Config, Rules } from "../src/loop/config.ts";
import { configure } from "../src/loop/configure.ts";
import { forget, type Kept, keepWorking, takeUp } from "../src/loop/keep-working.ts";
import type { Arrived, Brought, Next } from "../src/loop/next.ts";
import { observe } from "../src/loop/observe.ts";
import type { LogRecord } from "../src/loop/records.ts";
import { fold, initialState, type State } from "../src/loop/state.ts";
import { type Body, restore, startWorking, type Working } from "../src/loop/working.ts";

/** A script for a driver that stores what happens, with what only such a driver meets. */
export type StoredScript = LoopScript & {
  /** The rest of a halted batch is settled. */
  readonly settles_rest?: boolean;
  /** What waits for the run at each turn. */
  readonly inbox?: readonly Json[];
  /** Whether each attempt to ask the model or the summarizer is put off. */
  readonly postpones?: readonly boolean[];
  /** Somebody stops the run once it has so many records. */
  readonly stopped_at?: number;
};

/** What a crash leaves behind. */
type Log = {
  records: LogRecord[];
  bodies: Body[];
  tape: Tape;
  brought: Brought[];
  now: number;
  /** What is kept where the lists that grow are forgotten at every commit. */
  kept: { state: State; transcript: readonly Message[]; answer: unknown; kept: Kept } | null;
};

/** From what a run goes on: from its whole log, or from what is kept of it, when it forgets the rest at every commit. */
type From = "log" | "kept";

type Ended = { outcome: unknown; seen: unknown; commits: number; records: readonly LogRecord[] };

/** Runs a script with a log; right after the commit of that number, everything but the log is thrown away. */
export async function runWithLog(script: StoredScript, crashAfter?: number, from: From = "log"): Promise<Ended> {
  const run = await scriptRun(script);
  if (run.options.runId && run.options.sessionId && !script.existing_run) {
    await run.options.runControl?.start({ run_id: run.options.runId, session_id: run.options.sessionId });
  }
  const log: Log = { records: [], bodies: [], tape: run.tape(), brought: [], now: 0, kept: null };
  let commits = 0;
  const ended = await driveFrom(script, run, log, from, () => commits++ === crashAfter);
  const outcome = ended === "crashed" ? await driveFrom(script, run, log, from, () => void commits++) : ended;
  return { outcome, seen: run.tape().seen, commits, records: log.records };
}

async function driveFrom(
  script: StoredScript,
  run: ScriptedRun,
  log: Log,
  from: From,
  crashes: () => unknown,
): Promise<unknown> {
  try {
    return await drive(script, run, log, from, crashes);
  } catch (thrown) {
    return { threw: errorMessage(thrown) };
  }
}

async function drive(
  script: StoredScript,
  run: ScriptedRun,
  log: Log,
  from: From,
  crashes: () => unknown,
): Promise<unknown> {
  run.rewind(log.tape);
  const configured = configure(script.messages, run.options);
  if (!run.turnRunner && !run.options.providerTurnAdapter) throw new Error("nothing to run");
  const { perform, answer } = callbacks(configured, run.turnRunner, run.options);
  const tell = observe(run.options);
  const config = { ...configured.config, rules: rulesOf(script, from) };
  const { working, state: found } = takenUp(config, configured.messages, log);
  let state = found;
  let arrived: Arrived | undefined;
  for (;;) {
    const step = advance(state, working, log.now, arrived);
    state = step.state;
    const { next } = step;
    if (next.kind === "refuse") throw next.error;
    log.records.push(...step.records);
    log.bodies.push(...step.bodies);
    expect(fold(asStored(log.records))).toEqual(asStored(state));
    for (const { event, payload } of step.notices) tell(event, payload);
    log.tape = run.tape();
    if (next.kind === "end") return assembleResult(state, working);
    if (from === "kept") {
      forget(working);
      const { transcript, answer: answered } = working;
      log.kept = asStored({ state, transcript, answer: answered, kept: keepWorking(working) });
    }
    if (crashes()) return "crashed";
    if (log.records.length >= (script.stopped_at ?? Number.POSITIVE_INFINITY)) {
      arrived = stopOf(next);
    } else if (next.kind === "wait") {
      expect(advance(state, working, log.now).records).toEqual([]);
      log.now = next.until;
      arrived = undefined;
    } else if (next.kind === "park") {
      // What was brought to an earlier call comes once more, and changes nothing.
      for (const stray of log.brought) expect(advance(state, working, log.now, stray).next).toEqual(next);
      const returned = run.play("brought", script.brought ?? [], { decision: "rejected" });
      arrived = { call: next.call, request_id: next.request_id, outcome: { returned } };
      log.brought.push(arrived);
    } else if (isPutOff(script, run, next)) {
      arrived = { postponed: { until: log.now + 1000 } };
    } else {
      arrived = await attempt(() => carryOut(next), undefined);
    }
  }

  function carryOut(next: Extract<Next, { kind: "effect" | "consult" }>): unknown {
    if (next.kind === "effect") return perform(next.order);
    if (next.question.hook !== "inbox") return answer(next.question);
    return run.play("inbox", script.inbox ?? [], { messages: [], calls: [] });
  }
}

function rulesOf({ brought, settles_rest, inbox }: StoredScript, from: From): Rules {
  return {
    waiting: brought ? "park" : "end",
    undeclared: "show" as const,
    rest: settles_rest ? "settle" : "drop",
    inbox: inbox !== undefined,
    clock: "turn",
    // What is kept of a run has the results of its turn alone.
    priorResults: from === "kept" ? "turn" : "run",
  };
}

/** Where the run stands, from what is kept of it or else from its log. */
function takenUp(config: Config, messages: readonly Message[], log: Log): { working: Working; state: State } {
  if (log.kept) {
    const { state, transcript, kept, answer } = log.kept;
    return { working: takeUp(config, [transcript], kept, answer), state };
  }
  const working = startWorking(config, messages);
  restore(working, asStored(log.bodies));
  return { working, state: log.records.length > 0 ? fold(asStored(log.records)) : initialState };
}

function stopOf({ kind }: Next): Arrived {
  const said = message.text("assistant", "As I was saying");
  return { stop: message.text("user", "Stop."), performed: kind === "effect", said };
}

function isPutOff({ postpones }: StoredScript, run: ScriptedRun, next: Next): boolean {
  if (!postpones || next.kind !== "effect") return false;
  const { kind } = next.order;
  return (kind === "call_model" || kind === "summarize") && run.play("postpones", postpones, false) === true;
}

/** A round through JSON: what does not survive it must not be relied on. */
export function asStored<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
