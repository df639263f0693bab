// A session of the Agents API is a view of a thread: nothing of it is stored a second time.
import type { Thread } from "../backend/thread-store.ts";
import type { Message } from "../contracts/conversation/message.ts";
import { emptyMap, type JsonMap } from "../contracts/json.ts";

/** A session row. What threads do not know yet, such as an owner, is empty. */
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
  messages: readonly Message[],
): Session {
  return {
    session_id: id,
    workspace_type: "",
    workspace_id: "",
    owner_type: "",
    owner_key: "",
    user_id: 0,
    agent_slug: agent,
    title: key,
    messages,
    metadata: status === "terminated" ? { "holdfast/terminated": true } : emptyMap,
    provider: "",
    model: "",
    provider_response_id: null,
    context: "chat",
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
