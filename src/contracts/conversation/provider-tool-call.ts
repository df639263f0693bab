// A tool call as a provider's answer states it, before it is matched with a declaration.
import { nonEmptyString } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { asMap, isContainer, isEmpty, isMap, type JsonMap, seal, snapshotMap, type UnknownMap } from "../json.ts";

export type ProviderToolCall = {
  readonly name: string;
  readonly parameters: JsonMap;
  readonly id?: string;
  readonly metadata?: JsonMap;
};

/** The calls of an answer, frozen. Throws `invalid_agent_provider_turn_result`, naming the entry and its field. */
export function normalizeMany(value: unknown): readonly ProviderToolCall[] {
  if (Array.isArray(value)) return seal(value.map((call, index) => normalize(call, `tool_calls[${index}]`)));
  if (isMap(value) && isEmpty(value)) return seal([]);
  throw invalid("tool_calls must be a list");
}

function normalize(value: unknown, path: string): ProviderToolCall {
  if (!isContainer(value)) throw invalid(`${path} must be a map`);
  const call = value as UnknownMap;
  const name = nonEmptyString(call.name ?? call.tool_name);
  if (name === undefined) throw invalid(`${path}.name must be a non-empty string`);
  if (call.parameters != null && !isContainer(call.parameters)) throw invalid(`${path}.parameters must be a map`);
  const id = nonEmptyString(call.id);
  return seal({
    name,
    parameters: snapshotMap(call.parameters),
    ...(id === undefined ? {} : { id }),
    ...(asMap(call.metadata) ? { metadata: snapshotMap(call.metadata) } : {}),
  });
}

function invalid(detail: string) {
  return holdfastError("invalid_agent_provider_turn_result", detail);
}
