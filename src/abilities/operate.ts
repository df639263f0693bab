// The operations of those who keep a runtime going: how it stands, what does not get on and why, and what to do about it.
import { z } from "zod";
import type { StoredCall } from "../backend/thread-rows.ts";
import { jobStatuses } from "../contracts/gateway/job.ts";
import { operationError } from "../contracts/operation-error.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { Switch } from "../threads/switches.ts";
import { defined } from "./defined.ts";
import type { Caller, Operation } from "./operation.ts";
import type { Workbench } from "./reach.ts";
import { id, threadId, threadShape, timeOf } from "./shapes.ts";

const PAGE = 100;

const count = z.int().min(0);

const metricsShape = z.object({
  threads: z.record(threadShape.shape.status, count).meta({ description: "How many threads stand how." }),
  oldest_due_age_ms: count.meta({ description: "How long the thread waits that is due the longest." }),
  oldest_approval_age_ms: count.meta({ description: "How long the approval waits that was asked for first." }),
  unknown_calls: count.meta({ description: "Calls of which nobody could tell what they did." }),
  pending_requests: count.meta({ description: "What threads wait for." }),
  pending_approvals: count,
  inbox_depth: count.meta({ description: "What was left for threads, and not taken yet." }),
  workers: count.meta({ description: "Processes that run threads." }),
  running_here: count.meta({ description: "Threads that this process is running now." }),
  takeovers: count.meta({ description: "Threads that this process has freed from others that died." }),
  lost_leases: count.meta({ description: "Threads that this process has lost while it was at work on them." }),
  refused_commits: count.meta({ description: "Commits of this process that came after it had lost the thread." }),
  overtaken_commits: count.meta({ description: "Commits of this process that were made again." }),
  workflow_steps: count.meta({ description: "Steps of workflows that this process has carried out." }),
  workflow_runs: z
    .record(z.string(), z.record(z.string(), count))
    .meta({ description: "How many runs of each workflow have which status." }),
  workflow_runs_due: count.meta({ description: "Runs of workflows that could go on, and no process has taken." }),
  workflow_runs_overdue: count.meta({ description: "Those of them that are due for more than ten seconds." }),
  workflow_oldest_due_ms: count.meta({ description: "How long the run waits that is due the longest." }),
  workflow_runs_stuck: count.meta({ description: "Runs that were begun again and again without a commit." }),
  workflow_runs_with_problems: count.meta({ description: "Runs with a failed rollback or a step of unknown outcome." }),
  workflow_unknown_steps: count.meta({ description: "Steps of workflows of which it is unknown what they did." }),
  workflow_runs_here: count.meta({ description: "Runs that this process is carrying on now." }),
  gateway_jobs: z
    .record(z.enum(jobStatuses), count)
    .optional()
    .meta({ description: "With a gateway: how many of its jobs stand how." }),
  gateway_oldest_due_ms: count.optional().meta({ description: "How long the job waits that is due the longest." }),
  gateway_plugins: count.optional().meta({ description: "Plugins that are loaded." }),
  gateway_open_circuits: count.optional().meta({ description: "Circuit breakers that are open or half open." }),
  gateway_paused: z.boolean().optional().meta({ description: "Whether no job is started." }),
});

const callShape = z.object({
  thread_id: z.string(),
  run: z.int(),
  number: z.int(),
  tool_name: z.string(),
  tool_call_id: z.string(),
  idempotency_key: z.string().meta({ description: "The key that the tool was called with." }),
  begun_at: z.iso.datetime(),
});

const kind = z.enum(["tool", "agent"]);

const dryRun = z.boolean().default(false);

const switchShape = z.object({
  kind,
  name: z.string(),
  off: z.boolean(),
  reason: z.string(),
  set_by: z.string(),
  set_at: z.iso.datetime(),
});

const explained = { cause: z.string(), sentence: z.string(), command: z.string().nullable() };

/** A thread that somebody has just left is none that rests. */
const LEAST_IDLE_MS = 3_600_000;

const MOST_PRUNED = 1_000;

