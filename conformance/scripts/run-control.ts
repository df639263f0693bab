// The steps of runControl.sequence, against the run store in memory. Two areas write them differently.
import { createMemoryRunStore } from "../../src/contracts/conversation/run-control.ts";
import { errorMessage, HoldfastError } from "../../src/contracts/error.ts";
import type { UnknownMap } from "../../src/contracts/json.ts";

type Action = "start" | "save" | "get" | "finish" | "cancel" | "events";

type Details = {
  readonly run_id: string;
  readonly run?: UnknownMap;
  readonly status?: unknown;
  readonly cursor?: unknown;
  readonly limit?: unknown;
};

export type Step = Details & { readonly do: Action | "cancel_requested" };
export type Call = { readonly do: Action | "cancelRequested"; readonly with: Details };

export function runSteps(steps: readonly Step[]) {
  const take = newStore();
  return steps.map((step) => {
    try {
      return { value: take(step.do, step) };
    } catch (thrown) {
      // A run record has no code in the contract: the one before our words is not compared.
      return { error: thrown instanceof HoldfastError ? thrown.detail : errorMessage(thrown) };
    }
  });
}

export function runCalls(calls: readonly Call[]) {
  const take = newStore();
  return calls.map((call) => take(call.do, call.with));
}

function newStore() {
  const store = createMemoryRunStore({ now: () => new Date(0) });
  return (action: (Step | Call)["do"], details: Details): unknown => {
    const { run_id, run } = details;
    switch (action) {
      case "start":
        return store.start({ ...run, run_id });
      case "save":
        return store.save(run);
      case "get":
        return store.get(run_id);
      case "finish":
        return store.finish(run_id, details.status);
      case "cancel":
        return store.cancel(run_id);
      case "cancel_requested":
      case "cancelRequested":
        return store.cancelRequested(run_id);
      case "events":
        return store.events(run_id, details);
    }
  };
}
