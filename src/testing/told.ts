// What a child process tells the one that has started it, on a channel that nothing else is written to.
import { writeSync } from "node:fs";

export type Told =
  | { readonly kind: "ready" | "done" }
  | { readonly kind: "point" | "killed" | "paused"; readonly name: string }
  /** `violation`: what the scenario's own check has found. */
  | { readonly kind: "error" | "violation"; readonly text: string };

/** Its number among the child's files. */
export const CHANNEL = 3;

/** At once and for certain: what is told asynchronously dies with the process. */
export function tell(told: Told): void {
  writeSync(CHANNEL, `${JSON.stringify(told)}\n`);
}
