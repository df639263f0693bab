// Calling an ability by its name, the one way to do it: whoever calls, the same permission is asked, the same gate stands
// before it and the same observers are told.
import { trimmed } from "../coerce.ts";
import { emptyMap, type Json, type JsonMap, snapshot, snapshotMap, type UnknownMap } from "../json.ts";
import { isOperationError, type OperationError, operationError, operationErrorOf } from "../operation-error.ts";
import { redact, sensitivePaths } from "../tools/exposure.ts";
import { perDefinition } from "../tools/per-definition.ts";
import type { PendingActionHost } from "../trust/stage-action.ts";
import type { Abilities, Ability } from "./ability.ts";
import { gate } from "./lifecycle.ts";

/** What a call is made with; the keeper is for actions that need approval. */
export type DispatchHost = PendingActionHost & {
  readonly abilities?: Abilities | undefined;
  /** Who asks and where; the ability gets it beside its input. */
  readonly context?: JsonMap | undefined;
  /** The declaration of the tool that is called, whose secrets observers are not shown either. */
  readonly declaration?: UnknownMap | undefined;
  /** Fires when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
  /** Told what was thrown: an answer has no more than its message. */
  readonly onThrown?: ((thrown: unknown, name: string) => void) | undefined;
};

/**
 * What the ability returns, or what a gate answers in its place. Never throws: everything that goes wrong comes back as
 * an operation error.
 */
export async function dispatch(name: unknown, parameters: unknown, host: DispatchHost): Promise<unknown> {
  const known = trimmed(name);
  if (known === undefined) return operationError("ability_name_missing", "The name of an ability must not be blank.");
  if (!host.abilities) return operationError("abilities_api_missing", "There are no abilities here.");
  try {
    const ability = host.abilities.get(known);
    if (!ability) return operationError("ability_not_found", `There is no ability "${known}".`);
    return await call(known, ability, snapshotMap(parameters), host);
  } catch (thrown) {
    host.onThrown?.(thrown, known);
    return operationErrorOf(thrown, "ability_exception");
  }
}

/** The parameters as others may see them: without what the ability declares sensitive, and without what a key's name gives away. */
export function redactedParameters(name: unknown, parameters: unknown, abilities: Abilities | undefined): JsonMap {
  const known = trimmed(name);
  const ability = known === undefined ? undefined : abilities?.get(known);
  return redact(snapshotMap(parameters), ability ? definitionOf(ability) : null);
}

/** The dotted paths of the parameters that an ability declares sensitive; none when there is no such ability. */
export function sensitiveParameters(name: string, abilities: Abilities): readonly string[] {
  const ability = abilities.get(name);
  return ability ? sensitivePaths(definitionOf(ability)) : [];
}

async function call(name: string, ability: Ability, input: JsonMap, host: DispatchHost): Promise<unknown> {
  const { hooks, context = emptyMap } = host;
  const permission = ability.permission === undefined || (await ability.permission(input, context));
  if (permission !== true) return refusalOf(name, permission);
  const observed = hooks?.has("abilityInvoked") || hooks?.has("abilityExecuted");
  const shown = observed ? redact(redact(input, definitionOf(ability)), host.declaration ?? null) : emptyMap;
  hooks?.emit("abilityInvoked", name, shown);
  const answer = hooks && (await gate(name, input, host));
  if (answer && !answer.passed) return answer.value;
  if (host.signal?.aborted) return operationError("ability_aborted", `"${name}" was stopped before it began.`);
  const result = await execute(name, ability, input, host);
  if (hooks?.has("abilityExecuted")) hooks.emit("abilityExecuted", name, shown, observable(result));
  return result;
}

function refusalOf(name: string, permission: unknown): OperationError {
  if (isOperationError(permission)) return permission;
  return operationError("ability_invalid_permissions", `The ability "${name}" may not be used here.`);
}

// An ability that fails has been executed too, and observers get to see what came of it.
async function execute(name: string, ability: Ability, input: JsonMap, host: DispatchHost): Promise<unknown> {
  try {
    return await ability.execute(input, host.context ?? emptyMap, {
      ...(host.signal && { signal: host.signal }),
      dispatch: (other, parameters) => dispatch(other, parameters, { ...host, declaration: undefined }),
    });
  } catch (thrown) {
    host.onThrown?.(thrown, name);
    return operationErrorOf(thrown, "ability_exception");
  }
}

/** A copy of the result, so that no observer can change what the caller gets; null when it has no JSON form. */
function observable(result: unknown): Json {
  try {
    return snapshot(result);
  } catch {
    return null;
  }
}

/** The ability in the form of a tool declaration, as far as redaction reads one. */
const definitionOf: (ability: Ability) => UnknownMap = perDefinition(({ inputSchema, meta }) => {
  const { sensitive_parameters, parameter_sensitivity } = snapshotMap(meta);
  return { parameters: snapshotMap(inputSchema), sensitive_parameters, parameter_sensitivity };
});
