// Which agent run a job belongs to: no other run is started from inside it.
import { readCorrelation } from "../../contracts/gateway/agent/correlation.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";

/** By its context: the instance answers a tool request, or a job of the run has begun it. */
export function runOfContext(context: JsonMap): string | undefined {
  const { ductile: control } = context;
  const run = isMap(control) ? control.inside_run : undefined;
  return readCorrelation(context)?.run_id ?? (typeof run === "string" ? run : undefined);
}

/** What an instance that a job of the run begins carries along below the key `ductile`. */
export function runMark(run: string | undefined): JsonMap {
  return run === undefined ? {} : { inside_run: run };
}
