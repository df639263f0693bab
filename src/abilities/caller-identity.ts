// Who a caller is for what is done once: whoever comes with less, as another agent or through somebody else is another one,
// because he would be told what the first one was told.
import { sha256, sortedText } from "../contracts/canonical-json.ts";
import type { JsonMap } from "../contracts/json.ts";
import type { Principal } from "../contracts/trust/principal.ts";

/** Without what differs from one request to the next. */
export function callerIdentity(principal: Principal): JsonMap {
  const { auth_source, acting_user_id, token_id, client_id, workspace_id, audience_id, owner_type, owner_key } =
    principal;
  const { effective_agent_id, capability_ceiling, caller_context } = principal;
  const { caller_agent_id = null, caller_host = null } = caller_context ?? {};
  return {
    ...{ auth_source, acting_user_id, token_id, client_id, workspace_id, audience_id, owner_type, owner_key },
    ...{ effective_agent_id, capability_ceiling: capability_ceiling && { ...capability_ceiling } },
    ...{ caller_agent_id, caller_host },
  } as JsonMap;
}

/** What is left of a key that is too long to have something before it. */
const LONGEST_KEY_BYTES = 1_900;

/**
 * The key under which something is left on a thread. Others reach the same thread, and a key of theirs is not this one,
 * though it be spelled alike.
 */
export function entryKey(principal: Principal, key: string): string;
export function entryKey(principal: Principal, key: string | undefined): string | undefined;
export function entryKey(principal: Principal, key: string | undefined): string | undefined {
  if (key === undefined) return undefined;
  const short = Buffer.byteLength(key) > LONGEST_KEY_BYTES ? sha256(key) : key;
  return `${sha256(sortedText(callerIdentity(principal))).slice(0, 16)}:${short}`;
}
