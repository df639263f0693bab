// Which variables somebody has to set before a child can be created.
import type { Agent } from "../agent.ts";
import type { Host } from "../host.ts";
import { variableReader } from "./read-variable.ts";

export type Requirement = { readonly required: readonly string[]; readonly missing: readonly string[] };

/** The required names that are scoped to the child. What the parent has does not count for them. */
export async function requiredVariables(
  host: Host,
  agent: Agent,
  { given, userId }: { readonly given: Readonly<Record<string, string>>; readonly userId: string | null },
): Promise<Requirement> {
  const declared = host.registry.variablesOf(agent).filter(({ required: isRequired, scoped }) => isRequired && scoped);
  const required = declared.map(({ name }) => name);
  const read = variableReader(host, { values: given, userId, agent, sides: ["b", "a"] });
  const missing: string[] = [];
  for (const name of required) if ((await read(name)) === undefined) missing.push(name);
  return { required, missing };
}
