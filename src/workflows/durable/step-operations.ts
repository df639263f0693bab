// The operations of the runtime as steps call them: as the principal of the run, and never those that decide for people.
import type { Desk } from "../../abilities/desk.ts";
import type { Operation } from "../../abilities/operation.ts";
import { conversationOwner } from "../../contracts/trust/conversation-owner.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { StepOperations } from "./run-host.ts";

/** `desk` is asked only when a step calls: it is made with everything that it offers. */
export function stepOperations(desk: () => Desk, principal: Principal): StepOperations {
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
      return operation !== undefined && (operation.annotations?.idempotent === true || hasKeys);
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
