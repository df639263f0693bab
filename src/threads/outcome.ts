// How a run stands, for whoever waits for it: what a send comes to.
import type { Usage } from "../contracts/conversation/usage.ts";
import type { Json, JsonMap } from "../contracts/json.ts";
import type { StopCode } from "../contracts/standard/stop-rules.ts";
import { assembleResult } from "../loop/assemble-result.ts";
import type { State } from "../loop/state.ts";
import type { Working } from "../loop/working.ts";

/** Where a run ended, or what it waits for. */
export type RunOutcome = {
  /**
   * `completed`, or why it is not: `approval_required`, `runtime_tool_pending`, `interrupted`, `failed`, `budget_exceeded`, `max_turns`,
   * `limit_reached`, `blocked`, `stalled`.
   */
  readonly status: string;
  readonly completed: boolean;
  readonly final_content: string;
  readonly turn_count: number;
  readonly usage: Usage;
  /** Why the model ended its last answer, in the provider's words: `length` and `content-filter` cut it off. */
  readonly finish_reason?: string;
  /** What the answers have cost, where models have prices. Of an attempt that nobody saw the end of, the most it can have cost. */
  readonly cost_usd?: number;
  /** The request that somebody has to answer before the run goes on. */
  readonly waiting_for?: { readonly request_id: string; readonly kind: string; readonly shown: JsonMap };
  readonly budget?: string;
  readonly stalled?: JsonMap;
  readonly interrupted?: JsonMap;
  readonly failure?: JsonMap;
  readonly structured_output?: Json;
  /** Why the rules of an agent with sides ended it. */
  readonly stop_code?: StopCode;
  /** What a tool or code said when it ended the session; files are paths of the thread. */
  readonly session?: {
    readonly status: "success" | "failure";
    readonly text: string;
    readonly attachments: readonly string[];
  };
};

type Told = "stalled" | "interrupted" | "failure" | "structured_output";

/** Of a run that has ended. Only its own messages are looked at, however long the thread is. */
export function endedOutcome(state: State, working: Working, ownMessages: number): RunOutcome {
  const own = working.transcript.slice(working.transcript.length - ownMessages);
  // What nobody is shown are nobody's last words.
  const transcript = own.filter(({ metadata }) => metadata.silent !== true);
  const result = assembleResult(state, { ...working, transcript });
  const { status, completed = false, final_content = "", budget } = result;
  const { stalled, interrupted, failure, structured_output } = result as JsonMap & Pick<RunOutcome, Told>;
  const ranOut = status === undefined && hasRunOut(state);
  return {
    status: status ?? (ranOut ? "max_turns" : "completed"),
    completed: completed && !ranOut,
    final_content,
    turn_count: state.turn,
    usage: state.usage,
    ...costOf(state),
    ...finishOf(working),
    ...(budget !== undefined && { budget }),
    ...(stalled !== undefined && { stalled }),
    ...(interrupted !== undefined && { interrupted }),
    ...(failure !== undefined && { failure }),
    ...(structured_output !== undefined && { structured_output }),
  };
}

function costOf({ spent }: State): { cost_usd?: number } {
  return spent.nanodollars > 0 ? { cost_usd: spent.nanodollars / 1e9 } : {};
}

function finishOf({ run: { request_metadata } }: Working): { finish_reason?: string } {
  const { finish_reason } = request_metadata;
  return typeof finish_reason === "string" ? { finish_reason } : {};
}

/** True when the model still had something to do, and no turn was left for it. */
function hasRunOut({ complete, budgets: { turns } }: State): boolean {
  return !complete && turns !== undefined && turns.current >= turns.ceiling;
}

/** Of a run that waits for somebody outside. */
export function waitingOutcome(
  state: State,
  waiting_for: { readonly request_id: string; readonly kind: string; readonly shown: JsonMap },
): RunOutcome {
  const { turn, usage, waiting } = state;
  const status = waiting?.as === "approval" ? "approval_required" : "runtime_tool_pending";
  return { status, completed: false, final_content: "", turn_count: turn, usage, ...costOf(state), waiting_for };
}
