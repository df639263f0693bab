// A machine that a test feeds by hand, with its log.
import { expect } from "vitest";
import type { Outcome } from "../src/contracts/outcome.ts";
import { type Advance, advance } from "../src/loop/advance.ts";
import type { Funds, Rules } from "../src/loop/config.ts";
import { configure } from "../src/loop/configure.ts";
import { keepWorking, takeUp } from "../src/loop/keep-working.ts";
import type { Arrived, Next, Notice } from "../src/loop/next.ts";
import type { RunOptions } from "../src/loop/options.ts";
import type { LogRecord } from "../src/loop/records.ts";
import { fold, initialState, type State } from "../src/loop/state.ts";
import { absorb, type Body, startWorking, type Working } from "../src/loop/working.ts";
import { asStored } from "./log-driver.ts";

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
  readonly notices: Notice[];
  readonly working: Working;
  state(): State;
  /** Brings what was asked for, or nothing, and tells what is asked for next. */
  bring(arrived?: Arrived, now?: number): Next;
  /** Forgets everything but the log, and goes on under these options if they changed. */
  restart(options?: RunOptions): void;
  /** Forgets everything but the state, the transcript and what is kept of the rest. */
  takeDownAndUp(): void;
};

/** One that has two tools, unless it is given others. */
export function machine(
  options: RunOptions = {},
  rules: Partial<Rules> = {},
  { funds = null, judgesOutput = false }: { funds?: Funds | null; judgesOutput?: boolean } = {},
): Machine {
  const given: RunOptions = {
    maxTurns: 3,
    toolDeclarations,
    toolExecutor: () => undefined,
    newId: () => "key",
    ...options,
  };
  const configured = (changed: RunOptions = given) => {
    const { config, messages } = configure([{ role: "user", content: "go" }], { ...given, ...changed });
    const asked = { ...config.asked, output: judgesOutput };
    return { config: { ...config, asked, funds, rules: { ...config.rules, ...rules } }, messages };
  };
  const records: LogRecord[] = [];
  const bodies: Body[] = [];
  const notices: Notice[] = [];
  let state: State = initialState;
  const start = (changed?: RunOptions) => {
    const { config, messages } = configured(changed);
    return startWorking(config, messages);
  };
  let working = start();
  return {
    records,
    bodies,
    notices,
    get working() {
      return working;
    },
    state: () => state,
    bring(arrived, now = 0) {
      const step: Advance = advance(state, working, now, arrived);
      state = step.state;
      for (const record of step.records) records.push(record);
      for (const body of step.bodies) bodies.push(body);
      for (const notice of step.notices) notices.push(notice);
      return step.next;
    },
    restart(changed) {
      const stored = asStored({ records, bodies });
      state = fold(stored.records);
      working = start(changed);
      for (const body of stored.bodies) absorb(working, body);
    },
    takeDownAndUp() {
      const { answer, transcript } = working;
      const stored = asStored({ state, answer, transcript, kept: keepWorking(working) });
      state = stored.state;
      working = takeUp(configured().config, [stored.transcript], stored.kept, stored.answer);
    },
  };
}

/** What is brought at each step, or how it follows from what was asked. */
type Script = readonly (Arrived | undefined | ((asked: Next) => Arrived))[];

/**
 * Plays a script three times: undisturbed, built again from the log after every step, and taken down and up again after
 * every step. All three have to ask for the same and come to the same; what the first came to is returned.
 */
export function playInEveryWay(make: () => Machine, script: Script): { machine: Machine; asked: Next[] } {
  const undisturbed = play(make(), script, () => undefined);
  for (const disturb of [(made: Machine) => made.restart(), (made: Machine) => made.takeDownAndUp()]) {
    expect(summary(play(make(), script, disturb))).toEqual(summary(undisturbed));
  }
  return undisturbed;
}

function play(made: Machine, script: Script, disturb: (made: Machine) => void) {
  const asked: Next[] = [];
  for (const entry of script) {
    const before = asked.at(-1) ?? { kind: "end" };
    asked.push(made.bring(typeof entry === "function" ? entry(before) : entry));
    expect(asStored(fold(asStored(made.records)))).toEqual(asStored(made.state()));
    disturb(made);
  }
  return { machine: made, asked };
}

function summary({ machine: { records, bodies, notices, working, state }, asked }: ReturnType<typeof play>) {
  return asStored({
    records,
    bodies,
    notices,
    transcript: working.transcript,
    state: state(),
    asked: asked.map(comparable),
  });
}

/** The execution results of earlier turns are stored elsewhere when a run is taken down. */
function comparable(next: Next): unknown {
  if (next.kind !== "consult" || !("context" in next.question)) return next;
  const { prior_tool_results: _lost, ...context } = next.question.context as Record<string, unknown>;
  return { ...next, question: { ...next.question, context } };
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
