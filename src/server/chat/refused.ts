// A refusal on its way to the door, which tells it in its own protocol.
import type { OperationError } from "../../contracts/operation-error.ts";

export class Refused extends Error {
  override readonly name = "Refused";
  readonly refusal: OperationError;

  constructor(refusal: OperationError) {
    super(refusal.message);
    this.refusal = refusal;
  }
}
