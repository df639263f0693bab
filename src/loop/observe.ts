// Tells observers what happens. They are handed frozen payloads, and nothing they do reaches the run.
import type { JsonMap } from "../contracts/json.ts";
import { quietly } from "../contracts/when-ready.ts";
import type { RunOptions } from "./options.ts";

export type Tell = (event: string, payload: JsonMap) => void;

export function observe({ onEvent, hooks }: Pick<RunOptions, "onEvent" | "hooks">): Tell {
  return (event, payload) => {
    if (onEvent) quietly(() => onEvent(event, payload));
    hooks?.emit("loopEvent", event, payload);
  };
}
