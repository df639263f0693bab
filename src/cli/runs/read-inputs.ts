// What a run is started with, as it was typed: values one by one, all of them as JSON, or in a file.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { errorMessage } from "../../contracts/error.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
import { readJson, readMap } from "../read-option.ts";
import { Refusal } from "../refusal.ts";

/** Of an input of a workflow: what its spec says, or the schema of its program. */
type Declared = Partial<Pick<JsonMap, "inputs" | "input_schema">>;

export const inputOptions = {
  "--input <pair...>":
    "an input as key=value, any number of them; JSON where the workflow does not say that it is text",
  "--inputs <json>": "all inputs as a JSON object, or @file.json",
} as const;

export type GivenInputs = { readonly pairs: readonly string[]; readonly all: JsonMap | undefined };

/** Throws what was typed when it cannot be read. */
export function readInputs({ input, inputs }: Readonly<Record<string, unknown>>, cwd: string): GivenInputs {
  const pairs = Array.isArray(input) ? input.map(String) : [];
  const wrong = pairs.find((pair) => !/^[^=]+=/.test(pair));
  if (wrong !== undefined) {
    throw new Refusal({ code: "usage", message: `--input must be key=value, not ${wrong}.` });
  }
  return { pairs, all: inputs === undefined ? undefined : readMap("--inputs", textOf(String(inputs), cwd)) };
}

/** The inputs, each as what the workflow takes it for. */
export function inputsFor({ pairs, all = {} }: GivenInputs, declared: Declared): JsonMap {
  const single = pairs.map((pair) => {
    const [name = ""] = pair.split("=", 1);
    const value = pair.slice(name.length + 1);
    return [name, isText(name, declared) ? value : readJson(value)];
  });
  return { ...all, ...Object.fromEntries(single) };
}

/** An order 007 is not the number 7. */
function isText(name: string, { inputs, input_schema }: Declared): boolean {
  const properties = isMap(input_schema) ? input_schema.properties : {};
  return [inputs, properties].some((each) => {
    const input = isMap(each) && Object.hasOwn(each, name) ? each[name] : undefined;
    return isMap(input) && input.type === "string";
  });
}

function textOf(typed: string, cwd: string): string {
  if (!typed.startsWith("@")) return typed;
  const file = typed.slice(1);
  try {
    return readFileSync(resolve(cwd, file), "utf8");
  } catch (thrown) {
    throw new Refusal({ code: "usage", message: `${file} cannot be read: ${errorMessage(thrown)}` });
  }
}
