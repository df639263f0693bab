// A thread as the Agents API knows it: what a session of it would hold. Whether one is kept is a matter of consent.
import type { StoredSubject } from "../backend/subject-store.ts";
import type { Thread } from "../backend/thread-rows.ts";
import type { Message } from "../contracts/conversation/message.ts";
import { emptyMap, type JsonMap } from "../contracts/json.ts";

/** A session row. What nobody has said about the thread, such as an owner, is empty. */
export type Session = {
  readonly session_id: string;
  readonly workspace_type: string;
  readonly workspace_id: string;
  readonly owner_type: string;
  readonly owner_key: string;
  readonly user_id: number;
  readonly agent_slug: string;
  readonly title: string;
  readonly messages: readonly Message[];
  readonly metadata: JsonMap;
  readonly provider: string;
  readonly model: string;
  readonly provider_response_id: string | null;
  readonly context: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_read_at: string | null;
  readonly expires_at: string | null;
};

export function sessionOf(
  { id, key, agent, status, created_at, updated_at }: Thread,
  subject: StoredSubject | undefined,
  messages: readonly Message[],
): Session {
  return {
    session_id: id,
    workspace_type: subject?.workspace_type ?? "",
    workspace_id: subject?.workspace_id ?? "",
    owner_type: subject?.owner_type ?? "",
    owner_key: subject?.owner_key ?? "",
    user_id: subject?.owner_type === "user" ? Number(subject.owner_key) : 0,
    agent_slug: agent,
    title: key,
    messages,
    metadata: status === "terminated" ? { "holdfast/terminated": true } : emptyMap,
    provider: "",
    model: "",
    provider_response_id: null,
    context: subject?.context ?? "chat",
    created_at: timeOf(created_at),
    updated_at: timeOf(updated_at),
    last_read_at: null,
    expires_at: null,
  };
}

/** Stored times are microseconds; the contract's are texts. */
export function timeOf(microseconds: number): string {
  return new Date(microseconds / 1000).toISOString();
}
