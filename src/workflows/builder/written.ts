// Values with references in them, as the JSON that stands in a spec.
import { errorMessage } from "../../contracts/error.ts";
import { exactSnapshot, isContainer, isMap, type Json } from "../../contracts/json.ts";
import { invalid } from "./place.ts";
import { bindingOf } from "./reference.ts";

/** Deeper values are refused, and with them those that contain themselves. */
const DEEPEST = 256;

/** The value with a binding in the place of every reference. What is no JSON is refused. */
export function written(given: unknown): Json {
  const bound = bind(given, DEEPEST);
  try {
    return exactSnapshot(bound);
  } catch (thrown) {
    throw invalid(errorMessage(thrown), thrown);
  }
}

function bind(given: unknown, levels: number): unknown {
  const binding = bindingOf(given);
  if (binding !== undefined) return binding;
  if (given === undefined) return null;
  if (typeof given === "function" || typeof given === "symbol") throw invalid(`a ${typeof given} is no JSON`);
  if (!isContainer(given) || "toJSON" in given) return given;
  if (levels === 0) throw invalid("a value is nested too deep, or contains itself");
  if (!isMap(given)) return given.map((item) => bind(item, levels - 1));
  return Object.fromEntries(
    Object.entries(given).map(([key, item]) => {
      // Keys are not expanded: a run would find the words of the binding.
      if (key.includes("${")) throw invalid(`the key ${JSON.stringify(key)} cannot hold a binding`);
      return [key, bind(item, levels - 1)];
    }),
  );
}
