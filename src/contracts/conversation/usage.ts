// What a run has used, added up over its turns.
import { numeric } from "../coerce.ts";
import { isEmpty, type Json, type JsonMap, seal, snapshotMap, type UnknownMap } from "../json.ts";

/** The three counts that are always there, and whatever else the provider reports. */
export type Usage = Readonly<Record<"prompt_tokens" | "completion_tokens" | "total_tokens", Json>> & JsonMap;

export const zero: Usage = seal({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });

/** The total with a turn added: a number adds to a number, also to one written as text; anything else replaces. */
export function add(total: Usage, turn: UnknownMap): Usage {
  if (isEmpty(turn)) return total;
  const sum: Record<string, Json> = {};
  for (const [key, reported] of Object.entries(snapshotMap(turn))) {
    const before = Object.hasOwn(total, key) ? total[key] : undefined;
    sum[key] = typeof reported === "number" ? (numeric(before) ?? 0) + reported : reported;
  }
  return seal({ ...total, ...sum });
}
