// A value from the environment that a prompt or a tool says it needs.
import { trimmed } from "../../contracts/coerce.ts";
import { isMap, type UnknownMap } from "../../contracts/json.ts";

export type Variable = {
  readonly name: string;
  readonly type: "text" | "secret";
  readonly required: boolean;
  /** True: a thread does not inherit it from its parent. */
  readonly scoped: boolean;
  readonly description: string;
};

/** A variable as a definition may give it: a secret, not required and not scoped unless it says so. */
export type VariableInput = {
  readonly name: string;
  readonly type?: "text" | "secret";
  readonly required?: boolean;
  readonly scoped?: boolean;
  readonly description?: string;
};

/** The variables of a definition, or what is wrong with them, in words that begin with the field. */
export function readVariables(given: unknown): readonly Variable[] | string {
  if (given === undefined) return [];
  if (!Array.isArray(given)) return "variables must be a list";
  const variables: Variable[] = [];
  for (const [index, each] of given.entries()) {
    const variable = readVariable(each);
    if (typeof variable === "string") return `variables[${index}]${variable}`;
    if (variables.some(({ name }) => name === variable.name)) {
      return `variables[${index}] has the name ${variable.name} of another`;
    }
    variables.push(variable);
  }
  return Object.freeze(variables);
}

/** One variable where several definitions declare it: as strict as the strictest of them. */
export function mergedVariables(declared: readonly Variable[]): readonly Variable[] {
  const byName = new Map<string, Variable>();
  for (const variable of declared) {
    const known = byName.get(variable.name);
    byName.set(variable.name, known ? stricter(known, variable) : variable);
  }
  return [...byName.values()];
}

function stricter(one: Variable, other: Variable): Variable {
  return {
    name: one.name,
    type: one.type === "secret" || other.type === "secret" ? "secret" : "text",
    required: one.required || other.required,
    scoped: one.scoped || other.scoped,
    description: one.description || other.description,
  };
}

function readVariable(given: unknown): Variable | string {
  if (!isMap(given)) return " must be a map";
  const { name, type = "secret", required = false, scoped = false, description = "", ...unknown }: UnknownMap = given;
  const [stray] = Object.keys(unknown);
  if (stray !== undefined) return `.${stray} is no field of a variable`;
  const known = trimmed(name);
  if (known === undefined) return ".name must not be blank";
  if (type !== "text" && type !== "secret") return ".type must be text or secret";
  if (typeof required !== "boolean") return ".required must be true or false";
  if (typeof scoped !== "boolean") return ".scoped must be true or false";
  if (typeof description !== "string") return ".description must be text";
  return Object.freeze({ name: known, type, required, scoped, description });
}
