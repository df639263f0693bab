// How an operation refuses: a value with a code, returned and never thrown, because its caller planned for it.
import { errorMessage, HoldfastError } from "./error.ts";
import { isMap, type JsonMap } from "./json.ts";

export type OperationError = { readonly code: string; readonly message: string; readonly data?: JsonMap };

/** A refusal with a stable code and a sentence about it. */
export function operationError(code: string, message: string, data?: JsonMap): OperationError {
  return Object.freeze(data === undefined ? { code, message } : { code, message, data });
}

/** True for a code and a message with nothing but data beside them; a record that has such fields among others is none. */
export function isOperationError(value: unknown): value is OperationError {
  if (!isMap(value) || typeof value.code !== "string" || typeof value.message !== "string") return false;
  return Object.keys(value).every((key) => key === "code" || key === "message" || key === "data");
}

/** What was thrown, as a refusal: one of our errors keeps its code, anything else gets the one that is given. */
export function operationErrorOf(thrown: unknown, otherwise: string): OperationError {
  try {
    if (thrown instanceof HoldfastError) return operationError(thrown.code, thrown.detail);
  } catch {
    // What cannot even be looked at is none of ours.
  }
  return operationError(otherwise, errorMessage(thrown));
}
