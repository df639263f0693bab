// A host's handler, which does the work of an operation: where it is found, and what it says.
import type { Hooks } from "./hooks.ts";
import { asMap, type JsonMap, snapshot } from "./json.ts";
import { type OperationError, operationErrorOf } from "./operation-error.ts";
import type { FilterName, Handler, HookFilters } from "./seams.ts";

/** The seams that name a handler for an input. */
export type HandlerSeam = {
  [Name in FilterName]: HookFilters[Name] extends { value: Handler | null; about: [input: JsonMap] } ? Name : never;
}[FilterName];

/** The handler that the hooks name, or else the host's own. */
export async function findHandler(
  seam: HandlerSeam,
  own: Handler | undefined,
  input: JsonMap,
  hooks: Hooks | undefined,
): Promise<Handler | undefined> {
  return (await hooks?.apply(seam, own ?? null, input)) ?? own;
}

/** What a handler answers: a map, a refusal, or undefined for anything else. What it throws is a refusal with `failed`. */
export async function askHandler(
  handler: Handler,
  input: JsonMap,
  failed: string,
): Promise<JsonMap | OperationError | undefined> {
  let answer: unknown;
  try {
    answer = await handler(input);
    if (answer instanceof Error) return operationErrorOf(answer, failed);
  } catch (thrown) {
    return operationErrorOf(thrown, failed);
  }
  try {
    return asMap(snapshot(answer)) as JsonMap | undefined;
  } catch {
    return undefined; // an answer that is not JSON is no answer
  }
}
