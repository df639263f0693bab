// What the row of a run holds besides its steps: the position of the machine, and what the open steps wait for. It is
// bounded, because at most a hundred steps of a run are open at once.
import { initialState, type State } from "../machine/state.ts";

/** The version of the stored state. A process claims no run whose state is newer than it can read. */
export const RUN_STATE_VERSION = 1;

/**
 * What carries an open step out. `process`: code in the process that holds the lease. `child`: a thread or another run.
 * `approval`: a person decides first, then the step is carried out in process. `wait`: the step itself is the wait.
 */
export type CarriedOutBy = "process" | "child" | "approval" | "wait";

export type OpenStep = {
  readonly attempt: number;
  readonly by: CarriedOutBy;
  /** The number of its call in the ledger. */
  readonly call: number;
  /** What a step that is not carried out in process waits for. */
  readonly waits_for?: "agent" | "workflow" | "event" | "approval" | "request";
  /** The request that has to be answered; of a step in process the approval under which it is carried out. */
  readonly request_id?: string;
  /** The thread or run that carries it out. */
  readonly child_id?: string;
  /** When it is not waited for any longer, in milliseconds since 1970. Waits of the machine are not listed here. */
  readonly until?: number;
  /** It failed and is tried again later, under the approval that it has. */
  readonly isRetrying?: true;
  /** The child was asked to stop. */
  readonly isStopping?: true;
};

export type RunState = {
  readonly machine: State;
  /** How many calls the ledger has of this run. */
  readonly calls: number;
  /** By path. */
  readonly open: Readonly<Record<string, OpenStep>>;
  /** An operator has paused the run: nothing new begins. */
  readonly isPaused: boolean;
};

const initialRunState: RunState = { machine: initialState, calls: 0, open: {}, isPaused: false };

/** A state that was stored by this version or an earlier one. */
export function readRunState(stored: string | null): RunState {
  if (stored === null) return initialRunState;
  const state = JSON.parse(stored) as RunState;
  return { ...initialRunState, ...state, machine: { ...initialState, ...state.machine } };
}
