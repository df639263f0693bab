// Whether an execution may do something: every ceiling must let it pass, and every user it acts for must hold it.
import { trimmed } from "../coerce.ts";
import { isMap, type UnknownMap } from "../json.ts";
import { whenReady } from "../when-ready.ts";
import * as capabilityCeiling from "./capability-ceiling.ts";
import { userId } from "./user-id.ts";

/** The host's own answer: whether a user holds a capability. */
export type HoldsCapability = (
  userId: number,
  capability: string,
  /** Where it is asked for, where that matters. */
  about?: { readonly workspace_id?: string },
) => boolean | PromiseLike<boolean>;

/**
 * True when the principal may do it. A ceiling in the context narrows the principal's own and never replaces it; one
 * that cannot be read refuses. What `holds` throws is thrown on.
 */
export function can(
  principal: unknown,
  capability: unknown,
  context: UnknownMap,
  holds: HoldsCapability,
): boolean | Promise<boolean> {
  const name = trimmed(capability);
  if (name === undefined || !isMap(principal)) return false;
  const users = usersAllowed(principal, name, context);

  const allHold = ([user, ...others]: readonly number[]): boolean | Promise<boolean> => {
    if (user === undefined) return true;
    return whenReady(holds(user, name), (held) => held === true && allHold(others));
  };
  return users.length > 0 && users.every((user) => user > 0) && allHold(users);
}

/** The users who must hold the capability; none when a ceiling refuses it or cannot be read. */
function usersAllowed(principal: UnknownMap, capability: string, context: UnknownMap): readonly number[] {
  try {
    const given = [principal.capability_ceiling, context.capability_ceiling].filter((ceiling) => ceiling != null);
    if (given.length === 0) return [userId(principal.acting_user_id)];
    const ceilings = given.map(capabilityCeiling.fromArray);
    const allowed = ceilings.every((ceiling) => capabilityCeiling.allows(ceiling, capability));
    return allowed ? [...new Set(ceilings.map(({ user_id }) => user_id))] : [];
  } catch {
    return [];
  }
}
