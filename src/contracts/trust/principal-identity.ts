// Who a principal is, and how much it may do, in one text: what has to be the same where one acts in the place of another.
import { sortedText } from "../canonical-json.ts";
import type { Principal } from "./principal.ts";

/**
 * What a request brings along differs from one to the next; these do not: whoever comes with less would have somebody else do
 * more for him.
 */
export function principalIdentity(principal: Principal): string {
  const { capability_ceiling, client_id } = principal;
  return sortedText({ ...personOf(principal), client_id, capability_ceiling });
}

/** True when both are the same person, who came the same way, whatever narrows them. */
export function isSamePerson(one: Principal, other: Principal): boolean {
  return sortedText(personOf(one)) === sortedText(personOf(other));
}

function personOf({ acting_user_id, auth_source, token_id, audience_id }: Principal) {
  return { acting_user_id, auth_source, token_id, audience_id };
}
