// A request to run one tool, in the one form that executors and mediators see.
import { nonEmptyString, trimmed } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { emptyMap, isContainer, isMap, type Json, type JsonMap, seal, snapshot } from "../json.ts";

/** One call of one tool. A call that has an `id` carries it in `metadata.tool_call_id` too. */
export type ToolCall = {
  readonly tool_name: string;
  readonly parameters: JsonMap;
  readonly metadata: JsonMap;
  readonly id?: string;
};

/** A call with its aliases resolved; throws `invalid_tool_call` without a name or with parameters that are no map. */
export function normalize(value: unknown): ToolCall {
  const call = snapshot(value);
  if (!isMap(call)) throw holdfastError("invalid_tool_call", "tool_call must be a map");
  const toolName = nonEmptyString(call.tool_name ?? call.name);
  if (toolName === undefined) throw holdfastError("invalid_tool_call", "tool_name must be a non-empty string");
  const parameters = parametersOf(call.parameters);
  const metadata = isMap(call.metadata) ? call.metadata : emptyMap;
  // The first id that is there decides, even when it turns out to be unusable.
  const id = trimmed(call.id ?? call.tool_call_id ?? metadata.tool_call_id);
  if (id === undefined) return seal({ tool_name: toolName, parameters, metadata });
  return seal({
    tool_name: toolName,
    parameters,
    metadata: seal({ ...metadata, tool_call_id: id }),
    id,
  });
}

function parametersOf(value: Json | undefined): JsonMap {
  const given = value ?? emptyMap;
  if (!isContainer(given)) throw holdfastError("invalid_tool_call", "parameters must be a map");
  // An empty map may arrive as `[]`; a list names no parameters.
  return isMap(given) ? given : emptyMap;
}
