// How often a command of a plugin is executed at most, whichever way its job came in.
import { DEFAULT_MAX_ATTEMPTS } from "./defaults.ts";
import type { Plugin } from "./plugin.ts";

/** `ofStep`: what the step of a pipeline says. `init` is never tried again: its outcome is for the operator to look at. */
export function maxAttempts(
  command: string,
  plugin: Pick<Plugin, "maxAttempts"> | undefined,
  ofStep?: number | undefined,
): number {
  return command === "init" ? 1 : (ofStep ?? plugin?.maxAttempts ?? DEFAULT_MAX_ATTEMPTS);
}
