// What happens in the gateway by the clock: schedules, the reaper of agents, and retention.

import type { Clock } from "../../backend/clock.ts";
import type { NewJob } from "../../backend/gateway/job-store.ts";
import { errorMessage, HoldfastError } from "../../contracts/error.ts";
import { pendingSince, readRuns } from "../../contracts/gateway/agent/agentic-run.ts";
import { hasEnded } from "../../contracts/gateway/job.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { readAgentConfig } from "../agent/agent-config.ts";
import { maxAttempts } from "../plugins/max-attempts.ts";
import type { Plugin } from "../plugins/plugin.ts";
import { scheduleProblem } from "../plugins/schedule-problem.ts";
import { createStanding } from "../schedule/configuration-in-force.ts";
import { type Entry, readScheduleRef, scheduleRef } from "../schedule/entry.ts";
import { scheduledJobEnded } from "../schedule/scheduled-job-ended.ts";
import { tick } from "../schedule/scheduler.ts";
import { cancelledParts } from "./agents/cancelled-parts.ts";
import { derivedId } from "./commit/derived-id.ts";
import { storeChild } from "./commit/store-child.ts";
import { storeEntry } from "./commit/store-commit.ts";
import type { DispatchDeps } from "./deps.ts";
import type { Applied } from "./execute/executed-job.ts";
import type { Opened } from "./execute/opened-job.ts";
import type { Snapshot } from "./snapshot.ts";

export type TickOptions = {
  readonly deps: DispatchDeps;
  readonly snapshot: () => Snapshot;
  /** Looks for queued jobs at once. */
  readonly nudge: () => void;
  readonly clock?: Clock | undefined;
  readonly report: (error: unknown, jobId: string) => void;
};

export type Ticks = {
  start(): void;
  stop(): Promise<void>;
  /** A job was committed here: schedules learn of the end of theirs. */
  jobEnded(opened: Opened, applied: Applied): Promise<void>;
};

const PRUNE_AT_ONCE = 500;

const ABOUT_SCHEDULES = { id: "", plugin: "gateway", command: "schedules" };
const SET_ASIDE =
  "Another process has loaded a configuration with other schedules, which run in the place of this process's own. Reload this process too.";
const IN_FORCE = "The schedules of this process run again.";

