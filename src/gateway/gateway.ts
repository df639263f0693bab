// The gateway as programs and operations hold it.
import type { StreamEntry } from "../backend/gateway/gateway-event-store.ts";
import type { JobAttempt, JobQuery, JobTransition, ListedJob } from "../backend/gateway/job-store.ts";
import type { StoredBreaker, StoredSchedule } from "../backend/gateway/schedule-store.ts";
import type { AgentRun } from "../contracts/gateway/agent/agentic-run.ts";
import type { JobStatus } from "../contracts/gateway/job.ts";
import type { JsonMap } from "../contracts/json.ts";
import type { LocatedProblem } from "../yaml/place.ts";
import type { Plugin } from "./plugins/plugin.ts";

/** Who asks for something, as far as the queue records it. */
export type Submitter = {
  /** `api`, `cli`, `webhook:<path>`. */
  readonly via: string;
  /**
   * The person, with a type: `user:7`. Recorded with every job of the tree, so that erasing the person finds it. Without a type
   * it is refused with `invalid_argument`.
   */
  readonly user_id?: string;
};

export type NewEvent = { readonly type: string; readonly payload: JsonMap; readonly dedupe_key?: string };

export type Submitted = {
  /** The jobs that were queued, in order. */
  readonly job_ids: readonly string[];
  /** Jobs that were queued before, in whose place none was added. */
  readonly duplicates: readonly (string | null)[];
};

/** A job as lists show it: what is sealed in the database is opened, and secrets are redacted. */
export type JobView = Omit<ListedJob, "sealed_error" | "user_id" | "dedupe_hash" | "waits_for_instance"> & {
  readonly last_error: string | null;
  /** The text of the last successful response. */
  readonly result: string | null;
};

/** Payloads may be large: they are shown where one job is asked for. Null once it was erased. */
export type JobWithPayload = JobView & { readonly payload: JsonMap | null };

export type WebhookMessage = {
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** Asked once about a message that proves no sender, or came before; false keeps the refusal out of the log. */
  readonly logsRefusal?: () => boolean;
};

export type AttemptView = Pick<
  JobAttempt,
  "attempt" | "outcome" | "status" | "reason" | "exit_code" | "started_at" | "ended_at"
> & {
  readonly response: string | null;
  readonly stderr: string | null;
  readonly error: string | null;
};

export type JobDetails = { readonly attempts: readonly AttemptView[]; readonly transitions: readonly JobTransition[] };

/** What came of waiting for a synchronous pipeline. */
export type PipelineResult =
  | {
      readonly outcome: "ended";
      readonly job_id: string;
      readonly status: "succeeded" | "failed";
      readonly result: JsonMap | null;
      readonly duration_ms: number;
      readonly tree: readonly JobView[];
    }
  | { readonly outcome: "timeout_exceeded"; readonly job_id: string }
  | { readonly outcome: "queued"; readonly job_ids: readonly string[] };

export type AgentRunView = AgentRun & {
  readonly run_id: string;
  readonly agent: string;
  readonly job_id: string | null;
  /** Where its files are, on the machine that runs its jobs; null for an agent that names no folder. */
  readonly workspace_dir: string | null;
};

export type ScheduleView = Omit<StoredSchedule, "removed_at"> & { readonly command: string; readonly when: string };

export type GatewayStatus = {
  readonly name: string;
  readonly is_paused: boolean;
  readonly queue_depth: number;
  readonly jobs: Readonly<Record<JobStatus, number>>;
  readonly oldest_due_ms: number | null;
  readonly plugins_loaded: number;
  readonly plugins_circuit_open: number;
  readonly pipelines: number;
};

export type ReloadResult = {
  readonly plugins: number;
  readonly pipelines: number;
  readonly warnings: readonly LocatedProblem[];
};

export type PipelineView = {
  readonly name: string;
  readonly on: string | null;
  readonly on_hook: string | null;
  readonly execution_mode: "async" | "synchronous";
  readonly steps: readonly { readonly id: string; readonly uses: string }[];
};

