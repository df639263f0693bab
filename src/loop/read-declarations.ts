// The tools that a caller declares: which can be used, and why the others cannot.
import { sensitiveParameters } from "../contracts/abilities/dispatcher.ts";
import { abilityIn } from "../contracts/abilities/executor.ts";
import { nonEmptyString, trimmed } from "../contracts/coerce.ts";
import { errorMessage } from "../contracts/error.ts";
import { asMap, isContainer, isMap, seal } from "../contracts/json.ts";
import * as actionPolicy from "../contracts/tools/action-policy.ts";
import {
  aliasesOf,
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
  const declared = new Map<string, ToolDeclaration>();
  const accepted = new Map<string, ToolDeclaration>();
  const rejected: RejectedDeclaration[] = [];
  const isList = Array.isArray(value);
  for (const [key, given] of Object.entries<unknown>(isContainer(value) ? value : {})) {
    try {
      const declaration = readDeclaration(given, isList ? undefined : key, options);
      // A second one might lift what guards the first, such as its action policy.
      if (declared.has(declaration.name)) throw new Error("it is declared before");
      declared.set(declaration.name, declaration);
      const unreadable = actionPolicy.unreadableField(declaration);
      if (unreadable) throw new Error(`${unreadable} must be direct, preview or forbidden`);
      accepted.set(declaration.name, declaration);
    } catch (thrown) {
      const name = isList ? nameIn(given) : key;
      rejected.push(seal({ name, reason: errorMessage(thrown) }));
    }
  }
  for (const { name, reason } of ambiguous([...declared.values()])) {
    if (accepted.delete(name)) rejected.push(seal({ name, reason }));
  }
  return { accepted: Object.freeze(Object.fromEntries(accepted)), rejected: seal(rejected) };
}

function readDeclaration(given: unknown, key: string | undefined, options: RunOptions): ToolDeclaration {
  const declaration = asMap(given);
  if (declaration === undefined) throw new Error("declaration must be an array");
  const named = declaration.name === undefined && key !== undefined ? { ...declaration, name: key } : declaration;
  return normalizeForConversationRequest(asAbility(named, options));
}

function nameIn(declaration: unknown): string {
  return (isMap(declaration) && nonEmptyString(declaration.name)) || "";
}

/**
 * Those that claim a name by which the model already calls another: it would get one tool and mean the other. The host's
 * come first, so that a client cannot take their calls, not even those of a tool that is rejected itself.
 */
function ambiguous(declarations: readonly ToolDeclaration[]): readonly RejectedDeclaration[] {
  const owners = new Map<string, string>(declarations.map(({ name }) => [name, name]));
  const rejected: RejectedDeclaration[] = [];
  const isClients = ({ executor }: ToolDeclaration) => executor === "client";
  for (const declaration of [...declarations.filter((each) => !isClients(each)), ...declarations.filter(isClients)]) {
    const { name } = declaration;
    const names = aliasesOf(declaration);
    const taken = names.find((alias) => (owners.get(alias) ?? name) !== name);
    if (taken !== undefined)
      rejected.push({ name, reason: `the model calls ${owners.get(taken)} by the name ${taken}` });
    for (const alias of names) if (!owners.has(alias)) owners.set(alias, name);
  }
  return rejected;
}

/**
 * The declaration with what the ability behind it brings: its name, by which policies find its category, whether it
 * destroys, and what it declares sensitive, because the transcript is redacted by the declaration.
 */
function asAbility(declaration: unknown, { abilities, toolExecutor }: RunOptions): unknown {
  if (!abilities || !isMap(declaration) || declaration.executor === "client") return declaration;
  const ability = abilityIn(declaration) ?? (toolExecutor ? undefined : trimmed(declaration.name));
  const known = ability === undefined ? undefined : abilities.get(ability);
  if (ability === undefined || !known) return declaration;
  // Of a copy, because what is worked out for a definition is remembered, and the caller may still change his.
  const secrets = [...sensitivePaths({ ...declaration }), ...sensitiveParameters(ability, abilities)];
  // A scope that was filled in earlier must not look as if it had been stated.
  const { scope, ...rest } = declaration;
  return {
    ...rest,
    ...(statesScope(declaration) && { scope }),
    ability,
    ...(known.annotations?.destructive === true && { write: true }),
    ...(secrets.length > 0 && { sensitive_parameters: secrets }),
  };
}
