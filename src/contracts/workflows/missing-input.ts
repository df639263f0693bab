// The inputs that a workflow says it requires.
import { truthy } from "../coerce.ts";
import { isMap, type JsonMap } from "../json.ts";
import type { WorkflowSpec } from "./spec.ts";

/** The error for the first input that has to be there and is not; null is there. */
export function missingInput({ inputs: declared }: WorkflowSpec, inputs: JsonMap): JsonMap | undefined {
  const required = Object.keys(declared).filter((name) => {
    const input = declared[name];
    return isMap(input) && truthy(input.required);
  });
  const missing = required.find((name) => !Object.hasOwn(inputs, name));
  if (missing === undefined) return undefined;
  const message = `The workflow needs the input "${missing}".`;
  return { code: "missing_required_input", message, data: { input: missing } };
}
