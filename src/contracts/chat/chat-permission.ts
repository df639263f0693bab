// Who may chat with an agent, and who may look at, add to and stop the runs of a chat.
import { agentSlug } from "../agents/agent-slug.ts";
import { scalarText } from "../coerce.ts";
import type { Hooks } from "../hooks.ts";
import { asMap, type JsonMap, snapshotMap } from "../json.ts";
import { isOperationError } from "../operation-error.ts";
import { type AccessHost, canAccessAgent } from "../trust/agent-access.ts";
import { claimedOwner, isSameOwner } from "../trust/conversation-owner.ts";
import { currentPrincipal, type SessionHost } from "../trust/current-principal.ts";
import { accessScope, statedPrincipal } from "./chat-input.ts";

/** What decides. Whatever throws has decided nothing, and is thrown on. */
export type ChatAccessHost = SessionHost &
  AccessHost & {
    /** True when whoever is signed in administers the host. */
    readonly isAdministrator?: boolean | undefined;
    /** True when whoever is signed in may read there at all. */
    readonly mayRead?: boolean | undefined;
    readonly hooks?: Hooks | undefined;
  };

/**
 * True when the agent may be talked with. A principal that a host states is allowed by the host alone, whatever it was
 * granted; one that is broken is allowed by nobody.
 */
export async function mayChat(input: unknown, host: ChatAccessHost): Promise<boolean> {
  const given = snapshotMap(input);
  const { hooks, isAdministrator = false } = host;
  const stated = statedPrincipal(given);
  if (isOperationError(stated)) return false;
  const allowed =
    stated === null
      ? isAdministrator || (await hasRole("operator", given, host))
      : ((await hooks?.apply("chatRuntimePrincipalPermission", isAdministrator, stated, given)) ?? isAdministrator);
  return (await hooks?.apply("chatPermission", allowed, given)) ?? allowed;
}

/** What somebody wants of a run: to look at it, to see all of it, to leave a message behind it, or to stop it. */
export type RunWish = "read" | "unredacted" | "enqueue" | "cancel";

const seams = {
  read: "chatRunReadPermission",
  unredacted: "chatRunUnredactedReadPermission",
  enqueue: "chatRunEnqueuePermission",
  cancel: "chatRunCancelPermission",
} as const;

/** True when whoever asks may do this with the runs of a chat. */
export async function mayControlRun(wish: RunWish, input: unknown, host: ChatAccessHost): Promise<boolean> {
  const given = snapshotMap(input);
  const { hooks } = host;
  const usually = await mayUsually(wish, given, host);
  const allowed = (await hooks?.apply(seams[wish], usually, given)) ?? usually;
  return (await hooks?.apply("chatRunControlPermission", allowed, given, wish)) ?? allowed;
}

async function mayUsually(wish: RunWish, given: JsonMap, host: ChatAccessHost): Promise<boolean> {
  const { isAdministrator = false, mayRead = false, currentUserId = 0 } = host;
  // Where an agent is named, that it was granted is all that counts, for administrators too.
  if (wish === "read")
    return agentSlug(given.agent) === "" ? mayRead : await hasRole("viewer", inItsPlace(given), host);
  if (isAdministrator || (await hasRole("operator", inItsPlace(given), host))) return true;
  if (wish === "unredacted" || currentUserId <= 0) return false;
  return isSameOwner(claimedOwner(given), { type: "user", key: String(currentUserId) });
}

/** The input with the workspace of the run as the one to look the grant up in, where no other is named. */
function inItsPlace(given: JsonMap): JsonMap {
  const workspace_id = scalarText(asMap(given.workspace)?.workspace_id);
  return workspace_id === undefined || given.workspace_id != null ? given : { ...given, workspace_id };
}

async function hasRole(role: string, given: JsonMap, host: ChatAccessHost): Promise<boolean> {
  const agent = agentSlug(given.agent);
  const scope = accessScope(given);
  const acting = await currentPrincipal({ ...scope }, host);
  return acting !== null && (await canAccessAgent(acting, agent, role, { ...scope }, host));
}
