// A refusal on its way to the door, which tells it in its own protocol.
import { brief, briefRefusal } from "../../abilities/brief-refusal.ts";
import { type OperationError, operationError, operationErrorOf } from "../../contracts/operation-error.ts";

export class Refused extends Error {
  override readonly name = "Refused";
  readonly refusal: OperationError;

  constructor(refusal: OperationError) {
    super(refusal.message);
    this.refusal = briefRefusal(refusal);
  }
}

/** What a client has sent cannot be meant so. `param`: where in it. */
export function invalidInput(message: string, param?: string): Refused {
  const data = param === undefined ? undefined : { param: brief(param) };
  return new Refused(operationError("invalid_input", message, data));
}

/** What was thrown, as a refusal. */
export function refusalOf(thrown: unknown): OperationError {
  return thrown instanceof Refused ? thrown.refusal : operationErrorOf(thrown, "internal_error");
}
