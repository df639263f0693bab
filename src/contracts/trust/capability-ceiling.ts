// The most that an execution may do, whatever its user may: what a token or a client was given, as lists of capabilities.
// Whatever cannot be read here leads to less access, never to more.
import { createBrand } from "../brand.ts";
import { trimmed } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { isContainer, type JsonMap, seal } from "../json.ts";
import { allowList, denyList } from "./capability-names.ts";
import { mapField, readFields } from "./record-fields.ts";
import { userId } from "./user-id.ts";

export type CapabilityCeiling = {
  /** The user whose rights are the limit; 0 is nobody. */
  readonly user_id: number;
  /** Null allows whatever is not denied, an empty list nothing. */
  readonly allowed_capabilities: readonly string[] | null;
  /** Null says nothing about denying, an empty list that nothing is denied. */
  readonly denied_capabilities: readonly string[] | null;
  readonly metadata: JsonMap;
};

const ceilings = createBrand();

/** A frozen ceiling; throws `invalid_wp_agent_capability_ceiling` with the first field that is wrong. */
export function fromArray(value: unknown): CapabilityCeiling {
  // Asked about at every call, and made only here.
  if (isContainer(value) && ceilings.has(value)) return value as CapabilityCeiling;
  const given = readFields(value, invalid);
  const user_id = userId(given.user_id);
  if (user_id < 0) throw invalid("user_id must not be negative");
  const ceiling = {
    user_id,
    allowed_capabilities: allowList(given.allowed_capabilities, "allowed_capabilities", invalid),
    denied_capabilities: denyList(given.denied_capabilities, "denied_capabilities", invalid),
    metadata: mapField(given, "metadata", invalid),
  };
  ceilings.mark(ceiling);
  return seal(ceiling);
}

/** True when the ceiling lets the capability pass; whether its user holds it is another question. Denied beats allowed. */
export function allows(ceiling: CapabilityCeiling, capability: unknown): boolean {
  const name = trimmed(capability);
  if (name === undefined || ceiling.denied_capabilities?.includes(name)) return false;
  return ceiling.allowed_capabilities?.includes(name) ?? true;
}

function invalid(detail: string, cause?: unknown) {
  return holdfastError("invalid_wp_agent_capability_ceiling", detail, cause);
}
