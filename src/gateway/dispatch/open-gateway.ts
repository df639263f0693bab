// The gateway, wired: configuration, dispatcher, scheduler, and what programs call.

import type { Clock } from "../../backend/clock.ts";
import type { GatewayStores } from "../../backend/gateway/gateway-stores.ts";
import type { ClaimedJob, JobQuery, ListedJob } from "../../backend/gateway/job-store.ts";
import type { SqlDriver } from "../../backend/sql-driver.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { LogLevel } from "../../contracts/gateway/protocol/response.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { OnCrashPoint } from "../../engine/crash-points.ts";
import type { Membership } from "../../engine/membership.ts";
import { WorkLoop } from "../../engine/work-loop.ts";
import type { Findings } from "../../threads/diagnose.ts";
import type { Sealing } from "../../threads/secrets/sealing.ts";
import { showPlace } from "../../yaml/place.ts";
import type { Gateway } from "../gateway.ts";
import { closedBreaker } from "../schedule/breaker.ts";
import { changeBreaker } from "../schedule/change-breaker.ts";
import { agentRuns } from "./agents/agent-runs.ts";
import { runCancelled } from "./agents/cancel-tools.ts";
import { cancelledParts } from "./agents/cancelled-parts.ts";
import { createChanges } from "./changes.ts";
import { createSealedJson } from "./commit/sealed-json.ts";
import { storeEntry } from "./commit/store-commit.ts";
import type { DispatchDeps, LoggedJob } from "./deps.ts";
import { diagnoseGateway } from "./diagnose-gateway.ts";
import { eraseUser } from "./erase-user.ts";
import { createJobSource } from "./execute/job-source.ts";
import { followEvents } from "./follow-events.ts";
import { receiveWebhook } from "./intake/receive-webhook.ts";
import { runPipeline } from "./intake/run-pipeline.ts";
import { findPlugin, requireCommand, reserved, submitCall, submitEvent } from "./intake/submit.ts";
import { viewDetails, viewJob, viewWithPayload } from "./job-views.ts";
import type { RunningGateway } from "./running-gateway.ts";
import { loadSnapshot, type Snapshot, type SnapshotOptions } from "./snapshot.ts";
import { createTicks } from "./ticks.ts";
import { viewConfiguration, viewPipeline, viewSchedules } from "./views.ts";

export type GatewayOptions = Omit<SnapshotOptions, "builtIns"> & {
  readonly stores: GatewayStores;
  readonly driver: Pick<SqlDriver, "listen" | "isShared">;
  readonly sealing: Sealing;
  readonly membership: Membership;
  /** Where agent runs keep their files, unless the configuration says so. Absolute. */
  readonly workspaceRoot: string;
  readonly builtIns: (running: RunningGateway) => SnapshotOptions["builtIns"];
  readonly redact: (text: string) => string;
  readonly now: () => number;
  readonly clock?: Clock | undefined;
  readonly random?: () => number;
  /** Whether this process runs jobs; otherwise it only submits and reads. */
  readonly runs: boolean;
  /** False where another machine runs the jobs of agents, whose files are there. */
  readonly runsAgents?: boolean;
  readonly pollMs: number;
  readonly leaseMs: number;
  readonly drainMs: number;
  readonly onCrashPoint: OnCrashPoint;
  readonly report: (error: unknown, jobId: string) => void;
  readonly log: (level: LogLevel, message: string, job: LoggedJob) => void;
};

export type OpenedGateway = Gateway & {
  /** Begins to run jobs. The membership has joined before. */
  start(): void;
  /** Lets what runs come to its end as far as there is time, and claims nothing more. */
  stop(): Promise<void>;
  readonly active: () => number;
  /** What an operator should look at. */
  diagnose(): Promise<Findings>;
};

/** What a line of the log about the configuration is about. */
const CONFIGURATION: LoggedJob = { id: "", plugin: "gateway", command: "load" };

