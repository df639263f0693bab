// Who acts in a request that came without a token: whoever the host says, the user who is signed in, or one of everybody.
import { truthy } from "../coerce.ts";
import { isMap, type UnknownMap } from "../json.ts";
import { PUBLIC_AUDIENCE } from "./agent-access.ts";
import * as principal from "./principal.ts";
import { optionalText, textField } from "./record-fields.ts";

export type SessionHost = {
  /** The user who is signed in; 0 is nobody. */
  readonly currentUserId?: number | undefined;
  /** A host's own answer: a principal or the record of one, or null to leave it to the session. */
  readonly resolvePrincipal?: ((context: UnknownMap) => unknown) | undefined;
};

/** Stands in for the agent where a user acts for none in particular. */
const SESSION_AGENT = "__wordpress_user__";

/**
 * The principal that the context states, else the one that the host resolves, else the session's user, else
 * one of the public audience; null when the context lets nobody in whom nobody knows. Throws what is wrong with a
 * principal that is stated or resolved.
 */
export async function currentPrincipal(
  context: UnknownMap,
  { currentUserId = 0, resolvePrincipal }: SessionHost = {},
): Promise<principal.Principal | null> {
  if (isMap(context.principal)) return principal.fromArray(context.principal);
  const resolved = principal.resolve(await resolvePrincipal?.(context));
  if (resolved !== null) return resolved;
  const scope = {
    request_context: context.request_context == null ? "rest" : textField(context.request_context),
    request_metadata: context.request_metadata,
    workspace_id: optionalText(context.workspace_id),
    client_id: optionalText(context.client_id),
  };
  if (currentUserId > 0) return principal.userSession(currentUserId, SESSION_AGENT, scope);
  const { allow_anonymous_audience: anonymous } = context;
  if (anonymous !== undefined && !truthy(anonymous)) return null;
  return principal.audience(PUBLIC_AUDIENCE, PUBLIC_AUDIENCE, scope);
}
