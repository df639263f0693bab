// Where the session of an agent with sides stands, and how what happens leads it on.
import type { Control } from "../contracts/standard/control.ts";
import type { Side } from "../contracts/standard/side.ts";
import type { StopCode } from "../contracts/standard/stop-rules.ts";
import type { Fact, Mark, Repeated, Turns } from "./records.ts";

/** Where the session of an agent with sides stands. */
export type Standing = {
  /** The one that acts. */
  readonly side: Side;
  readonly turns: Turns;
  /** How often the model of each was asked in this run. */
  readonly steps: Turns;
  /** What the calls of this step meant. */
  readonly marks: readonly Mark[];
  /** What the code of this step asked for. */
  readonly control: Control;
  readonly repeated: Repeated | null;
  /** Why the last turn, or the run, ended. */
  readonly code: StopCode | null;
};

export const newStanding: Standing = {
  side: "a",
  turns: { a: 0, b: 0 },
  steps: { a: 0, b: 0 },
  marks: [],
  control: {},
  repeated: null,
  code: null,
};

/** The model of the side that acts has answered. */
export function stepped(standing: Standing): Standing {
  const { side, steps } = standing;
  return { ...standing, steps: { ...steps, [side]: steps[side] + 1 } };
}

/** A call was settled. */
export function marked(
  standing: Standing,
  { mark, repeated = standing.repeated }: Extract<Fact, { type: "call.settled" }>,
): Standing {
  const { marks } = standing;
  return { ...standing, marks: mark && !marks.includes(mark) ? [...marks, mark] : marks, repeated };
}

/** What is asked for later in a step counts, beside what was asked for before; also of a run without sides. */
export function controlled(standing: Standing | null, more: Control): Standing {
  const before = standing ?? newStanding;
  return { ...before, control: { ...before.control, ...more } };
}

/** True when code has ended the run: the calls behind its own are not begun. */
export function isCut(standing: Standing | null): boolean {
  return standing?.control.stop === true || standing?.control.session !== undefined;
}
