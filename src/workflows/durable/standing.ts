// How a run stands, as lists and records show it, and when it goes on by itself.
import type { WorkflowReason } from "../../backend/workflow-store.ts";
import type { OpenStep as Waiting } from "../machine/state.ts";
import type { Standing } from "./leased-run.ts";
import type { OpenStep, RunState } from "./run-state.ts";

/** What a person or a program outside has to do comes first. */
const ORDER: readonly WorkflowReason[] = [
  "waiting_for_approval",
  "waiting_for_request",
  "waiting_for_event",
  "waiting_for_agent",
  "waiting_for_workflow",
  "retrying",
  "sleeping",
];

/** `isAtRest`: no process is at work on the run. */
export function standingOf(state: RunState, isAtRest: boolean): Standing {
  const { machine, isPaused } = state;
  if (machine.status !== "running") return { status: machine.status, reason: null };
  if (!isAtRest) return { status: "running", reason: null };
  if (isPaused) return { status: "suspended", reason: "paused" };
  const reasons = new Set(reasonsOf(state));
  const reason = ORDER.find((each) => reasons.has(each));
  return reason === undefined ? { status: "running", reason: null } : { status: "suspended", reason };
}

function reasonsOf({ machine, open }: RunState): readonly WorkflowReason[] {
  return Object.entries(machine.steps).map(([path, step]) => reasonOf(step, open[path]));
}

/** A handler of the host that says that its step waits does not say for what. */
export function reasonOf({ phase }: Pick<Waiting, "phase">, open: OpenStep | undefined): WorkflowReason {
  if (phase === "retrying") return "retrying";
  return open ? `waiting_for_${open.waits_for ?? "request"}` : "sleeping";
}

/** Milliseconds since 1970; null for a run that has to be woken. `after`: what is held back does not count before that time. */
export function dueTime({ machine, open }: RunState, after: number | null = null): number | null {
  const times = [
    ...Object.values(machine.steps).map(({ until }) => until),
    ...Object.values(open).map(({ until = null }) => until),
  ].flatMap((until) => (until === null || (after !== null && until <= after) ? [] : [until]));
  return times.length === 0 ? null : Math.min(...times);
}