export function createTicks({ deps, snapshot, nudge, clock, report }: TickOptions): Ticks {
  let timer: NodeJS.Timeout | undefined;
  let unwatch: (() => void) | undefined;
  let ticking: Promise<void> | undefined;
  let isStopped = false;
  let hasTicked = false;
  const isInForce = createStanding(deps.configurations, deps.worker);
  let wasInForce = true;

  const entries = (): readonly Entry[] => {
    const { config, plugins } = snapshot();
    return [...config.plugins.values()]
      .filter(({ name, enabled }) => enabled && plugins.has(name))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .flatMap((settings) =>
        settings.schedules.map((schedule) => {
          const problem = scheduleProblem(plugins.get(settings.name), schedule);
          return { plugin: settings.name, settings, schedule, problem };
        }),
      );
  };

  function createJob({ plugin, schedule }: Entry, run: string): NewJob {
    return rootJob(`schedule ${run}`, {
      ...{ plugin, command: schedule.command, payload: schedule.payload },
      source_event_id: scheduleRef(plugin, schedule.id),
    });
  }

  function rootJob(
    identity: string,
    job: Pick<NewJob, "plugin" | "command" | "source_event_id"> & {
      readonly payload: Parameters<typeof storeChild>[0]["payload"];
    },
    dedupe_key: string | null = null,
  ): NewJob {
    const { config, plugins } = snapshot();
    const id = derivedId(identity);
    return storeChild(
      {
        ...{ id, ...job, submitted_by: config.service.name, context_id: null, place: null, dedupe_key },
        max_attempts: maxAttempts(job.command, plugins.get(job.plugin)),
        ...{ waits_for_instance: null, is_exempt: false },
      },
      { parent_job_id: null, root_job_id: id, user_id: null },
      { sealed: deps.sealed, dedupeKeepUs: 0 },
    );
  }

  const describe = (type: string, data: JsonMap) => storeEntry({ type, data }, null, deps.redact);
  const schedules: DispatchDeps["schedules"] = {
    ...deps.schedules,
    async fire(fire) {
      await deps.onCrashPoint("before commit schedule");
      const fired = await deps.schedules.fire(fire);
      await deps.onCrashPoint("after commit schedule");
      return fired;
    },
  };

  async function cancel(id: string, by: string): Promise<void> {
    await deps.jobs.cancel(id, by, await cancelledParts(deps, snapshot(), id, by));
    deps.announce();
  }

  async function once(): Promise<void> {
    await apart("The schedules were not looked at", async () => {
      const { random } = deps;
      // First of all: what is registered counts from the moment at which the tick began.
      const now = await deps.control.now();
      const own = { ...deps, schedules, random, createJob, describe, cancel, apart };
      const known = entries();
      const isOurs = await isInForce({ source: snapshot(), entries: known });
      if (isOurs) await tick(own, known, { now, isFirst: !hasTicked });
      if (isOurs !== wasInForce) deps.log(isOurs ? "info" : "warn", isOurs ? IN_FORCE : SET_ASIDE, ABOUT_SCHEDULES);
      wasInForce = isOurs;
      hasTicked = true;
    });
    for (const plugin of snapshot().plugins.values()) {
      if (plugin.isAgent) await apart(`The runs of the agent ${plugin.name} were not looked at`, () => reap(plugin));
    }
    await apart("Nothing was pruned", prune);
    nudge();
  }

  /** What fails keeps nothing else from its turn. While the database is away everything would fail, for that one reason. */
  async function apart(failed: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      if (thrown instanceof HoldfastError && thrown.code === "database_unavailable") throw thrown;
      report(new Error(`${failed}: ${errorMessage(thrown)}`, { cause: thrown }), "");
    }
  }

  /** Polls an agent that has a run whose tool has not answered in time: its poll ends such runs. */
  async function reap(agent: Plugin): Promise<void> {
    if (!agent.manifest.commands.some(({ name }) => name === "poll")) return;
    const stored = await deps.pluginState.get(agent.name);
    if (!stored) return;
    const { pending_timeout_ms } = readAgentConfig(agent.config);
    const now = await deps.control.now();
    for (const { run } of readRuns(deps.sealed.open("state", agent.name, stored.sealed_state))) {
      if (run.status !== "running") continue;
      const since = pendingSince(run).getTime() * 1_000;
      if (now - since <= pending_timeout_ms * 1_000) continue;
      const paused = await deps.control.pausedSince(since);
      if (now - since - paused <= pending_timeout_ms * 1_000) continue;
      const job = rootJob(
        `reap ${agent.name} ${stored.revision} ${now}`,
        { plugin: agent.name, command: "poll", payload: {}, source_event_id: null },
        `reap ${agent.name}`,
      );
      await deps.onCrashPoint("before enqueue job");
      await deps.jobs.enqueue([job]);
      await deps.onCrashPoint("after enqueue job");
      return;
    }
  }

  async function prune(): Promise<void> {
    const { job_queue_retention_ms, job_log_retention_ms, event_retention_ms } = snapshot().config.service;
    const ages = { queue_us: job_queue_retention_ms * 1_000, log_us: job_log_retention_ms * 1_000 };
    await untilFew(() => deps.jobs.prune({ ...ages, limit: PRUNE_AT_ONCE }));
    await untilFew(() => deps.events.prune(event_retention_ms * 1_000, PRUNE_AT_ONCE));
    await deps.schedules.forget(ages.queue_us);
  }

  /** More may have come to its end since the last tick than is removed at once. */
  async function untilFew(remove: () => Promise<number>): Promise<void> {
    for (let removed = PRUNE_AT_ONCE; removed >= PRUNE_AT_ONCE && !isStopped; ) removed = await remove();
  }

  /** One at a time, however slow the database is. */
  function run(): Promise<void> {
    ticking ??= once()
      .catch((thrown: unknown) => report(thrown, ""))
      .finally(() => {
        ticking = undefined;
      });
    return ticking;
  }

  function schedule(): void {
    if (isStopped) return;
    timer = setTimeout(() => void run().finally(schedule), snapshot().config.service.tick_interval_ms);
    timer.unref();
  }

  return {
    start() {
      // A tick that is under way may have read the time before.
      unwatch = clock?.watch(async () => {
        await ticking;
        await run();
      });
      void run().finally(schedule);
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      unwatch?.();
      await ticking;
    },
    async jobEnded({ job }, { settlement }) {
      // Events may have any id: only what nothing has emitted was scheduled.
      const ref = job.parent_job_id === null ? readScheduleRef(job.source_event_id) : undefined;
      if (!ref || settlement.status === "queued" || !hasEnded(settlement.status)) return;
      // That it was cancelled says nothing of whether its command works.
      if (settlement.reason === "cancelled") return;
      const entry = entries().find(({ plugin, schedule }) => plugin === ref.plugin && schedule.id === ref.scheduleId);
      if (!entry) return;
      const ended = { hasSucceeded: settlement.status === "succeeded", now: await deps.control.now() };
      await scheduledJobEnded({ ...deps, describe }, entry, ended);
    },
  };
}
