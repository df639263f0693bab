// A driver that keeps a log and can lose everything else: the proof that the machine hides nothing.
import { expect } from "vitest";
import { type LoopScript, type ScriptedRun, scriptRun } from "../conformance/scripts/loop.ts";
import type { Tape } from "../conformance/scripts/tape.ts";
import { errorMessage } from "../src/contracts/error.ts";
import { advance } from "../src/loop/advance.ts";
import { assembleResult } from "../src/loop/assemble-result.ts";
import { attempt } from "../src/loop/attempt.ts";
import { callbacks } from "../src/loop/callbacks.ts";
import { configure } from "../src/loop/configure.ts";
import type { Arrived, Brought } from "../src/loop/next.ts";
import { observe } from "../src/loop/observe.ts";
import type { LogRecord } from "../src/loop/records.ts";
import { fold, initialState, type State } from "../src/loop/state.ts";
import { type Body, restore, startWorking, type Working } from "../src/loop/working.ts";

/** What a crash leaves behind. */
type Log = { records: LogRecord[]; bodies: Body[]; tape: Tape; brought: Brought[] };

type Ended = { outcome: unknown; seen: unknown; commits: number };

/** Runs a script with a log; right after the commit of that number, everything but the log is thrown away. */
export async function runWithLog(script: LoopScript, crashAfter?: number): Promise<Ended> {
  const run = await scriptRun(script);
  if (run.options.runId && run.options.sessionId && !script.existing_run) {
    await run.options.runControl?.start({ run_id: run.options.runId, session_id: run.options.sessionId });
  }
  const log: Log = { records: [], bodies: [], tape: run.tape(), brought: [] };
  let commits = 0;
  const ended = await driveFrom(script, run, log, () => commits++ === crashAfter);
  const outcome = ended === "crashed" ? await driveFrom(script, run, log, () => void commits++) : ended;
  return { outcome, seen: run.tape().seen, commits };
}

async function driveFrom(script: LoopScript, run: ScriptedRun, log: Log, crashes: () => unknown): Promise<unknown> {
  try {
    return await drive(script, run, log, crashes);
  } catch (thrown) {
    return { threw: errorMessage(thrown) };
  }
}

async function drive(script: LoopScript, run: ScriptedRun, log: Log, crashes: () => unknown): Promise<unknown> {
  run.rewind(log.tape);
  const configured = configure(script.messages, run.options);
  if (!run.turnRunner && !run.options.providerTurnAdapter) throw new Error("nothing to run");
  const { perform, answer } = callbacks(configured, run.turnRunner, run.options);
  const tell = observe(run.options);
  const rules = { waiting: script.brought ? "park" : "end" } as const;
  const working: Working = startWorking({ ...configured.config, rules }, configured.messages);
  restore(working, asStored(log.bodies));
  let state: State = log.records.length > 0 ? fold(asStored(log.records)) : initialState;
  let arrived: Arrived | undefined;
  for (;;) {
    const step = advance(state, working, 0, arrived);
    state = step.state;
    const { next } = step;
    if (next.kind === "refuse") throw next.error;
    log.records.push(...step.records);
    log.bodies.push(...step.bodies);
    expect(fold(asStored(log.records))).toEqual(asStored(state));
    for (const { event, payload } of step.notices) tell(event, payload);
    log.tape = run.tape();
    if (next.kind === "end") return assembleResult(state, working);
    if (crashes()) return "crashed";
    if (next.kind === "park") {
      // What was brought to an earlier call comes once more, and changes nothing.
      for (const stray of log.brought) expect(advance(state, working, 0, stray).next).toEqual(next);
      const returned = run.play("brought", script.brought ?? [], { decision: "rejected" });
      arrived = { call: next.call, request_id: next.request_id, outcome: { returned } };
      log.brought.push(arrived);
      continue;
    }
    arrived = await attempt(() => (next.kind === "effect" ? perform(next.order) : answer(next.question)), undefined);
  }
}

/** A round through JSON: what does not survive it must not be relied on. */
export function asStored<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
