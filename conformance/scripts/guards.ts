// The guards of a loop, fed step by step: what each of them reports after every call or count.
import * as budget from "../../src/contracts/conversation/budget.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import * as identicalFailure from "../../src/contracts/tools/identical-failure.ts";
import * as spin from "../../src/contracts/tools/spin.ts";

export type BudgetScript = {
  name: string;
  ceiling: number;
  current?: number;
  steps: readonly ("increment" | { set_current: number })[];
};

export type SpinScript = { threshold?: number; calls: readonly { tool_name: string; parameters: JsonMap }[] };

export type FailureScript = {
  threshold?: number;
  failures: readonly { tool_name: string; parameters: JsonMap; result: JsonMap }[];
};

/** The budget at the beginning and after every step. */
export function runBudget({ steps, ...start }: BudgetScript) {
  let current = budget.create(start);
  const report = () => ({
    ...current,
    exceeded: budget.isExceeded(current),
    remaining: budget.remaining(current),
  });
  const reports = [report()];
  for (const step of steps) {
    current = step === "increment" ? budget.increment(current) : budget.setCurrent(current, step.set_current);
    reports.push(report());
  }
  return reports;
}

export function runSpin({ threshold: given, calls }: SpinScript) {
  const threshold = spin.normalizeThreshold(given);
  let state: spin.SpinState | undefined;
  return calls.map(({ tool_name, parameters }) => {
    const call = spin.identity(tool_name, parameters);
    const recorded = spin.record(state, call, threshold);
    state = recorded.state;
    return {
      signature: spin.signature(call),
      fired: recorded.fired !== undefined,
      repeat_count: state.count,
      threshold,
    };
  });
}

export function runIdenticalFailure({ threshold: given, failures }: FailureScript) {
  const threshold = identicalFailure.normalizeThreshold(given);
  let state: identicalFailure.FailureState | undefined;
  return failures.map(({ tool_name, parameters, result }) => {
    const signature = identicalFailure.signature(tool_name, parameters, result);
    const recorded = identicalFailure.record(state, signature, threshold);
    state = recorded.state;
    return { signature, message: recorded.nudge?.message, repeat_count: state.count, threshold };
  });
}
