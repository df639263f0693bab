// A step of any type as one that runs a function in its place.
import type { Json, JsonMap } from "../contracts/json.ts";

/** The step that runs the function. What undoes it finds in it what it found before. */
export function asFunction(step: JsonMap, name: string): JsonMap {
  const { type } = step;
  // In a function these would mean something else than in the step.
  const kept = without(step, [
    ...ofSteps,
    ...(isContainer(type) ? ["retry", "timeout"] : type === "wait" ? ["timeout"] : []),
  ]);
  return { ...kept, type: "function", function: name, input: inputOf(step) };
}

/** Lists of steps, and how many of them run at once. */
const ofSteps = ["steps", "branches", "cases", "else", "concurrency"];

function isContainer(type: unknown): boolean {
  return type === "foreach" || type === "parallel" || type === "branch";
}

/** What the step calls something with; of one that calls nothing by an input, what it says of itself. */
function inputOf(step: JsonMap): Json {
  const { type, args, inputs, input } = step;
  if (type === "ability") return args ?? {};
  if (type === "workflow") return inputs ?? {};
  if (type === "function" || input !== undefined) return input ?? null;
  return without(step, [...ofSteps, "id", "type", "retry", "idempotent", "undo"]);
}

function without(step: JsonMap, keys: readonly string[]): JsonMap {
  return Object.fromEntries(Object.entries(step).filter(([key]) => !keys.includes(key)));
}
