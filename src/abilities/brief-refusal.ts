// A refusal that repeats what was asked for repeats no more than its beginning: who sends a megabyte is not sent it back.
import { type OperationError, operationError } from "../contracts/operation-error.ts";

const LONGEST_QUOTE = 200;
const LONGEST_MESSAGE = 2_000;

const QUOTED = new RegExp(`"([^"]{${LONGEST_QUOTE}})[^"]+"`, "g");

/** The text with what stands between quotation marks cut, and not too long itself. */
export function brief(text: string): string {
  if (text.length <= LONGEST_QUOTE) return text;
  const cut = text.replace(QUOTED, (_, kept: string) => `"${kept.toWellFormed()}…"`);
  return cut.length <= LONGEST_MESSAGE ? cut : `${cut.slice(0, LONGEST_MESSAGE).toWellFormed()}…`;
}

export function briefRefusal({ code, message, data }: OperationError): OperationError {
  return operationError(code, brief(message), data);
}
