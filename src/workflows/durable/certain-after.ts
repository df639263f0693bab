import { trimmed } from "../../contracts/coerce.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { timeoutOf } from "../../contracts/workflows/step-options.ts";
import { longestWorkOf } from "../../threads/calls/ledger.ts";
import type { RunHost } from "./run-host.ts";

/** Milliseconds after which a process that began a step cannot be at work on it any more, as far as that can be said. */
export function certainAfter({ tools, threads }: RunHost, step: JsonMap): number {
  const name = step.type === "ability" ? trimmed(step.ability) : undefined;
  const ofTool = longestWorkOf(name === undefined ? undefined : tools.get(name));
  return Math.max(timeoutOf(step) ?? ofTool, threads.leaseMs);
}