export function operateOperations({ runtime, define, reach }: Workbench): readonly Operation[] {
  const { calls, switches, threads } = runtime;
  const operates = { capability: "operate" } as const;

  /** What is everybody's is deleted by whoever reaches it, and not by who only looks after the machine. */
  const managesAll = async (_input: unknown, { principal }: Caller) =>
    (await reach.managesThreads(principal)) && principal.workspace_id === null
      ? true
      : operationError("ability_forbidden", "To delete what is everybody's takes the capability threads.manage too.");

  return [
    define({
      ...{ name: "holdfast/metrics", title: "See how everything stands", ...operates },
      description:
        "Counts threads, runs of workflows, requests, calls, workers and jobs of the gateway, and tells what waits the longest.",
      input: z.object({}),
      output: metricsShape,
      effect: "read",
      route: { method: "get", path: "/metrics" },
      execute: async () => await runtime.metrics(),
    }),

    define({
      ...{ name: "holdfast/list-unknown-calls", title: "List calls of unknown outcome", ...operates },
      description: "Lists the tool calls of which nobody could tell what they did, the oldest first.",
      input: z.object({ limit: z.coerce.number().int().min(1).max(500).default(PAGE) }),
      output: z.object({ calls: z.array(callShape) }),
      effect: "read",
      route: { method: "get", path: "/calls/unknown" },
      execute: async ({ limit }) => ({ calls: (await calls.unknown({ limit })).map(shownCall) }),
    }),

    define({
      ...{ name: "holdfast/settle-call", title: "Settle a call of unknown outcome", ...operates },
      description: "Says what a call did. It takes the place of what the model was told, in every later run.",
      input: z.object({ thread_id: threadId, run: z.int().min(0), number: z.int().min(0), result: z.json() }),
      output: z.object({ settled: z.literal(true) }),
      effect: "write",
      route: { method: "post", path: "/calls/settle" },
      async execute({ result, ...call }, { principal }) {
        await calls.settle(call, result, { principal });
        return { settled: true as const };
      },
    }),

    define({
      ...{ name: "holdfast/retry-thread", title: "Let a stuck thread try again", ...operates },
      description: "Lets a thread go on that was begun again and again without getting on.",
      input: z.object({ thread_id: threadId }),
      output: z.object({ retried: z.literal(true) }),
      effect: "write",
      route: { method: "post", path: "/threads/{thread_id}/retry" },
      async execute({ thread_id }) {
        await threads.retry(thread_id);
        return { retried: true as const };
      },
    }),

    define({
      ...{ name: "holdfast/prune-threads", title: "Delete threads that rest", ...operates },
      description: "Deletes the threads that nobody has used for so long and that wait for nothing, for good.",
      input: z.object({
        idle_ms: z.int().min(LEAST_IDLE_MS).meta({ description: "How long they rest at least: an hour or more." }),
        dry_run: dryRun.meta({ description: "Only tell which would be, without their children." }),
        limit: z.int().min(1).max(MOST_PRUNED).optional().meta({ description: "So many at once; all unless given." }),
        after: id.optional().meta({ description: "The next of the answer before." }),
      }),
      output: z.object({ deleted: z.array(z.string()), next: z.string().optional() }),
      effect: "destroy",
      idempotent: true,
      route: { method: "post", path: "/threads/prune" },
      mayCall: managesAll,
      async execute({ idle_ms, dry_run, limit, after }) {
        const which = { idleMs: idle_ms, dryRun: dry_run };
        if (limit === undefined) return { deleted: [...(await threads.prune(which))] };
        const { deleted, ...next } = await threads.prunePage({ ...which, limit, ...defined({ after }) });
        return { deleted: [...deleted], ...next };
      },
    }),

    define({
      ...{ name: "holdfast/prune-files", title: "Remove bytes that no file names", ...operates },
      description: "Removes what files held that were overwritten or deleted, where no other file holds the same.",
      input: z.object({ dry_run: dryRun.meta({ description: "Only count them." }) }),
      output: z.object({ contents: count, bytes: count }),
      effect: "destroy",
      idempotent: true,
      route: { method: "post", path: "/files/prune" },
      mayCall: managesAll,
      execute: async ({ dry_run }) => ({ ...(await threads.pruneFiles({ dryRun: dry_run })) }),
    }),

    define({
      ...{ name: "holdfast/set-switch", title: "Switch a tool or an agent off or on", ...operates },
      description:
        "A tool that is off is refused when it would run. An agent that is off is not asked: what is sent waits.",
      input: z.object({ kind, name: id, off: z.boolean(), reason: z.string().max(1_000).optional() }),
      output: z.object({ set: z.literal(true) }),
      effect: "write",
      idempotent: true,
      route: { method: "post", path: "/switches" },
      async execute({ kind: of, name, ...setting }, { principal }) {
        await switches.set(of, name, { ...defined(setting), by: nameOf(principal) });
        return { set: true as const };
      },
    }),

    define({
      ...{ name: "holdfast/list-switches", title: "List what is switched off", ...operates },
      description: "Lists tools and agents that are switched off or were, with who said so and why.",
      input: z.object({}),
      output: z.object({ switches: z.array(switchShape) }),
      effect: "read",
      route: { method: "get", path: "/switches" },
      execute: async () => ({ switches: (await switches.list()).map(shownSwitch) }),
    }),

    define({
      ...{ name: "holdfast/diagnose", title: "Find out what does not get on", ...operates },
      description: "What somebody should look at, in a sentence each, and what to type about it.",
      input: z.object({}),
      output: z.object({
        healthy: z.boolean(),
        findings: z.array(z.object({ thread_id: z.string().nullable(), run_id: z.string().optional(), ...explained })),
      }),
      effect: "read",
      route: { method: "get", path: "/doctor" },
      async execute() {
        const { healthy, findings } = await runtime.diagnose();
        return { healthy, findings: [...findings] };
      },
    }),

    define({
      ...{ name: "holdfast/diagnose-thread", title: "Find out why a thread does not go on", ...operates },
      description: "Says in a sentence why a thread does not go on, and what to type about it.",
      input: z.object({ thread_id: threadId }),
      output: z.object({ thread_id: z.string(), status: threadShape.shape.status, ...explained }),
      effect: "read",
      route: { method: "get", path: "/threads/{thread_id}/diagnosis" },
      execute: async ({ thread_id }) => await threads.diagnose(thread_id),
    }),
  ];
}

function shownCall(call: StoredCall): z.input<typeof callShape> {
  const { thread_id, run, number, tool_name, tool_call_id, idempotency_key, begun_at } = call;
  return { thread_id, run, number, tool_name, tool_call_id, idempotency_key, begun_at: timeOf(begun_at) };
}

function shownSwitch({ set_at, ...rest }: Switch): z.input<typeof switchShape> {
  return { ...rest, set_at: timeOf(set_at) };
}

/** Who says so, in words that may be shown. */
function nameOf({ acting_user_id, auth_source }: Principal): string {
  return acting_user_id > 0 ? `user:${acting_user_id}` : auth_source;
}
