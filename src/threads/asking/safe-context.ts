// What a model, or the adapter of one, is told of the run: who acts, and nothing by which somebody else could act as them.
import { isMap, type JsonMap, seal } from "../../contracts/json.ts";
import { safeMetadata } from "../../contracts/trust/safe-principal.ts";

const known = new WeakMap<JsonMap, JsonMap>();

/** The same for every step of a run, like the context itself. */
export function safeContext(context: JsonMap): JsonMap {
  if (!isMap(context.principal)) return context;
  const before = known.get(context);
  if (before) return before;
  const safe = seal({ ...context, principal: safeMetadata(context.principal) });
  known.set(context, safe);
  return safe;
}
