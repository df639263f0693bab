// The state of a plugin: one JSON object, and what an answer makes of it.
import { byteLength } from "../../canonical-json.ts";
import { holdfastError } from "../../error.ts";
import type { JsonMap } from "../../json.ts";

/** Of the stored JSON text in UTF-8. */
export const MAX_STATE_BYTES = 1024 * 1024;

/**
 * The state with the updates: each of their top-level keys replaces what was there, nested maps are not merged. Throws
 * `plugin_state_too_large`.
 */
export function mergeState(before: JsonMap, updates: JsonMap): JsonMap {
  return limited({ ...before, ...updates });
}

/** The updates as the whole state: what a mirrored fact makes of it. Throws `plugin_state_too_large`. */
export function replaceState(updates: JsonMap): JsonMap {
  return limited({ ...updates });
}

function limited(state: JsonMap): JsonMap {
  const bytes = byteLength(JSON.stringify(state));
  if (bytes <= MAX_STATE_BYTES) return state;
  throw holdfastError(
    "plugin_state_too_large",
    `The plugin's state would take ${bytes} bytes of JSON; ${MAX_STATE_BYTES} are the most.`,
  );
}
