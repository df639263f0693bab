// What is kept of the runs of workflows beside their rows in the table of threads: what runs, how it stands, and its steps.
import type { ListPlace } from "../contracts/list-place.ts";
import type { SubjectQuery } from "./subject-store.ts";

export type WorkflowStatus = "pending" | "running" | "suspended" | "succeeded" | "failed" | "cancelled";

/** Why a run is suspended. */
export type WorkflowReason =
  | "paused"
  | "sleeping"
  | "waiting_for_event"
  | "waiting_for_approval"
  | "waiting_for_request"
  | "waiting_for_agent"
  | "waiting_for_workflow"
  | "retrying";

/** Times are in microseconds on the database's clock. */
export type StoredWorkflowRun = {
  /** The id of its row in the table of threads. */
  readonly run_id: string;
  readonly workflow_id: string;
  readonly spec_hash: string;
  readonly status: WorkflowStatus;
  /** Null unless it is suspended. */
  readonly reason: WorkflowReason | null;
  /** Sealed: the spec, the inputs and the options that it was started with. Never changed. */
  readonly body: string;
  /** What a repeated start under the same key must be equal to. */
  readonly payload_hash: string;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  /** The run from which it took over the steps that had succeeded there. */
  readonly rerun_of: string | null;
  /** True when an operator has to look at it: a rollback failed, or the outcome of a step is unknown. */
  readonly has_problem: boolean;
  /** In the order in which they were given. */
  readonly tags: readonly string[];
  /** The run or the thread that started it as its child; null when it has no parent. */
  readonly parent_id: string | null;
};

/** A run that does not exist yet. Its row of the kind `workflow` is made in the same batch, before it. */
export type NewWorkflowRun = Pick<
  StoredWorkflowRun,
  "run_id" | "workflow_id" | "spec_hash" | "body" | "payload_hash" | "rerun_of" | "tags"
>;

export type StepStatus = "running" | "waiting" | "succeeded" | "failed" | "skipped" | "cut_off";

/** Where a step or a part stands: the path of what it stands below, and its position there. The run itself is at -1 below "". */
export type StepPlace = { readonly parent: string; readonly position: number };

export type StoredStep = StepPlace & {
  /** Sealed: what is known since it opened. */
  readonly opened: string | null;
  /** Sealed: what it waits for, or how it ended. */
  readonly outcome: string | null;
  /** How it stands, for views of the progress; null for what is not shown in them. */
  readonly status: StepStatus | null;
  /** For a step that succeeded and can be undone: steps are undone in the opposite order. */
  readonly undo_order: number | null;
};

/** Which runs are listed. Both times are included. */
export type WorkflowQuery = SubjectQuery & {
  readonly workflow_id?: string;
  readonly status?: WorkflowStatus;
  readonly tag?: string;
  readonly from?: number;
  readonly to?: number;
  /** Only the children of this one; with null, only those without a parent. */
  readonly parent?: string | null;
  /** Those behind this place, which need not be there any more. */
  readonly behind?: ListPlace;
  readonly limit: number;
};

export type StepsPage = {
  readonly after?: StepPlace;
  /** Only what stands at this path or below it. */
  readonly below?: string;
  readonly limit?: number;
};

export type WorkflowCount = {
  readonly workflow_id: string;
  readonly status: WorkflowStatus;
  readonly runs: number;
};

/** What operators watch beside the numbers of runs. Times are in microseconds. */
export type WorkflowStanding = {
  /** Runs that could go on now, and no process has leased. */
  readonly due: number;
  /** Those of them that are due for longer than was asked about. */
  readonly overdue: number;
  /** How long the run waits that is due the longest; null when none is due. */
  readonly oldest_due_age: number | null;
  readonly stuck: number;
  /** Runs with a problem. */
  readonly problems: number;
  /** Steps of unknown outcome, without those of attempts that were carried on since. */
  readonly unknown_steps: number;
};

export interface WorkflowStore {
  get(runId: string): Promise<StoredWorkflowRun | undefined>;
  /** Newest first; those of one time by id. */
  list(query: WorkflowQuery): Promise<readonly StoredWorkflowRun[]>;
  /** In the order of their parents, byte by byte, and of their positions: all of them, or so many after one. */
  steps(runId: string, page?: StepsPage): Promise<readonly StoredStep[]>;
  /** Those of these places that there are, in any order. */
  stepsAt(runId: string, places: readonly StepPlace[]): Promise<readonly StoredStep[]>;
  /** The steps that have succeeded and can be undone, in the order in which they ended. */
  undoable(runId: string): Promise<readonly StepPlace[]>;
  /** How many rows of steps have each status. The run itself is not counted. */
  counts(runId: string): Promise<Readonly<Record<StepStatus, number>>>;
  /** The runs that an operator has to look at, newest first. */
  problems(limit: number): Promise<readonly StoredWorkflowRun[]>;
  /**
   * Runs without a parent that ended so many microseconds ago. A page in the order of their ids, after the one that is
   * given. `ThreadStore.delete` deletes them, and nothing where something below them is not at rest.
   */
  prunable(query: {
    readonly for_us: number;
    readonly limit: number;
    readonly after?: string;
  }): Promise<readonly string[]>;
  /** The same for the runs that act for a user, whenever they ended; `workspace` narrows to those that act in it. */
  endedOfUser(query: {
    readonly user_id: string;
    readonly workspace?: { readonly workspace_type: string; readonly workspace_id: string };
    readonly limit: number;
    readonly after?: string;
  }): Promise<readonly string[]>;
  /** How many events were sent to the run that no step has taken yet. */
  waitingEvents(runId: string): Promise<number>;
  /** How many runs of each workflow have each status. */
  byWorkflow(): Promise<readonly WorkflowCount[]>;
  /** Counts what there is. Runs that got stuck are neither due nor overdue. */
  standing(query: { readonly for_us: number }): Promise<WorkflowStanding>;
  /** The ids of runs that no process has leased though they are due for so long, the longest due first. */
  overdue(query: { readonly for_us: number; readonly limit: number }): Promise<readonly string[]>;
  /** The ids of runs that something kept from being carried on when they were last claimed, and that are due soon again. */
  putOff(query: { readonly within_us: number; readonly limit: number }): Promise<readonly string[]>;
  /** The ids of runs that were claimed again and again without a commit, those that got stuck first at the head. */
  stuck(limit: number): Promise<readonly string[]>;
}
