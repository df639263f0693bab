// Abilities as tools: the executor that runs a call by dispatching the ability its declaration names.
import { trimmed } from "../coerce.ts";
import { isMap, type JsonMap, seal, type UnknownMap } from "../json.ts";
import { isOperationError, type OperationError } from "../operation-error.ts";
import type { ToolCall } from "../tools/call.ts";
import { type Attempt, type CapabilityHost, refusalOf } from "../tools/capability-guard.ts";
import type { ToolExecutor } from "../tools/execution.ts";
import { redact } from "../tools/exposure.ts";
import type { PendingActionHost } from "../trust/stage-action.ts";
import type { Abilities } from "./ability.ts";
import { dispatch, redactedParameters } from "./dispatcher.ts";

/** Who may run what, where actions that need approval are kept, and the abilities themselves. */
export type AbilityExecutorHost = PendingActionHost & CapabilityHost & { readonly abilities?: Abilities | undefined };

/** An executor that runs abilities. What an ability returns, and what goes wrong with it, becomes a tool result. */
export function createAbilityExecutor(host: AbilityExecutorHost): ToolExecutor {
  const { abilities, hooks, pendingActionStore } = host;
  return async (call, declaration, context, { signal } = {}) => {
    const ability_name = abilityNameOf(call, declaration);
    const parameters = redact(redactedParameters(ability_name, call.parameters, abilities), declaration);
    const attempt = { tool_name: call.tool_name, ability_name, parameters };
    const refusal = await refusalOf(attempt, declaration, context, host);
    if (refusal) return refusal;
    const about = { abilities, hooks, pendingActionStore, context, declaration, signal };
    const value = await dispatch(ability_name, call.parameters, about);
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

type AbilityAttempt = Attempt & { readonly ability_name: string };

function succeeded({ tool_name, ability_name, parameters }: AbilityAttempt, result: unknown) {
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

function failed({ tool_name, ability_name, parameters }: AbilityAttempt, { code, message }: OperationError) {
  const error_type = errorTypes.get(code) ?? "ability_error";
  return {
    success: false,
    tool_name,
    metadata: seal({ ability_name, error_code: code, error_type, parameters, parameters_redacted: true }),
    error: trimmed(message) === undefined ? `The ability "${ability_name}" failed.` : message,
  };
}
