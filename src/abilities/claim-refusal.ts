// Who a caller of chats says to be. The contract takes the word of somebody who owns nothing; here the door knows everybody,
// so a claim can only repeat who the caller is.
import type { UnknownMap } from "../contracts/json.ts";
import { type OperationError, operationError } from "../contracts/operation-error.ts";
import { claimedOwner, conversationOwner, isSameOwner } from "../contracts/trust/conversation-owner.ts";
import type { Principal } from "../contracts/trust/principal.ts";

/** Why the claim of an input cannot stand; undefined without one. What is no claim at all is left to the contract. */
export function claimRefusal(input: UnknownMap, principal: Principal): OperationError | undefined {
  const claimed = claimedOwner(input);
  if (claimed === null || claimed.type === "" || claimed.key === "") return undefined;
  if (isSameOwner(claimed, conversationOwner(principal))) return undefined;
  return operationError("agents_chat_run_owner_forbidden", "The runs of another owner cannot be asked for.");
}
