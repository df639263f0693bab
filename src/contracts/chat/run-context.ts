// Whose a chat run is, and where: what run control goes by, read from what a caller says and from what the host knows.
import { identifier } from "../coerce.ts";
import { asMap, emptyMap, seal } from "../json.ts";
import { type OperationError, operationError } from "../operation-error.ts";
import { type ConversationOwner, conversationOwner, isSameOwner, ownerType } from "../trust/conversation-owner.ts";
import { currentPrincipal, type SessionHost } from "../trust/current-principal.ts";
import type { Principal } from "../trust/principal.ts";
import * as workspaces from "../workspace.ts";

export type ChatRunContext = {
  readonly workspace: workspaces.Workspace | null;
  readonly owner: ConversationOwner | null;
};

export type RunContextHost = SessionHost & {
  /** False where runs are kept without a workspace; they are kept with one unless given. */
  readonly knowsWorkspaces?: boolean | undefined;
};

/**
 * The workspace that is named and the owner: the principal's, or the one that somebody claims to be who owns nothing. A
 * claim never makes anybody somebody else.
 */
export async function chatRunContext(
  input: unknown,
  host: RunContextHost = {},
): Promise<ChatRunContext | OperationError> {
  const given = asMap(input) ?? emptyMap;
  const workspace = given.workspace === undefined ? null : workspaces.read(given.workspace);
  if (workspace === undefined) return refused("invalid_workspace", "workspace must have a type and an id.");
  const acting = await actingPrincipal(given.principal, host);
  if (acting === undefined) return refused("invalid_principal", "The principal cannot be read.");
  const claimed = claimedOwner(given.session_owner);
  if (claimed !== null && (claimed.type === "" || claimed.key === "")) {
    return refused("invalid_owner", "An owner of a run has a type and a key.");
  }
  const own = acting && conversationOwner(acting);
  if (claimed !== null && own !== null && !isSameOwner(claimed, own)) {
    return refused("owner_forbidden", "The runs of another owner cannot be asked for.");
  }
  const owner = own ?? claimed;
  if (workspace !== null && owner === null) {
    return refused("owner_required", "A run in a workspace belongs to somebody.");
  }
  if (workspace !== null && host.knowsWorkspaces === false) {
    return refused("workspace_unsupported", "Runs are kept without workspaces here.");
  }
  return seal({ workspace, owner });
}

/** Whom a caller claims to be: what it says of itself in passing, as in its client context, is no claim to runs. */
function claimedOwner(value: unknown): ConversationOwner | null {
  const claim = asMap(value);
  return claim ? seal({ type: ownerType(claim.type), key: identifier(claim.key) ?? "" }) : null;
}

/** Null for somebody whom nobody knows; undefined for a principal that is none. Only a record states a principal. */
async function actingPrincipal(stated: unknown, host: SessionHost): Promise<Principal | null | undefined> {
  try {
    return await currentPrincipal({ principal: stated, allow_anonymous_audience: false }, host);
  } catch {
    return undefined;
  }
}

function refused(code: string, message: string): OperationError {
  return operationError(`agents_chat_run_${code}`, message);
}
