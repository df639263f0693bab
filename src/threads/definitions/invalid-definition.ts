// How a definition that cannot be used is told of: the field first, the definition behind it.
import { type HoldfastError, holdfastError } from "../../contracts/error.ts";

export type DefinitionKind = "agent" | "prompt" | "model" | "tool" | "hook" | "effect" | "endpoint";

export function invalidDefinition(
  kind: DefinitionKind,
  name: string | undefined,
  detail: string,
  cause?: unknown,
): HoldfastError {
  return holdfastError("invalid_definition", `${detail} (${name === undefined ? kind : `${kind} ${name}`})`, cause);
}
