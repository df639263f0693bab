// The most that an execution may do, whatever its user may: what a token or a client was given, as lists of capabilities.
// Whatever cannot be read here leads to less access, never to more.
import { numeric, trimmed } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { asMap, type JsonMap, seal, snapshot, snapshotMap, type UnknownMap } from "../json.ts";

export type CapabilityCeiling = {
  /** The user whose rights are the limit; 0 is nobody. */
  readonly user_id: number;
  /** Null allows whatever is not denied, an empty list nothing. */
  readonly allowed_capabilities: readonly string[] | null;
  /** Null says nothing about denying, an empty list that nothing is denied. */
  readonly denied_capabilities: readonly string[] | null;
  readonly metadata: JsonMap;
};

/** A frozen ceiling; throws `invalid_wp_agent_capability_ceiling` with the first field that is wrong. */
export function fromArray(value: unknown): CapabilityCeiling {
  const given = fieldsOf(value);
  const user_id = userId(given.user_id);
  if (user_id < 0) throw invalid("user_id must not be negative");
  return seal({
    user_id,
    allowed_capabilities: allowList(given.allowed_capabilities),
    denied_capabilities: denyList(given.denied_capabilities),
    metadata: metadataOf(given.metadata),
  });
}

/** True when the ceiling lets the capability pass; whether its user holds it is another question. Denied beats allowed. */
export function allows(ceiling: CapabilityCeiling, capability: unknown): boolean {
  const name = trimmed(capability);
  if (name === undefined || ceiling.denied_capabilities?.includes(name)) return false;
  return ceiling.allowed_capabilities?.includes(name) ?? true;
}

/** The number of a user. What is not a whole number, or too large to be told from its neighbours, is nobody: 0. */
export function userId(value: unknown): number {
  const number = numeric(value);
  return number !== undefined && Number.isSafeInteger(number) ? number : 0;
}

// What is not a name can allow nothing, so it is left out.
function allowList(value: unknown): readonly string[] | null {
  if (value == null) return null;
  const names = entriesOf(value, "allowed_capabilities").filter((name) => name !== undefined);
  return withoutBlanks(names, "allowed_capabilities");
}

// To leave out what was meant to be denied would allow it.
function denyList(value: unknown): readonly string[] | null {
  if (value == null) return null;
  const names = entriesOf(value, "denied_capabilities");
  if (!Array.isArray(value) || !names.every((name) => name !== undefined)) {
    throw invalid("denied_capabilities must be a list of names");
  }
  return withoutBlanks(names, "denied_capabilities");
}

/** The entries of a list as texts, and undefined for those that are none. What is not a list has no entries. */
function entriesOf(value: unknown, field: string): (string | undefined)[] {
  if (!Array.isArray(value)) return [];
  try {
    return (snapshot(value) as readonly unknown[]).map(nameOf);
  } catch (thrown) {
    throw invalid(`${field} cannot be read`, thrown);
  }
}

// Some hosts number their capabilities; the number is a name all the same.
function nameOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : undefined;
}

function withoutBlanks(names: string[], field: string): readonly string[] {
  if (names.some((name) => trimmed(name) === undefined)) throw invalid(`${field} must not hold a blank name`);
  return seal(names);
}

function metadataOf(value: unknown): JsonMap {
  try {
    return snapshotMap(value);
  } catch (thrown) {
    throw invalid("metadata cannot be written as JSON", thrown);
  }
}

function fieldsOf(value: unknown): UnknownMap {
  const given = asMap(value);
  if (given === undefined) throw invalid("the ceiling must be a map");
  try {
    return { ...given };
  } catch (thrown) {
    throw invalid("the ceiling cannot be read", thrown);
  }
}

function invalid(detail: string, cause?: unknown) {
  return holdfastError("invalid_wp_agent_capability_ceiling", detail, cause);
}
