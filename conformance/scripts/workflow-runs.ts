// Runs of workflows in memory, with scripted abilities, step handlers, a recorder and an executor of branches.
import { createMemoryRunStore } from "../../src/contracts/conversation/run-control.ts";
import { createHooks } from "../../src/contracts/hooks.ts";
import { isMap, type JsonMap, snapshot, snapshotMap, type UnknownMap } from "../../src/contracts/json.ts";
import { isOperationError, operationError } from "../../src/contracts/operation-error.ts";
import { aggregate } from "../../src/contracts/workflows/aggregate.ts";
import type { BranchDescriptor, BranchExecutor } from "../../src/contracts/workflows/branch-executor.ts";
import type { WorkflowRun } from "../../src/contracts/workflows/run-record.ts";
import type { RunRecorder } from "../../src/contracts/workflows/run-recorder.ts";
import { normalize } from "../../src/contracts/workflows/spec.ts";
import { aggregateBranches } from "../../src/workflows/in-memory/aggregate-branches.ts";
import { reconcileBranch } from "../../src/workflows/in-memory/reconcile-branch.ts";
import { resumeWorkflow } from "../../src/workflows/in-memory/resume-workflow.ts";
import { runWorkflow } from "../../src/workflows/in-memory/run-workflow.ts";
import type { WorkflowHost } from "../../src/workflows/in-memory/workflow-host.ts";
import type { Operations } from "../../src/workflows/steps/operations.ts";

/** What stands for a callback: it returns, refuses or throws what the script says. */
export type Script = {
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly data?: JsonMap };
  readonly throws?: string;
  readonly echo?: boolean;
  readonly results?: readonly Script[];
  readonly cancel_run?: string;
};

export type Scripts = Readonly<Record<string, Script>>;

export type RunScript = {
  readonly spec: unknown;
  readonly inputs?: unknown;
  readonly options?: JsonMap;
  readonly abilities?: Scripts;
  readonly chat?: Script;
  readonly step_handlers?: Scripts;
  readonly recorder?: {
    readonly error?: { readonly code: string; readonly message: string };
    readonly run_id?: string;
  };
  readonly should_fanout?: unknown;
};

type Called =
  | { readonly ability: string; readonly args: unknown }
  | { readonly handler: string; readonly args: unknown };

/** One host, and what it was asked and told. */
export function newHost({
  abilities = {},
  chat,
  step_handlers = {},
  recorder,
  should_fanout,
}: Omit<RunScript, "spec">) {
  const hooks = createHooks();
  const runs = createMemoryRunStore({ now: () => new Date(0) });
  const calls: Called[] = [];
  const events: unknown[] = [];
  const recorded: unknown[] = [];
  const records = new Map<string, JsonMap>();
  const played = new Map<Script, number>();
  hooks.on("workflowRunCompleted", (run, runId) =>
    events.push({
      event: "wp_agent_workflow_run_completed",
      args: [{ run_id: run.run_id, status: run.status }, runId],
    }),
  );
  if (should_fanout !== undefined) hooks.filter("workflowShouldFanout", () => should_fanout);

  function play(script: Script, input: unknown): unknown {
    const { cancel_run, results } = script;
    if (results) {
      const time = played.get(script) ?? 0;
      played.set(script, time + 1);
      return play(results[Math.min(time, results.length - 1)] ?? {}, input);
    }
    if (cancel_run !== undefined) runs.cancel(cancel_run);
    if (script.throws !== undefined) throw new Error(script.throws);
    if (script.error) return operationError(script.error.code, script.error.message, script.error.data);
    return script.echo ? input : (script.result ?? null);
  }

  const all: Scripts = { ...abilities, ...(chat && { "agents/chat": chat }) };
  const operations: Operations = {
    has: (name) => Object.hasOwn(all, name),
    call(name, args) {
      calls.push({ ability: name, args });
      return play(all[name] ?? {}, args);
    },
  };
  const stepHandlers = Object.fromEntries(
    Object.entries(step_handlers).map(([handler, script]) => [
      handler,
      (step: JsonMap) => {
        calls.push({ handler, args: step });
        return play(script, step);
      },
    ]),
  );
  const keeper: RunRecorder = {
    start(run) {
      tell("start", run);
      if (recorder?.error) return operationError(recorder.error.code, recorder.error.message);
      const runId = recorder?.run_id ?? String(run.run_id);
      records.set(runId, run);
      return runId;
    },
    update(run) {
      tell("update", run);
      records.set(String(run.run_id), run);
    },
    find: (runId) => records.get(runId),
  };
  function tell(op: string, { status, steps }: JsonMap): void {
    recorded.push({ op, status, steps: Object.keys(snapshotMap({ ...(steps as object) })).length });
  }
  const host: WorkflowHost = { operations, stepHandlers, runs, hooks, ...(recorder && { recorder: keeper }) };
  return { host, calls, events, recorded, records, runs };
}

