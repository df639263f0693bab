// Which runs are meant, as it was typed.
import { parseDuration } from "../../contracts/gateway/durations.ts";
import { time, whole } from "../read-option.ts";

export const runStatuses = ["pending", "running", "suspended", "succeeded", "failed", "cancelled"];

export const queryOptions = {
  "--workflow <id>": "only those of a workflow",
  "--status <status>": "only pending, running, suspended, succeeded, failed or cancelled ones",
  "--tag <tag>": "only those with a tag",
  "--since <time>": "only those that were started then or later: a time, or how long ago, such as 2h",
} as const;

export type RunsQuery = {
  readonly workflow_id?: string;
  readonly status?: string;
  readonly tag?: string;
  readonly from?: string;
};

export function runsQuery({ workflow, status, tag, since }: Readonly<Record<string, unknown>>): RunsQuery {
  const ago = parseDuration(since);
  const from = ago === undefined ? time("--since", since) : new Date(Date.now() - ago).toISOString();
  return {
    ...(typeof workflow === "string" && { workflow_id: workflow }),
    ...(typeof status === "string" && { status }),
    ...(typeof tag === "string" && { tag }),
    ...(from !== undefined && { from }),
  };
}

/** As many as a list has at most. */
export function pageOf({ limit, after }: Readonly<Record<string, unknown>>): object {
  const most = whole("--limit", limit);
  return { ...(most !== undefined && { limit: most }), ...(typeof after === "string" && { after }) };
}
