// What every reader of text agrees on: how a call may be named, what it may carry, and how many are taken.
import { trim, trimmed } from "../../coerce.ts";
import { emptyMap, isContainer, isMap, type Json, type JsonMap, snapshot, snapshotMap } from "../../json.ts";
import { decodeEntities } from "./entities.ts";

export type TextToolCall = { readonly name: string; readonly parameters: JsonMap; readonly id: string };

export const MOST_MATCHES = 16;
const MOST_PARAMETERS = 32;

const TOOL_NAME = /^[A-Za-z0-9_/.:-]{1,128}$/;
const PARAMETER_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/;

/** The call, or undefined when it has no usable name. Parameters without a usable name or beyond the limit are dropped. */
export function textToolCall(
  name: unknown,
  parameters: Iterable<readonly [string, Json]>,
  id: string,
): TextToolCall | undefined {
  const toolName = trimmed(name);
  if (toolName === undefined || !TOOL_NAME.test(toolName)) return undefined;
  const kept = new Map<string, Json>();
  for (const [key, value] of parameters) {
    if (kept.size === MOST_PARAMETERS) break;
    const parameterName = trim(key);
    if (PARAMETER_NAME.test(parameterName)) kept.set(parameterName, value);
  }
  return { name: toolName, parameters: snapshotMap(Object.fromEntries(kept)), id };
}

/** The map between two marks. Entities in it are decoded, unless only the text as it was written is JSON. */
export function parseBody(body: string): JsonMap | undefined {
  return parseMap(decodeEntities(body)) ?? parseMap(body);
}

/** The map that a JSON text spells, or undefined: text from a model is often nearly JSON, and that is no error. */
export function parseMap(text: string): JsonMap | undefined {
  try {
    const parsed = snapshot(JSON.parse(text));
    if (isMap(parsed)) return parsed;
    return isContainer(parsed) && parsed.length === 0 ? emptyMap : undefined;
  } catch {
    return undefined;
  }
}
