// The stored state of an agent: its runs, what is pending in each, and how a run goes from one state to the next.
import { z } from "zod";
import { isMap, type JsonMap, snapshotMap } from "../../json.ts";

const wholeFrom1 = z.int().positive();
const nothing = z.null().catch(null);

// Agents of other makers store fewer fields and leave `pending_*` where a run has ended: what is missing gets a default.
const common = {
  goal: z.string().catch(""),
  created_at: z.string().catch(""),
  updated_at: z.string().catch(""),
  /** Of the action that is pending or was the last; never decreases. */
  step: wholeFrom1.catch(1),
  max_steps: wholeFrom1.optional().catch(undefined),
  reframes: z.int().nonnegative().catch(0),
  max_reframes: z.int().nonnegative().optional().catch(undefined),
  last_tool_command: z.string().nullable().catch(null),
  /** How often the step was requested. */
  attempt: wholeFrom1.catch(1),
  completed_steps: z.array(wholeFrom1).readonly().catch([]),
  /** `job:<id of the job that started the run>`. */
  workspace_ref: z.string().catch(""),
  last_error: z.string().nullable().catch(null),
};

const nothingPending = {
  pending_step: nothing,
  pending_tool: nothing,
  pending_since: nothing,
  pending_payload: nothing,
};

const runSchema = z.discriminatedUnion("status", [
  z.object({
    status: z.literal("running"),
    ...common,
    pending_step: wholeFrom1.catch(1),
    pending_tool: z.string().catch(""),
    pending_since: z.string().catch(""),
    pending_payload: z
      .unknown()
      .optional()
      .transform((value): JsonMap => snapshotMap(value)),
  }),
  z.object({ status: z.literal("done"), ...common, ...nothingPending, outcome: z.string().catch("") }),
  z.object({ status: z.literal("escalated"), ...common, ...nothingPending, reason: z.string().catch("") }),
]);

/** The budgets of a run, which count where the stored run has none of its own. */
export type RunLimits = { readonly max_steps: number; readonly max_reframes: number };

/** Those of an agent whose configuration says nothing else. */
export const defaultRunLimits: RunLimits = { max_steps: 20, max_reframes: 2 };

type StoredRun<Run extends z.infer<typeof runSchema>> = Run extends unknown
  ? Readonly<Omit<Run, keyof RunLimits>> & RunLimits
  : never;

/**
 * A goal that is pursued over many turns. While it runs, `pending_step` and `pending_tool` name the action whose result
 * it waits for; once it has ended, nothing is pending.
 */
export type AgentRun = StoredRun<z.infer<typeof runSchema>>;
export type RunningRun = Extract<AgentRun, { status: "running" }>;

/** What is known of a run whatever its status. */
export type RunFacts = { readonly [key in keyof typeof common]: AgentRun[key] };

/** The run as it is stored; undefined when the value is no run. */
export function readRun(value: unknown, limits: RunLimits = defaultRunLimits): AgentRun | undefined {
  const run = runSchema.safeParse(value).data;
  if (!run) return undefined;
  const { max_steps = limits.max_steps, max_reframes = limits.max_reframes } = run;
  return { ...run, max_steps, max_reframes };
}

/** The status of a stored run, also one that only another agent knows. */
export function storedStatus(value: unknown): string | undefined {
  return isMap(value) && typeof value.status === "string" ? value.status : undefined;
}

/** The stored runs by their ids, not looked at yet. */
export function storedRuns(state: JsonMap): JsonMap {
  return isMap(state.runs) ? (state.runs as JsonMap) : {};
}

/** Those of the stored runs that can be read, with their ids. */
export function readRuns(
  state: JsonMap,
  limits?: RunLimits,
): readonly { readonly id: string; readonly run: AgentRun }[] {
  return Object.entries(storedRuns(state)).flatMap(([id, value]) => {
    const run = readRun(value, limits);
    return run ? [{ id, run }] : [];
  });
}

/** The id of a run that came without one: the same for every attempt of its start job. */
export function derivedRunId(jobId: string): string {
  return `run-${jobId}`;
}

/** The workspace of the run that a job has started. */
export function workspaceRef(jobId: string): string {
  return `job:${jobId}`;
}

/** What is known of a run before its first action. */
export function newRun(
  about: Pick<RunFacts, "goal" | "max_steps" | "max_reframes" | "workspace_ref">,
  now: string,
): RunFacts {
  return {
    ...about,
    created_at: now,
    updated_at: now,
    step: 1,
    reframes: 0,
    last_tool_command: null,
    attempt: 1,
    completed_steps: [],
    last_error: null,
  };
}

/** The run once a result has come for the step that was pending. */
export function withCompletedStep(run: RunFacts, step: number): RunFacts {
  const completed_steps = [...new Set([...run.completed_steps, step])].sort((left, right) => left - right);
  return { ...factsOf(run), completed_steps };
}

export type PendingAction = {
  readonly step: number;
  readonly attempt: number;
  readonly tool: string;
  readonly tool_command: string;
  readonly pending_payload: JsonMap;
};

/** The run with an action pending: of the next step, or of the same one once more. */
export function withPending(run: RunFacts, action: PendingAction, now: string): RunningRun {
  return {
    status: "running",
    ...factsOf(run),
    updated_at: now,
    step: action.step,
    attempt: action.attempt,
    pending_step: action.step,
    pending_tool: action.tool,
    pending_since: now,
    pending_payload: action.pending_payload,
    last_tool_command: action.tool_command,
  };
}

export function withOutcome(run: RunFacts, outcome: string, now: string): AgentRun {
  return { status: "done", ...factsOf(run), ...noPending, updated_at: now, outcome };
}

export function withReason(run: RunFacts, reason: string, now: string): AgentRun {
  return { status: "escalated", ...factsOf(run), ...noPending, updated_at: now, reason };
}

/** Since when the run waits for its tool; where that cannot be read, since it was changed last. */
export function pendingSince({ pending_since, updated_at }: RunningRun): Date {
  return new Date(Date.parse(pending_since) || Date.parse(updated_at) || 0);
}

const noPending = { pending_step: null, pending_tool: null, pending_since: null, pending_payload: null };

function factsOf(run: RunFacts): RunFacts {
  return {
    goal: run.goal,
    created_at: run.created_at,
    updated_at: run.updated_at,
    step: run.step,
    max_steps: run.max_steps,
    reframes: run.reframes,
    max_reframes: run.max_reframes,
    last_tool_command: run.last_tool_command,
    attempt: run.attempt,
    completed_steps: run.completed_steps,
    workspace_ref: run.workspace_ref,
    last_error: run.last_error,
  };
}
