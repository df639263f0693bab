// A case of the vectors of `workflow.run`, carried out in memory and by the durable driver, and what is compared of the two.
import { newHost, type RunScript } from "../../conformance/scripts/workflow-runs.ts";
import { isMap, type Json, type JsonMap, snapshotMap } from "../../src/contracts/json.ts";
import { isOperationError } from "../../src/contracts/operation-error.ts";
import type { WorkflowRun } from "../../src/contracts/workflows/run-record.ts";
import { normalize, type WorkflowSpec } from "../../src/contracts/workflows/spec.ts";
import type { RunHost, StepOperations } from "../../src/workflows/durable/run-host.ts";
import { runWorkflow } from "../../src/workflows/in-memory/run-workflow.ts";
import type { StepHandler } from "../../src/workflows/steps/step-handlers.ts";
import type { DriverParts } from "./driver-in-test.ts";

/** As many parts of a step at the same time as the durable driver carries out. */
const ROOM = 100;

export type Outcome = { readonly run: WorkflowRun; readonly calls: readonly unknown[] };

/** What a script says, without what only the contract's own recorder is for. */
export type Played = Omit<RunScript, "recorder">;

export function played({ recorder: _, ...script }: RunScript): Played {
  return { ...script, spec: repeatable(script.spec, Object.keys(script.step_handlers ?? {})) };
}

/** Steps of a host's own types say that they may be done twice: nothing else says so of them. */
function repeatable(spec: unknown, types: readonly string[]): JsonMap {
  const { steps, ...rest } = snapshotMap(spec);
  const said = (step: Json): Json =>
    isMap(step) && types.includes(String(step.type)) ? { ...(step as JsonMap), idempotent: true } : step;
  return { ...rest, steps: Array.isArray(steps) ? (steps as Json[]).map(said) : (steps ?? []) };
}

export function specOf({ spec: given, step_handlers = {} }: Played): WorkflowSpec {
  const spec = normalize(given, { knownStepTypes: Object.keys(step_handlers) });
  if (isOperationError(spec)) throw new Error(spec.message);
  return spec;
}

export async function inMemory(script: Played): Promise<Outcome> {
  const { host, calls } = newHost(script);
  const run = await runWorkflow(specOf(script), script.inputs, script.options ?? {}, { ...host, room: ROOM });
  return { run, calls };
}

/** The world outside: it outlives drivers, and does everything once under its key. */
export type ScriptedWorld = {
  readonly parts: DriverParts;
  readonly calls: readonly unknown[];
};

/** `cancel`: asks the run under way to stop, where the script does so. */
export function scriptedWorld(script: Played, cancel: () => Promise<unknown>): ScriptedWorld {
  const { host, calls, runs } = newHost(script);
  const { operations, stepHandlers = {}, hooks } = host;
  runs.start({ run_id: RUN });
  const answers = new Map<string, unknown>();
  async function once(key: string, act: () => unknown): Promise<unknown> {
    if (!answers.has(key)) answers.set(key, await settled(act));
    if (runs.cancelRequested(RUN)) await cancel();
    const answer = answers.get(key);
    if (isMap(answer) && answer.threw !== undefined) throw answer.threw;
    return answer;
  }
  const port: StepOperations = {
    has: (name) => operations?.has(name) ?? false,
    isRepeatable: () => true,
    firstAnswer: async () => "never_begun" as const,
    call: (name, input, call) => once(call.idempotencyKey, () => operations?.call(name, input, call)),
  };
  const handlers = Object.entries(stepHandlers).map(([type, handler]): [string, StepHandler] => [
    type,
    (step, context, call) => once(call.idempotencyKey, () => handler(step, context, call)),
  ]);
  const hooked: Partial<Pick<RunHost, "hooks">> = hooks ? { hooks } : {};
  return { parts: { operations: () => port, stepHandlers: Object.fromEntries(handlers), ...hooked }, calls };
}

/** The id that scripts ask to be cancelled. */
const RUN = "run-1";

async function settled(act: () => unknown): Promise<unknown> {
  try {
    return await act();
  } catch (threw) {
    return { threw };
  }
}

const TIMES: ReadonlySet<string> = new Set(["started_at", "ended_at"]);

/** A record without what differs from run to run: its id, and times wherever they stand. */
export function comparable({ run_id: _, ...run }: WorkflowRun): JsonMap {
  const { workflow_spec_snapshot: _snapshot, ...replay } = snapshotMap(run.replay);
  const untimed = (key: string, value: unknown) => (TIMES.has(key) ? undefined : value);
  return snapshotMap(JSON.parse(JSON.stringify({ ...run, replay }, untimed)));
}
