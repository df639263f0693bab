// The failure bridge: an agent that waits for a tool hears of it when the tool's job has ended without a result.
import { readCorrelation, resultKey, TOOL_RESULT } from "../../../contracts/gateway/agent/correlation.ts";
import type { JsonMap } from "../../../contracts/json.ts";

export type FailedTool = {
  readonly job_id: string;
  readonly error: string;
  /** Requesting the tool again would fail in the same way. */
  readonly permanent: boolean;
  /** ISO 8601, UTC. */
  readonly completed_at: string;
};

export type BridgeEvent = {
  readonly agent: string;
  readonly type: string;
  readonly payload: JsonMap;
  readonly dedupe_key: string;
};

/** The result of a tool that failed, for the agent that its context names; undefined when no agent waits for it. */
export function bridgeEvent(context: JsonMap, failed: FailedTool): BridgeEvent | undefined {
  const correlation = readCorrelation(context);
  if (correlation?.agent === undefined) return undefined;
  const { run_id, step, tool, attempt, agent } = correlation;
  const { error, permanent, completed_at } = failed;
  return {
    agent,
    type: TOOL_RESULT,
    payload: { run_id, step, tool, attempt, status: "error", result: null, error, permanent, completed_at },
    dedupe_key: resultKey(correlation),
  };
}
