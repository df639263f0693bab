// The answer to a pending action: yes or no, and whether it is to be remembered.
import { holdfastError } from "../error.ts";

export type ApprovalDecision = {
  readonly value: "accepted" | "rejected";
  /** True when an approval memory is to keep the decision for the next time. */
  readonly remember: boolean;
};

/**
 * A decision from its exact word. Nothing is trimmed or lowered, because what is not plainly a yes must not become one;
 * throws `invalid_ai_approval_decision`.
 */
export function fromString(value: unknown, remember: unknown = false): ApprovalDecision {
  if (value !== "accepted" && value !== "rejected") {
    throw holdfastError("invalid_ai_approval_decision", "value must be accepted or rejected");
  }
  return Object.freeze({ value, remember: remember === true });
}
