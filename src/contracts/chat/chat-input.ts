// What somebody says to an agent, as far as it is looked at before anybody answers: who is said to speak, where the grant
// for it is looked up, and what a client must not bring along.
import { errorMessage } from "../error.ts";
import { asMap, emptyMap, type Json, type JsonMap, seal, snapshotMap, type UnknownMap } from "../json.ts";
import { type OperationError, operationError } from "../operation-error.ts";
import * as principal from "../trust/principal.ts";
import { optionalText } from "../trust/record-fields.ts";

/** Which tools there are is for the server to say: a client that could declare one could have it called. */
const serverOnly: ReadonlySet<string> = new Set([
  "runtime_tools",
  "runtime_tool_declarations",
  "tool_declarations",
  "runtime_tool_callback",
  "runtime_tool_timeout",
]);

/** Where a client says it is, without what it must not bring along; anything that is no map is an empty one. */
export function safeClientContext(value: unknown): JsonMap {
  const kept = Object.entries(snapshotMap(value)).filter(([key]) => !serverOnly.has(key));
  return seal(Object.fromEntries(kept));
}

/** The input with its client context made safe: the only form in which it is used. */
export function safeInput(input: unknown): JsonMap {
  const given = snapshotMap(input);
  if (given.client_context === undefined) return given;
  return seal({ ...given, client_context: safeClientContext(given.client_context) });
}

export type AccessScope = {
  readonly request_context: "rest";
  readonly workspace_id?: string | null;
  readonly client_id?: string | null;
  readonly client_context?: JsonMap;
  readonly request_metadata?: { readonly client_context: JsonMap };
};

/** What a grant is looked up with. */
export function accessScope(input: unknown): AccessScope {
  const given = asMap(input) ?? emptyMap;
  const scope: { -readonly [Field in keyof AccessScope]: AccessScope[Field] } = { request_context: "rest" };
  // Somebody who says that there is no workspace says more than somebody who says nothing.
  for (const field of ["workspace_id", "client_id"] as const) {
    if (given[field] !== undefined) scope[field] = optionalText(given[field]);
  }
  if (asMap(given.client_context) !== undefined) {
    const client_context = safeClientContext(given.client_context);
    scope.client_context = client_context;
    scope.request_metadata = seal({ client_context });
  }
  return seal(scope);
}

/** The principal that a trusted host states; null when it states none. */
export function statedPrincipal({ principal: stated }: UnknownMap): principal.Principal | null | OperationError {
  if (stated == null) return null;
  if (asMap(stated) === undefined) return invalidPrincipal("principal must be a map");
  try {
    return principal.fromArray(stated);
  } catch (thrown) {
    return invalidPrincipal(errorMessage(thrown));
  }
}

/** A handler's answer with the fields that have names: what is only numbered is no field of a record. */
export function namedFields(answer: JsonMap): { readonly [key: string]: Json } {
  return Object.fromEntries(Object.entries(answer).filter(([key]) => !/^(?:0|-?[1-9]\d*)$/.test(key)));
}

function invalidPrincipal(detail: string): OperationError {
  return operationError("agents_chat_invalid_principal", detail);
}
