// Which instance of an agent is meant: one agent may be set up for many owners, and many times for one.
import { scalarText, trim } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { asMap, emptyMap, seal } from "../json.ts";
import { userId } from "../trust/user-id.ts";
import { agentSlug } from "./agent-slug.ts";

export type IdentityScope = {
  readonly agent_slug: string;
  /** 0 is nobody. */
  readonly owner_user_id: number;
  readonly instance_key: string;
};

/** The one spelling of a scope; throws `invalid_agent_identity_scope` with the first field that is wrong. */
export function normalize(value: unknown): IdentityScope {
  const given = asMap(value) ?? emptyMap;
  const agent_slug = agentSlug(given.agent_slug);
  if (agent_slug === "") throw invalid("agent_slug must not be empty");
  const owner_user_id = userId(given.owner_user_id);
  if (owner_user_id < 0) throw invalid("owner_user_id must not be negative");
  const instance_key = instanceKey(given.instance_key ?? "default");
  if (instance_key === "") throw invalid("instance_key must not be empty");
  return seal({ agent_slug, owner_user_id, instance_key });
}

/** One text for all three parts. Neither of the first two holds a colon, so no two scopes share a key. */
export function key({ agent_slug, owner_user_id, instance_key }: IdentityScope): string {
  return `${agent_slug}:${owner_user_id}:${instance_key}`;
}

/** A path of words in small letters: no space around its slashes, and a dash for whatever else is between letters. */
function instanceKey(value: unknown): string {
  const steps = (scalarText(value) ?? "").split("/").map((step) => trim(step, " \t\n\r\0\v\f"));
  // Lowered last, because lowering turns some letters beyond ASCII into ASCII ones.
  const cleaned = steps.join("/").replace(/[^A-Za-z0-9_.:/-]+/g, "-");
  return trim(cleaned, "-/").toLowerCase();
}

function invalid(detail: string) {
  return holdfastError("invalid_agent_identity_scope", detail);
}
