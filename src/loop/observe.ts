// Tells observers what happens. They are handed frozen payloads, and nothing they do reaches the run.
import type { JsonMap } from "../contracts/json.ts";
import type { RunOptions } from "./options.ts";

export type Tell = (event: string, payload: JsonMap) => void;

export function observe({ onEvent, hooks }: Pick<RunOptions, "onEvent" | "hooks">): Tell {
  return (event, payload) => {
    if (onEvent) tellSafely(() => onEvent(event, payload));
    hooks?.emit("loopEvent", event, payload);
  };
}

function tellSafely(call: () => unknown): void {
  try {
    const returned = call();
    if (returned instanceof Promise) returned.catch(() => undefined);
  } catch {
    // An observer that fails must not change what it observes.
  }
}
