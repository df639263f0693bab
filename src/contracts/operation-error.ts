// How an operation refuses: a value with a code, returned and never thrown, because its caller planned for it.
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
