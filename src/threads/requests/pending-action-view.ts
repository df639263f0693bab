// A pending action of the Agents API is a view of a request for approval: nothing of it is stored a second time.
import type { StoredRequest } from "../../backend/request-store.ts";
import { isMap, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { REDACTED } from "../../contracts/tools/sensitive-keys.ts";
import type { PendingAction, PendingActionStatus } from "../../contracts/trust/pending-action.ts";
import * as pendingAction from "../../contracts/trust/pending-action.ts";
import { timeOf } from "../session-view.ts";

/** The action as it stands. Once it is decided, what applying it took is erased and shows as redacted. */
export function pendingActionOf(request: StoredRequest, proposed: JsonMap | null): PendingAction {
  const shown = snapshotMap(JSON.parse(request.shown));
  const answer: JsonMap = request.answer === null ? {} : snapshotMap(JSON.parse(request.answer));
  const status = statusOf(request, answer);
  const { parameters, summary, preview } = shown;
  const { tool_name, id, terms } = request;
  const { workspace_type, workspace_id } = terms;
  const isSomewhere = workspace_type !== null && workspace_id !== null;
  return pendingAction.fromArray({
    kind: "tool_call",
    summary: typeof summary === "string" && summary !== "" ? summary : `Run ${tool_name}`,
    preview: isMap(preview) ? preview : { tool_name, parameters: parameters ?? {} },
    apply_input: REDACTED,
    ...proposed,
    // A tool may say what it proposes, and not who asked, where, and under which name.
    action_id: id,
    agent: terms.agent === "" ? null : terms.agent,
    creator: terms.creator,
    workspace: isSomewhere ? { workspace_type, workspace_id } : null,
    status,
    created_at: timeOf(request.created_at),
    expires_at: request.expires_at === null ? null : timeOf(request.expires_at),
    ...(status !== "pending" && {
      resolved_at: timeOf(request.ended_at ?? request.created_at),
      resolver: request.resolver ?? "holdfast",
      resolution_metadata: resolutionOf(request, answer),
    }),
  });
}

function resolutionOf({ status, decided_by, terms }: StoredRequest, answer: JsonMap): JsonMap {
  const { decision, reason, edited_parameters, remember } = answer;
  return snapshotMap({
    // A stop was faster than what somebody had decided.
    ...(status === "cancelled" && decision !== undefined && { decision }),
    ...(typeof reason === "string" && { reason }),
    ...(decided_by !== null && { by: JSON.parse(decided_by) }),
    ...(edited_parameters !== undefined && { edited_parameters }),
    ...(remember === true && { remembered: true }),
    ...(terms.policy_version !== "" && { policy_version: terms.policy_version }),
  });
}

function statusOf({ status }: StoredRequest, { decision }: JsonMap): PendingActionStatus {
  if (status === "pending") return "pending";
  if (status === "expired") return "expired";
  // Stopped before anybody decided, or before the decision came to anything.
  if (status === "cancelled") return "deleted";
  return decision === "accepted" || decision === "rejected" ? decision : "deleted";
}