/** Throws `gateway_config_invalid`. What it only warns of is logged, as with every reload. */
export async function openGateway(options: GatewayOptions): Promise<OpenedGateway> {
  const { stores, driver, membership, redact, now } = options;
  const { jobs, events, control, schedules } = stores;
  const sealed = createSealedJson(options.sealing);
  const changes = createChanges();
  let snapshot: Snapshot;
  const workspaceRoot = () => snapshot.config.service.workspace_root ?? options.workspaceRoot;
  const running: RunningGateway = { snapshot: () => snapshot };
  const load = async () => {
    const loaded = await loadSnapshot({ ...options, builtIns: options.builtIns(running) });
    for (const { message, ...place } of loaded.warnings) {
      options.log("warn", `${showPlace(place)}: ${message}`, CONFIGURATION);
    }
    return loaded;
  };
  snapshot = await load();

  const random = options.random ?? Math.random;
  const deps: DispatchDeps = {
    ...stores,
    ...{ sealed, redact, now, random, worker: membership.worker },
    get workspaceRoot() {
      return workspaceRoot();
    },
    onCrashPoint: options.onCrashPoint,
    log: options.log,
    announce: () => changes.announce(),
    async committed(opened, applied) {
      changes.announce();
      if (applied.children.length > 0) loop.nudge();
      const report = (thrown: unknown) => options.report(thrown, opened.job.id);
      await ticks.jobEnded(opened, applied).catch(report);
      await runCancelled(deps, snapshot, opened, applied).catch(report);
    },
  };
  const ticks = createTicks({ ...options, deps, snapshot: () => snapshot, nudge: () => loop.nudge() });
  const loop = new WorkLoop<ClaimedJob>({
    source: createJobSource({ deps, snapshot: () => snapshot, runsAgents: options.runsAgents ?? true }),
    ...{ membership, driver, pollMs: options.pollMs, leaseMs: options.leaseMs, drainMs: options.drainMs },
    get concurrency() {
      return snapshot.config.service.max_workers;
    },
    ...(options.clock && { clock: options.clock }),
    report: options.report,
  });
  const describe = (type: string, data: JsonMap) => storeEntry({ type, data }, null, redact);
  const waiting = { count: 0 };
  let reloading: Promise<unknown> = Promise.resolve();
  let unlisten: (() => void) | undefined;

  /** Runs what was submitted without waiting for the next poll. */
  const submitted = <Result>(result: Result): Result => {
    loop.nudge();
    changes.announce();
    return result;
  };
  const runs = agentRuns({ deps, snapshot: () => snapshot, submitted });
  const views = { jobs, sealed, redact };
  const view = (job: ListedJob) => viewJob(views, job);
  const find = async (id: string) => {
    const job = await jobs.get(id);
    if (!job) throw holdfastError("job_not_found", `There is no job "${id}".`);
    return job;
  };

  return {
    emit: async (event, by) => submitted(await submitEvent(deps, snapshot, event, by)),
    async call(name, command, input, by) {
      const plugin = findPlugin(snapshot, name);
      if (plugin.isAgent && command !== "handle" && command !== "health")
        throw reserved(deps, `${name}.${command}`, by);
      return submitted(await submitCall(deps, snapshot, { plugin, command, ...input, eventType: "api.trigger" }, by));
    },
    runPipeline: (name, input, by, signal) =>
      runPipeline({ deps, snapshot, changes, waiting, submitted, view }, name, input, {
        by,
        ...(signal && { signal }),
      }),
    async receiveWebhook(path, message) {
      const endpoint = snapshot.config.webhooks.find((each) => each.path === path);
      return endpoint && submitted(await receiveWebhook(deps, snapshot, endpoint, message));
    },
    webhookBodyLimit: (path) => snapshot.config.webhooks.find((each) => each.path === path)?.max_body_bytes,

    jobs: {
      get: async (id) => await viewWithPayload(views, await find(id)),
      details: (id) => viewDetails(views, id),
      list: async (query: JobQuery) => await Promise.all((await jobs.list(query)).map(view)),
      log: async (query: JobQuery) => await Promise.all((await jobs.log(query)).map(view)),
      async tree(id) {
        const { root_job_id } = await find(id);
        return await Promise.all((await jobs.tree(root_job_id)).map(view));
      },
      async cancel(id, by) {
        const outcome = await jobs.cancel(id, by, await cancelledParts(deps, snapshot, id, by));
        // A job that is in the log alone has ended.
        if (outcome === "not_found") await find(id);
        if (outcome === "not_found" || outcome === "ended") throw holdfastError("job_ended", `Job "${id}" has ended.`);
        return submitted(outcome);
      },
    },
    runs,
    schedules: {
      list: async () => viewSchedules(snapshot, await schedules.list()),
      async pause(plugin, id) {
        if (await schedules.setStatus(plugin, id, "paused_manual", null)) return;
        throw holdfastError("schedule_not_found", `The plugin ${plugin} has no schedule "${id}".`);
      },
      async resume(plugin, id) {
        if (await schedules.setStatus(plugin, id, "active", null)) return;
        throw holdfastError("schedule_not_found", `The plugin ${plugin} has no schedule "${id}".`);
      },
    },
    breakers: {
      list: () => schedules.breakers(),
      async reset(plugin, command) {
        const known = await schedules.breaker(plugin, command);
        if (!known) requireCommand(findPlugin(snapshot, plugin), command);
        if (known) await changeBreaker({ schedules, describe }, closedBreaker(plugin, command), known);
      },
    },
    events: {
      read: (after, limit) => events.read({ after, limit }),
      last: () => events.last(),
      follow: (after, signal) => followEvents({ events, changes }, after, signal),
    },

    plugins: () => [...snapshot.plugins.values()],
    pipelines: () => [...snapshot.graph.pipelines.values()].map(viewPipeline),
    configuration: () => viewConfiguration(snapshot, redact),
    warnings: () => snapshot.warnings,
    async status() {
      const [counts, isPaused, breakers] = await Promise.all([jobs.counts(), control.isPaused(), schedules.breakers()]);
      return {
        name: snapshot.config.service.name,
        is_paused: isPaused,
        queue_depth: counts.byStatus.queued,
        jobs: counts.byStatus,
        oldest_due_ms: counts.oldest_due_us === null ? null : Math.round(counts.oldest_due_us / 1_000),
        plugins_loaded: snapshot.plugins.size,
        plugins_circuit_open: breakers.filter(({ state }) => state !== "closed").length,
        pipelines: snapshot.graph.pipelines.size,
      };
    },
    eraseUser: (userId) => eraseUser(deps, userId),
    pause: (by) => control.pause(by),
    resume: async () => submitted(await control.resume()),
    async reload() {
      // One after another, so that the last one is what is in force, however long the others take.
      const done = reloading.then(async () => {
        snapshot = await load();
        loop.nudge();
        return snapshot;
      });
      reloading = done.catch(() => undefined);
      const { plugins, graph, warnings } = await done;
      return { plugins: plugins.size, pipelines: graph.pipelines.size, warnings };
    },

    start() {
      if (!options.runs) return;
      unlisten = driver.listen(() => changes.announce());
      loop.start();
      ticks.start();
    },
    async stop() {
      unlisten?.();
      await ticks.stop();
      await loop.stop();
    },
    active: () => loop.active,
    diagnose: () => diagnoseGateway(stores, snapshot),
  };
}