export interface Gateway {
  /** Routes an event to the pipelines that listen. Throws `event_reserved` or `invalid_event`. */
  emit(event: NewEvent, submitter: Submitter): Promise<Submitted>;
  /** Queues one command of a plugin. Throws `plugin_not_found`, `plugin_command_not_found`, `event_reserved`. */
  call(
    plugin: string,
    command: string,
    input: { readonly payload: JsonMap; readonly dedupe_key?: string },
    submitter: Submitter,
  ): Promise<Submitted>;
  /** Starts a pipeline with an event of its own trigger type, and waits if it is synchronous. */
  runPipeline(
    name: string,
    input: {
      readonly payload: JsonMap;
      readonly dedupe_key?: string;
      readonly isAsync?: boolean;
      readonly timeoutMs?: number;
    },
    submitter: Submitter,
    signal?: AbortSignal,
  ): Promise<PipelineResult>;
  /** One message at the endpoint of a path. Throws nothing for what senders do wrong. */
  receiveWebhook(
    path: string,
    message: WebhookMessage,
  ): Promise<{ readonly status: 202 | 403 | 404 | 413 | 400; readonly body: JsonMap } | undefined>;
  /** The largest body that an endpoint takes; undefined where there is none. */
  webhookBodyLimit(path: string): number | undefined;

  readonly jobs: {
    get(id: string): Promise<JobWithPayload>;
    details(id: string): Promise<JobDetails>;
    /** Jobs of the queue. */
    list(query: JobQuery): Promise<readonly JobView[]>;
    /** Jobs of the queue and those that have left it, for as long as the log is kept. */
    log(query: JobQuery): Promise<readonly JobView[]>;
    tree(id: string): Promise<readonly JobView[]>;
    /** Throws `job_not_found` or `job_ended`. A running one is killed. */
    cancel(id: string, by: string): Promise<"cancelled" | "requested">;
  };
  readonly runs: {
    start(
      input: {
        readonly goal: string;
        readonly context?: JsonMap;
        readonly run_id?: string;
        readonly agent?: string;
        readonly dedupe_key?: string;
      },
      submitter: Submitter,
    ): Promise<Submitted & { readonly run_id: string | null }>;
    list(): Promise<readonly AgentRunView[]>;
    /** Throws `agent_run_not_found`. */
    get(runId: string): Promise<AgentRunView>;
    /** The lines of the run's trace. */
    trace(runId: string): Promise<readonly JsonMap[]>;
    /**
     * Kills the tool that runs for it and escalates the run as `cancelled`. Throws `agent_run_not_found`, `agent_run_ended`, and
     * `plugin_command_not_found` once the tool was killed, where the agent has no command that ends a run.
     */
    cancel(runId: string, by: string): Promise<void>;
  };
  readonly schedules: {
    list(): Promise<readonly ScheduleView[]>;
    pause(plugin: string, id: string): Promise<void>;
    resume(plugin: string, id: string): Promise<void>;
  };
  readonly breakers: {
    list(): Promise<readonly StoredBreaker[]>;
    /** Throws `plugin_not_found` or `plugin_command_not_found`. */
    reset(plugin: string, command: string): Promise<void>;
  };
  readonly events: {
    read(after: number, limit: number): Promise<readonly StreamEntry[]>;
    last(): Promise<number>;
    /** Entries behind an id, then new ones as they are committed, until the signal fires. */
    follow(after: number, signal?: AbortSignal): AsyncIterable<StreamEntry>;
  };

  plugins(): readonly Plugin[];
  pipelines(): readonly PipelineView[];
  /** The effective configuration with its compiled pipelines, secrets redacted. */
  configuration(): JsonMap;
  warnings(): readonly LocatedProblem[];
  status(): Promise<GatewayStatus>;
  pause(by: string): Promise<boolean>;
  resume(): Promise<boolean>;
  /**
   * Erases payloads, answers and agent runs of a user, as named by the submitter: `user:7`. The rows of the jobs stay. Resolves
   * with how many jobs there were. Throws `invalid_argument` for an id without a type.
   */
  eraseUser(userId: string): Promise<number>;
  /** Reads the configuration again and swaps it in. Throws `gateway_config_invalid` and changes nothing. */
  reload(): Promise<ReloadResult>;
}