export async function runOnce(script: RunScript) {
  const { host, calls, events, recorded } = newHost(script);
  const run = await runSpec(script, host, Object.keys(script.step_handlers ?? {}));
  return { run: withoutSnapshot(run), calls, events, ...(script.recorder && { recorder: recorded }) };
}

export async function traceRun(script: RunScript) {
  const { host, calls, recorded } = newHost({ ...script, recorder: {} });
  const { status, output, error, steps } = await runSpec(script, host, []);
  const shown = Object.values(steps).map((step) => ({ id: snapshotMap(step).id, status: snapshotMap(step).status }));
  return { status, output, error, steps: shown, recorder: recorded, calls };
}

export type AsyncScript = {
  readonly calls: readonly { readonly do: string; readonly with?: UnknownMap }[];
  readonly executor?: {
    readonly id?: string;
    readonly error?: { readonly code: string; readonly message: string };
    readonly complete?: Readonly<Record<string, JsonMap>>;
  };
  readonly abilities?: Scripts;
  readonly no_recorder?: boolean;
  readonly defer_resume?: boolean;
};

/** Runs whose parallel steps a scripted executor carries out. */
export async function runElsewhere(script: AsyncScript) {
  const { host, calls, events, records, runs } = newHost({
    ...(script.abilities && { abilities: script.abilities }),
    ...(!script.no_recorder && { recorder: {} }),
  });
  const dispatched: unknown[] = [];
  const { hooks } = host;
  if (script.executor) hooks?.filter("workflowStepExecutor", () => scriptedExecutor(script.executor ?? {}, dispatched));
  if (script.defer_resume) hooks?.filter("workflowResumeDispatch", () => true);
  const told: unknown[] = [];
  for (const { do: action, with: given = {} } of script.calls) {
    const result = await act(action, given);
    const shown = isOperationError(result) ? { error: result } : result;
    told.push({ result: isMap(shown) ? withoutReplay(shown) : shown, events: events.splice(0) });
  }
  return { calls: told, ability_calls: calls };

  async function act(action: string, given: UnknownMap): Promise<unknown> {
    switch (action) {
      case "run":
        return await runSpec({ ...(given as RunScript) }, host, []);
      case "reconcile":
        return await reconcileBranch(given, host);
      case "resume":
        return await resumeWorkflow(String(given.run_id), snapshotMap(given.options), host);
      case "find":
        return records.get(String(given.run_id)) ?? null;
      case "cancel":
        return runs.cancel(String(given.run_id)) ?? null;
      case "dispatched":
        return dispatched;
      default:
        throw new Error(`There is no call "${action}".`);
    }
  }
}

function scriptedExecutor(
  { id = "fake", error, complete }: NonNullable<AsyncScript["executor"]>,
  dispatched: unknown[],
): BranchExecutor {
  return {
    id,
    dispatch(branches, context) {
      dispatched.push({ branches, context });
      if (error) return operationError(error.code, error.message);
      return branches.map(({ key, required = false }: BranchDescriptor) => ({
        ...{ id: `h:${key}`, key, executor: id },
        ...{ status: "dispatched", required },
      }));
    },
    areAllComplete: () => complete !== undefined,
    collect: () => new Map(Object.entries(complete ?? {})),
  };
}

export async function aggregateResults(script: {
  readonly aggregate: JsonMap;
  readonly branch_results: object;
  readonly abilities?: Scripts;
}) {
  const { host } = newHost({ ...(script.abilities && { abilities: script.abilities }) });
  const results = new Map(Object.entries(script.branch_results));
  const outcome = await aggregateBranches(aggregate(script.aggregate, results), String, host);
  if (outcome.as === "succeeded") return outcome.output;
  const { code = "", message = "" } = "error" in outcome ? outcome.error : {};
  return operationError(String(code), String(message));
}

export async function runSpec(
  script: RunScript,
  host: WorkflowHost,
  knownStepTypes: readonly string[],
): Promise<WorkflowRun> {
  const spec = normalize(script.spec, { knownStepTypes });
  if (isOperationError(spec)) throw new Error(spec.message);
  return await runWorkflow(spec, script.inputs, script.options ?? {}, host);
}

function withoutSnapshot(run: WorkflowRun) {
  const { workflow_spec_snapshot: _, ...replay } = snapshotMap(run.replay);
  return { ...run, replay };
}

function withoutReplay({ replay: _, ...run }: UnknownMap) {
  return snapshot(run);
}
