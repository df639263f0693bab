// The operations of the runtime as steps call them: as the principal of the run, and never those that decide for people.
import type { Desk } from "../../abilities/desk.ts";
import { findOutcome } from "../../abilities/once.ts";
import type { Operation } from "../../abilities/operation.ts";
import { conversationOwner } from "../../contracts/trust/conversation-owner.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { FirstOutcomes } from "../../threads/first-outcomes.ts";
import type { StepOperations } from "./run-host.ts";

/** `desk` is asked only when a step calls: it is made with everything that it offers. */
export function stepOperations(desk: () => Desk, outcomes: FirstOutcomes, principal: Principal): StepOperations {
  // A key is kept by its caller: without an identity of its own a caller would share it with others.
  const hasKeys = principal.auth_source === "system" || conversationOwner(principal) !== null;
  const offered = (name: string): Operation | undefined => {
    const operation = desk().get(name);
    return operation?.doors.includes("workflow") ? operation : undefined;
  };
  return {
    has: (name) => offered(name) !== undefined,
    isRepeatable(name) {
      const operation = offered(name);
      return operation !== undefined && (operation.effect === "read" || operation.annotations?.idempotent === true);
    },
    async firstAnswer(name, key) {
      return hasKeys && offered(name) ? await findOutcome(outcomes, { principal, operation: name, key }) : "lost";
    },
    async call(name, input, { idempotencyKey, signal }) {
      const isRead = offered(name)?.effect === "read";
      return await desk().call(name, input, {
        ...{ principal, door: "workflow" },
        ...(!isRead && hasKeys && { key: idempotencyKey }),
        ...(signal && { signal }),
      });
    },
  };
}
