// Abilities that answer what a vector says, and a list of the calls that reached them.
import { call, search } from "../../src/abilities/ability-meta.ts";
import { type Ability, createAbilities } from "../../src/contracts/abilities/ability.ts";
import { dispatch, redactedParameters } from "../../src/contracts/abilities/dispatcher.ts";
import { createAbilityExecutor } from "../../src/contracts/abilities/executor.ts";
import { gate } from "../../src/contracts/abilities/lifecycle.ts";
import { createHooks } from "../../src/contracts/hooks.ts";
import { emptyMap, type JsonMap, snapshotMap, type UnknownMap } from "../../src/contracts/json.ts";
import { isOperationError, operationError } from "../../src/contracts/operation-error.ts";
import type { ToolCall } from "../../src/contracts/tools/call.ts";
import type { ToolDeclaration } from "../../src/contracts/tools/declaration.ts";

type AbilityScript = {
  returns?: unknown;
  error?: { code: string; message: string };
  label?: string;
  description?: string;
  category?: string;
  input_schema?: UnknownMap;
  meta?: UnknownMap;
};

type Scripts = { abilities?: Readonly<Record<string, AbilityScript>> };

function scriptedAbilities({ abilities: scripts = {} }: Scripts) {
  const calls: { name: string; input: JsonMap }[] = [];
  const abilities = Object.entries(scripts).map(([name, script]): Ability => {
    const { returns, error, input_schema: inputSchema = emptyMap, meta = emptyMap, ...texts } = script;
    const execute = (input: JsonMap) => {
      calls.push({ name, input });
      return error ? operationError(error.code, error.message ?? "") : returns;
    };
    return { ...texts, name, inputSchema, meta, execute };
  });
  return { abilities: createAbilities(abilities), calls };
}

function outcomeOf(answer: unknown) {
  return isOperationError(answer) ? { error: answer.code } : { value: answer };
}

export async function dispatchAbility(script: Scripts & { ability: unknown; parameters?: unknown }) {
  const { abilities, calls } = scriptedAbilities(script);
  return { outcome: outcomeOf(await dispatch(script.ability, script.parameters, { abilities })), calls };
}

export function redactForAbility(script: Scripts & { ability: unknown; parameters?: unknown }) {
  return redactedParameters(script.ability, script.parameters, scriptedAbilities(script).abilities);
}

export async function executeAbility(
  script: Scripts & { tool_call: ToolCall; tool_definition?: ToolDeclaration; context?: JsonMap },
) {
  const { abilities, calls } = scriptedAbilities(script);
  const hooks = createHooks();
  const denied_events: JsonMap[] = [];
  hooks.on("toolCapabilityDenied", (denial) => denied_events.push(denial));
  const declaration = (script.tool_definition ?? {}) as ToolDeclaration;
  const execute = createAbilityExecutor({ abilities, hooks });
  const result = await execute(script.tool_call, declaration, script.context ?? emptyMap);
  return { result, calls, denied_events };
}

/** An earlier answer is one that a hook gave; without the field nobody did. */
export async function gateAbility(script: {
  ability: string;
  ability_input?: unknown;
  decision?: unknown;
  pre?: unknown;
}) {
  const hooks = createHooks();
  if (Object.hasOwn(script, "pre")) hooks.filter("preExecuteAbility", () => script.pre);
  hooks.filter("abilityPreExecuteDecision", () => script.decision);
  const answer = await gate(script.ability, snapshotMap(script.ability_input), { hooks });
  return answer.passed ? { passed_through: true } : { passed_through: false, value: answer.value };
}

export function searchAbilities(script: Scripts & { input?: unknown }) {
  return search(script.input, scriptedAbilities(script).abilities);
}

export async function callAbility(script: Scripts & { input?: unknown }) {
  const { abilities } = scriptedAbilities(script);
  return outcomeOf(await call(script.input, abilities, (...asked) => dispatch(...asked, { abilities })));
}
