// The failure bridge: an agent that waits for a tool hears of it when the tool's job has ended without a result.
import {
  type Correlation,
  readCorrelation,
  resultKey,
  TOOL_RESULT,
} from "../../../contracts/gateway/agent/correlation.ts";
import type { GatewayEvent } from "../../../contracts/gateway/protocol/event.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import { maxAttempts } from "../../plugins/max-attempts.ts";
import type { Child } from "./new-child.ts";
import type { RoutingTables } from "./route-events.ts";

export type FailedTool = {
  readonly error: string;
  /** Requesting the tool again would fail in the same way. */
  readonly permanent: boolean;
  /** Set where the failure is not the tool's own. */
  readonly reason?: string | undefined;
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
  const { agent } = correlation;
  return { agent, type: TOOL_RESULT, payload: failedResult(correlation, failed), dedupe_key: resultKey(correlation) };
}

/** The job with which an agent hears of such a result. It has a place in every tree. */
export function bridgeJob(
  bridge: Pick<Child, "id" | "context_id" | "waits_for_instance"> & {
    readonly agent: string;
    readonly event: GatewayEvent;
  },
  { plugins }: Pick<RoutingTables, "plugins">,
): Child {
  const { agent, event, ...about } = bridge;
  return {
    ...about,
    plugin: agent,
    command: "handle",
    payload: { ...event },
    submitted_by: "bridge",
    source_event_id: event.event_id,
    place: null,
    dedupe_key: event.dedupe_key ?? null,
    max_attempts: maxAttempts("handle", plugins.get(agent)),
    is_exempt: true,
  };
}

/** The payload of such a result. */
export function failedResult({ run_id, step, tool, attempt }: Correlation, failed: FailedTool): JsonMap {
  const { error, permanent, reason, completed_at } = failed;
  return {
    ...{ run_id, step, tool, attempt, status: "error", result: null, error, permanent },
    ...(reason !== undefined && { reason }),
    completed_at,
  };
}
