// What steps call: operations by their names, agents among them. The runtime passes this port to the drivers.
import type { Json } from "../../contracts/json.ts";

export type OperationCall = {
  /** Fires when the result is not needed any more. */
  readonly signal?: AbortSignal | undefined;
  /** The same for every attempt at this step of this run; another one for every other step, item and run. */
  readonly idempotencyKey: string;
};

export interface Operations {
  has(name: string): boolean | Promise<boolean>;
  /** What the operation returns. A refusal is an operation error that is returned; what goes wrong is thrown. */
  call(name: string, input: Json, call: OperationCall): unknown;
}
