// Abilities as tools: the executor that runs a call by dispatching the ability its declaration names.
import { trimmed } from "../coerce.ts";
import type { Hooks } from "../hooks.ts";
import { isEmpty, isMap, type JsonMap, seal, snapshotMap, type UnknownMap } from "../json.ts";
import { isOperationError, type OperationError } from "../operation-error.ts";
import type { ToolCall } from "../tools/call.ts";
import type { ToolExecutor } from "../tools/execution.ts";
import { can, type HoldsCapability } from "../trust/authorization.ts";
import { safeMetadata } from "../trust/safe-principal.ts";
import type { ActionKeeper } from "../trust/stage-action.ts";
import type { Abilities } from "./ability.ts";
import { dispatch, redactedParameters } from "./dispatcher.ts";

/** Whether a principal has a capability. Only true does; an error counts as no. */
export type Authorize = (principal: JsonMap, capability: string, context: JsonMap) => boolean | PromiseLike<boolean>;

export type AbilityExecutorHost = ActionKeeper & {
  readonly abilities?: Abilities | undefined;
  /** Which user holds which capability; unless given, nobody holds any. Every ceiling has to let it pass besides. */
  readonly holdsCapability?: HoldsCapability | undefined;
  /** Decides about `required_capability` in place of ceilings and users. */
  readonly authorize?: Authorize | undefined;
};

/** An executor that runs abilities. What an ability returns, and what goes wrong with it, becomes a tool result. */
export function createAbilityExecutor(host: AbilityExecutorHost): ToolExecutor {
  const { abilities, hooks, pendingActions, holdsCapability = () => false } = host;
  const { authorize = (...asked) => can(...asked, holdsCapability) } = host;
  return async (call, declaration, context, { signal } = {}) => {
    const ability = abilityNameOf(call, declaration);
    const attempt: Attempt = {
      tool_name: call.tool_name,
      ability_name: ability,
      parameters: redactedParameters(ability, call.parameters, abilities),
    };
    const capability = trimmed(declaration.required_capability);
    if (capability !== undefined) {
      const denial = await denialOf(capability, context, authorize);
      if (denial) return denied(attempt, capability, denial, hooks);
    }
    const value = await dispatch(ability, call.parameters, { abilities, hooks, pendingActions, context, signal });
    return isOperationError(value) ? failed(attempt, value) : succeeded(attempt, value);
  };
}

/** The ability that a call is for: what its declaration names, or else the call itself. Blank when nothing does. */
export function abilityNameOf(call: ToolCall, declaration: JsonMap): string {
  const inCall = isMap(call.metadata) ? trimmed(call.metadata.ability_name) : undefined;
  return abilityIn(declaration) ?? inCall ?? trimmed(call.tool_name) ?? "";
}

/**
 * True when a declaration says itself which ability its tool is. A client's never does: whoever sends a declaration must
 * not be able to choose what the host runs.
 */
export function namesAbility(declaration: JsonMap): boolean {
  return declaration.executor !== "client" && abilityIn(declaration) !== undefined;
}

/** The ability that a declaration names, if it names one. */
export function abilityIn({ ability, ability_name }: UnknownMap): string | undefined {
  return trimmed(ability) ?? trimmed(ability_name);
}

/** One call as its result and events show it. */
type Attempt = { readonly tool_name: string; readonly ability_name: string; readonly parameters: JsonMap };

type Denial = {
  readonly allowed: false;
  readonly operation: "tool_execution";
  readonly reason: "principal_unavailable" | "capability_not_permitted";
  readonly principal: JsonMap | null;
};

function succeeded({ tool_name, ability_name, parameters }: Attempt, result: unknown) {
  return {
    success: true,
    tool_name,
    metadata: seal({ ability_name, parameters, parameters_redacted: true }),
    result,
  };
}

/** The errors of dispatching have types of their own; what an ability refuses is its own business. */
const errorTypes = new Map([
  ["ability_name_missing", "ability_name_missing"],
  ["abilities_api_missing", "abilities_api_unavailable"],
  ["ability_not_found", "ability_not_found"],
]);

function failed({ tool_name, ability_name, parameters }: Attempt, { code, message }: OperationError) {
  const error_type = errorTypes.get(code) ?? "ability_error";
  return {
    success: false,
    tool_name,
    metadata: seal({ ability_name, error_code: code, error_type, parameters, parameters_redacted: true }),
    error: trimmed(message) === undefined ? `The ability "${ability_name}" failed.` : message,
  };
}

async function denialOf(capability: string, context: JsonMap, authorize: Authorize): Promise<Denial | undefined> {
  const principal = snapshotMap(context.principal);
  const denial = { allowed: false, operation: "tool_execution" } as const;
  if (isEmpty(principal)) return seal({ ...denial, reason: "principal_unavailable", principal: null });
  if (await isAuthorized(principal, capability, context, authorize)) return undefined;
  return seal({ ...denial, reason: "capability_not_permitted", principal: safeMetadata(principal) });
}

async function isAuthorized(principal: JsonMap, capability: string, context: JsonMap, authorize: Authorize) {
  try {
    return (await authorize(principal, capability, context)) === true;
  } catch {
    return false;
  }
}

function denied(attempt: Attempt, required_capability: string, denial: Denial, hooks: Hooks | undefined) {
  const { tool_name, ability_name, parameters } = attempt;
  const { operation, reason, principal } = denial;
  const facts = { tool_name, ability_name, required_capability, reason, principal, parameters };
  hooks?.emit("toolCapabilityDenied", seal({ schema_version: 1, operation, ...facts, parameters_redacted: true }));
  return {
    success: false,
    tool_name,
    metadata: seal({
      error_type: "capability_denied",
      required_capability,
      ability_name,
      parameters,
      parameters_redacted: true,
      denial,
    }),
    error: `The tool '${tool_name}' needs the capability "${required_capability}".`,
  };
}
