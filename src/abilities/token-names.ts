// Whether there is what a token is to be made with: one with a misspelt name would let its holder do less than was meant, and
// nobody would know why.
import { holdfastError } from "../contracts/error.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { Agent } from "../threads/agent.ts";
import { capabilities } from "./capabilities.ts";
import type { Workbench } from "./reach.ts";
import type { WantedToken } from "./token-limits.ts";

/** Throws `agent_not_found` and `capability_unknown`. Whom the caller acts as himself is somebody. */
export function checkTokenNames(
  { runtime: { agents } }: Pick<Workbench, "runtime">,
  { agent, allowed_capabilities }: Pick<WantedToken, "agent" | "allowed_capabilities">,
  { effective_agent_id }: Principal,
): void {
  if (agent !== effective_agent_id && !agents.has(agent)) {
    throw holdfastError("agent_not_found", `There is no agent "${agent}" here. ${UNCHECKED}`);
  }
  const known = new Set([...Object.keys(capabilities), ...[...agents.values()].flatMap(askedBy)]);
  const unknown = allowed_capabilities?.find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw holdfastError("capability_unknown", `Nothing here asks for the capability "${unknown}". ${UNCHECKED}`);
}

const UNCHECKED = "With unchecked it is taken as it is.";

/** The host's own words, as far as its tools ask for them. */
function askedBy({ tools, approvers }: Agent): readonly string[] {
  const rules = [...tools.values()].flatMap((tool) => [
    tool.declaration.required_capability,
    tool.approvers?.capability,
  ]);
  return [...rules, approvers?.capability].filter((name) => typeof name === "string");
}
