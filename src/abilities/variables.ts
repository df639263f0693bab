// The operations on children that wait for variables: see what is missing, and set it. They refuse with a coded value.
import type { Ability } from "../contracts/abilities/ability.ts";
import { nonEmptyString } from "../contracts/coerce.ts";
import { HoldfastError } from "../contracts/error.ts";
import type { JsonMap } from "../contracts/json.ts";
import { type OperationError, operationErrorOf } from "../contracts/operation-error.ts";
import type { VariableRequest, Variables, VariablesSubmitted } from "../threads/subagents/variables.ts";

/** Both as abilities that can be registered. Values go in, and never come out again. */
export function variableAbilities(variables: Variables): readonly [get: Ability, submit: Ability] {
  return [
    {
      ...getAbility,
      execute: (input): Promise<VariableRequest | OperationError> => {
        return refusing(() => variables.get(...named(input)));
      },
    },
    {
      ...submitAbility,
      execute: (input): Promise<VariablesSubmitted | OperationError> => {
        return refusing(() => variables.submit(...named(input), { env: input.env as JsonMap }));
      },
    },
  ];
}

const about = {
  parent_thread_id: { type: "string", description: "The thread whose child waits." },
  request_id: { type: "string", description: "As the error told it that the parent got." },
};

const getAbility = {
  name: "holdfast/get-variables",
  label: "See which variables a subagent waits for",
  description: "Tells which variables a subagent needs before it can be created, and which are missing.",
  category: "holdfast",
  inputSchema: { type: "object", required: ["parent_thread_id", "request_id"], properties: about },
  annotations: { readonly: true, destructive: false, idempotent: true },
};

const submitAbility = {
  name: "holdfast/submit-variables",
  label: "Set the variables a subagent waits for",
  description: "Sets the variables that a subagent needs, creates it and starts it. Works once.",
  category: "holdfast",
  inputSchema: {
    type: "object",
    required: ["parent_thread_id", "request_id", "env"],
    // Whatever stands in it may be a secret.
    properties: { ...about, env: { type: "object", writeOnly: true } },
  },
  annotations: { readonly: false, destructive: false, idempotent: false },
};

function named({ parent_thread_id, request_id }: JsonMap): readonly [string, string] {
  return [nonEmptyString(parent_thread_id) ?? "", nonEmptyString(request_id) ?? ""];
}

async function refusing<Value>(operate: () => Promise<Value>): Promise<Value | OperationError> {
  try {
    return await operate();
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown;
    return operationErrorOf(thrown, thrown.code);
  }
}
