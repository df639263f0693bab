// An effect: code that a thread schedules for later, and that survives whatever happens until then.
import { createBrand } from "../../contracts/brand.ts";
import { trimmed } from "../../contracts/coerce.ts";
import { errorMessage } from "../../contracts/error.ts";
import { isMap, type UnknownMap } from "../../contracts/json.ts";
import { type Accepted, type ReadSchema, readSchema, type ToolSchema } from "../schemas/tool-schema.ts";
import type { ThreadState } from "../state/thread-state.ts";
import { invalidDefinition } from "./invalid-definition.ts";

export type EffectInput<Args extends ToolSchema = UnknownMap> = {
  /** What it is scheduled by. */
  readonly name: string;
  readonly description: string;
  /** What it is scheduled with: zod, any Standard Schema, or JSON Schema. Checked when it runs. */
  readonly args?: Args;
  /** True for one that comes to its end when its thread is stopped meanwhile, and is not cut off; off unless given. */
  readonly outlivesStop?: boolean;
  readonly handler: (state: ThreadState, args: Accepted<Args>) => unknown;
};

/** An effect, ready to be scheduled. */
export type EffectDefinition = {
  readonly name: string;
  readonly description: string;
  readonly args?: ReadSchema;
  readonly outlivesStop: boolean;
  /** Called with what the schema has accepted. */
  readonly handler: (state: ThreadState, args: unknown) => unknown;
};

const effects = createBrand();

/** True for what `effect` has made. */
export function isEffect(value: unknown): value is EffectDefinition {
  return isMap(value) && effects.has(value);
}

/** Defines an effect. Throws `invalid_definition` with the field that is wrong. */
export function effect<const Args extends ToolSchema = UnknownMap>(definition: EffectInput<Args>): EffectDefinition {
  const given: UnknownMap = isMap(definition) ? definition : {};
  const name = trimmed(given.name);
  const description = trimmed(given.description);
  const invalid = (detail: string, cause?: unknown) => invalidDefinition("effect", name, detail, cause);
  if (name === undefined) throw invalid("name must not be blank");
  if (description === undefined) throw invalid("description must not be blank");
  if (typeof given.handler !== "function") throw invalid("handler must be a function");
  const { outlivesStop = false } = given;
  if (typeof outlivesStop !== "boolean") throw invalid("outlivesStop must be true or false");
  const stray = Object.keys(given).find((field) => !fields.includes(field));
  if (stray !== undefined) throw invalid(`${stray} is no field of an effect`);
  let args: ReadSchema | undefined;
  try {
    args = given.args === undefined ? undefined : readSchema(given.args);
  } catch (thrown) {
    throw invalid(`args cannot be read: ${errorMessage(thrown)}`, thrown);
  }
  if (given.args !== undefined && !args) throw invalid("args must be a schema");
  const handler = definition.handler as EffectDefinition["handler"];
  const made: EffectDefinition = { name, description, ...(args && { args }), outlivesStop, handler };
  effects.mark(made);
  return Object.freeze(made);
}

const fields = ["name", "description", "args", "outlivesStop", "handler"];
