// From rows of sessions to what their port speaks of.
import type { JsonMap } from "../../contracts/json.ts";
import type { SessionSummary } from "../../contracts/sessions/session.ts";
import type { Row } from "../sql-driver.ts";
import * as rows from "./rows.ts";

export const SESSION = `session_id, thread_id, workspace_type, workspace_id, owner_type, owner_key, audience_id, user_id, agent_slug,
  title, metadata, provider, model, provider_response_id, context, consent, created_at, updated_at, last_read_at, expires_at`;

export function sessionSummary(row: Row): SessionSummary {
  const context = rows.text(row.context);
  return {
    session_id: rows.text(row.session_id),
    thread_id: rows.optionalText(row.thread_id),
    workspace_type: rows.text(row.workspace_type),
    workspace_id: rows.text(row.workspace_id),
    owner_type: rows.text(row.owner_type),
    owner_key: rows.text(row.owner_key),
    audience_id: rows.optionalText(row.audience_id),
    user_id: rows.number(row.user_id),
    agent_slug: rows.text(row.agent_slug),
    title: rows.text(row.title),
    metadata: JSON.parse(rows.text(row.metadata)) as JsonMap,
    provider: rows.text(row.provider),
    model: rows.text(row.model),
    provider_response_id: rows.optionalText(row.provider_response_id),
    context,
    mode: context,
    consent: row.consent == null ? null : (JSON.parse(rows.text(row.consent)) as JsonMap),
    created_at: time(row.created_at) ?? "",
    updated_at: time(row.updated_at) ?? "",
    last_read_at: time(row.last_read_at),
    expires_at: time(row.expires_at),
  };
}

function time(column: Row[string] | undefined): string | null {
  return column == null ? null : new Date(rows.number(column) / 1_000).toISOString();
}
