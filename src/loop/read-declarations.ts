// The tools that a caller declares: which can be used, and why the others cannot.
import { sensitiveParameters } from "../contracts/abilities/dispatcher.ts";
import { abilityIn } from "../contracts/abilities/executor.ts";
import { trimmed } from "../contracts/coerce.ts";
import { errorMessage } from "../contracts/error.ts";
import { isContainer, isMap, seal } from "../contracts/json.ts";
import {
  normalizeForConversationRequest,
  statesScope,
  type ToolDeclaration,
  type ToolMap,
} from "../contracts/tools/declaration.ts";
import { sensitivePaths } from "../contracts/tools/exposure.ts";
import type { RunOptions } from "./options.ts";

export type RejectedDeclaration = { readonly name: string; readonly reason: string };

/** Sorts the declarations into usable ones, by name, and refused ones with the reason. */
export function readDeclarations(options: RunOptions): { accepted: ToolMap; rejected: readonly RejectedDeclaration[] } {
  const value: unknown = options.toolDeclarations;
  const accepted: Record<string, ToolDeclaration> = {};
  const rejected: RejectedDeclaration[] = [];
  const isList = Array.isArray(value);
  for (const [key, given] of Object.entries<unknown>(isContainer(value) ? value : {})) {
    const named = isMap(given) && given.name === undefined && !isList ? { ...given, name: key } : given;
    try {
      const declaration = normalizeForConversationRequest(withSecrets(named, options));
      accepted[declaration.name] = declaration;
    } catch (thrown) {
      const name = isMap(named) ? trimmed(named.name) : undefined;
      rejected.push(seal({ name: name ?? key, reason: errorMessage(thrown) }));
    }
  }
  return { accepted: Object.freeze(accepted), rejected: seal(rejected) };
}

/** The declaration, with what the ability behind it declares sensitive: the transcript is redacted by the declaration. */
function withSecrets(declaration: unknown, { abilities, toolExecutor }: RunOptions): unknown {
  if (!abilities || !isMap(declaration)) return declaration;
  const ability = abilityIn(declaration) ?? (toolExecutor ? undefined : trimmed(declaration.name));
  const secrets = ability === undefined ? [] : sensitiveParameters(ability, abilities);
  if (secrets.length === 0) return declaration;
  // A scope that was filled in earlier must not look as if it had been stated.
  const { scope, ...rest } = declaration;
  const stated = statesScope(declaration) ? { scope } : {};
  return { ...rest, ...stated, sensitive_parameters: [...sensitivePaths(declaration), ...secrets] };
}
