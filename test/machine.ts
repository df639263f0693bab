// A machine that a test feeds by hand, with its log.

import type { Outcome } from "../src/contracts/outcome.ts";
import { type Advance, advance } from "../src/loop/advance.ts";
import { configure } from "../src/loop/configure.ts";
import type { Arrived, Next } from "../src/loop/next.ts";
import type { RunOptions } from "../src/loop/options.ts";
import type { LogRecord } from "../src/loop/records.ts";
import { fold, initialState, type State } from "../src/loop/state.ts";
import { absorb, type Body, type Rules, startWorking, type Working } from "../src/loop/working.ts";

const tool = (name: string) => ({ name, source: "abilities", description: "Does something." });
const toolDeclarations = { "ability/save": tool("ability/save"), "ability/peek": tool("ability/peek") };
export const call = (id: string, name = "ability/save") => ({ id, name, parameters: { id } });
export const calls = (...tool_calls: unknown[]) => ({ returned: { tool_calls } });
export const returned = (value: unknown): Arrived => ({ returned: value });
/** What is brought for the request under which a call is parked. */
export const brought = (parked: Next, outcome: Outcome): Arrived => {
  if (parked.kind !== "park") throw new Error(`The run is not parked: it asks for ${asked(parked)}.`);
  return { call: parked.call, request_id: parked.request_id, outcome };
};

type Machine = {
  readonly records: LogRecord[];
  readonly bodies: Body[];
  readonly working: Working;
  state(): State;
  /** Brings what was asked for, or nothing, and tells what is asked for next. */
  bring(arrived?: Arrived): Next;
  /** Forgets everything but the log, and goes on under these options if they changed. */
  restart(options?: RunOptions): void;
};

/** One that has two tools, unless it is given others. */
export function machine(options: RunOptions = {}, rules: Rules = { waiting: "end" }): Machine {
  const given: RunOptions = { maxTurns: 3, toolDeclarations, toolExecutor: () => undefined, ...options };
  const start = (changed: RunOptions = given) => {
    const { config, messages } = configure([{ role: "user", content: "go" }], { ...given, ...changed });
    return startWorking({ ...config, rules }, messages);
  };
  const records: LogRecord[] = [];
  const bodies: Body[] = [];
  let state: State = initialState;
  let working = start();
  return {
    records,
    bodies,
    get working() {
      return working;
    },
    state: () => state,
    bring(arrived) {
      const step: Advance = advance(state, working, 0, arrived);
      state = step.state;
      records.push(...step.records);
      bodies.push(...step.bodies);
      return step.next;
    },
    restart(changed) {
      const stored = JSON.parse(JSON.stringify({ records, bodies })) as { records: LogRecord[]; bodies: Body[] };
      state = fold(stored.records);
      working = start(changed);
      for (const body of stored.bodies) absorb(working, body);
    },
  };
}

/** What is asked for, in a word. */
export function asked(next: Next): string {
  switch (next.kind) {
    case "effect":
      return next.order.kind;
    case "consult":
      return next.question.hook;
    default:
      return next.kind;
  }
}
