// What the tools for subagents know of the call that they run for.
import { HoldfastError } from "../../contracts/error.ts";
import { scopeOf, type ToolScope } from "../calls/tool-scope.ts";
import type { ThreadState } from "../state/thread-state.ts";
import type { ToolContext } from "../tool.ts";
import type { ReadVariable } from "./read-variable.ts";

export type CallScope = ToolScope;

export function callScope(context: ToolContext): CallScope {
  return scopeOf(context);
}

/** The variables of the thread that the call is made on. */
export function variablesOfCall({ state }: CallScope): ReadVariable {
  return variablesOfState(state);
}

export function variablesOfState(state: Pick<ThreadState, "env">): ReadVariable {
  return async (name) => {
    try {
      return await state.env(name);
    } catch (thrown) {
      if (thrown instanceof HoldfastError && thrown.code === "variable_missing") return undefined;
      throw thrown;
    }
  };
}

/** Whether somebody can wait for the call: code that asks for a result at once cannot. */
export function canWait({ requestId }: CallScope): boolean {
  return requestId !== "";
}
