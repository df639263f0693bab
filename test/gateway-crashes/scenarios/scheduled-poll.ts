// Polls that are due by the clock: one every moment, one at a time that is over. Each run of a schedule is one job, and each job
// has one hook.
import { setTimeout as sleep } from "node:timers/promises";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { different } from "../check-run.ts";
import type { GatewayScenario } from "../scenario.ts";
import { checkEffects, counting, quickRetries } from "./order-pipeline.ts";

/** How many polls have to succeed before the schedule is paused. */
const ENOUGH = 3;

export const scheduledPoll: GatewayScenario = {
  name: "scheduled poll",
  config: () => ({
    service: { tick_interval: "100ms" },
    plugins: {
      ...quickRetries("report"),
      watch: {
        retry: { backoff_base: "1ms" },
        notify_on_complete: true,
        schedules: [{ every: "100ms", catch_up: "run_once" }],
      },
      once: { retry: { backoff_base: "1ms" }, schedules: [{ id: "past", at: "2026-01-01T00:00:00Z" }] },
    },
    pipelines: [{ name: "reports", "on-hook": "job.completed", steps: [{ id: "report", uses: "report" }] }],
  }),
  plugins: (world) => [
    counting(world, "watch", () => ({}), "poll"),
    counting(world, "once", () => ({}), "poll"),
    counting(world, "report", () => ({})),
  ],
  startsByItself: true,
  async play(gateway) {
    await gateway.schedules.resume("watch", "default").catch(() => undefined);
    while ((await succeeded(gateway, "watch")) < ENOUGH || (await succeeded(gateway, "once")) < 1) await sleep(25);
    await gateway.schedules.pause("watch", "default");
  },
  async check(ended) {
    const { reading } = ended;
    const jobs = await reading.rows("select plugin, status, submitted_by from gateway_jobs order by seq");
    const of = (plugin: string) => jobs.filter((job) => job.plugin === plugin);
    const fired = (await reading.stream()).filter(({ type }) => type === "scheduler.scheduled");
    const firedFor = (plugin: string) => fired.filter(({ data }) => data.plugin === plugin).length;
    const schedules = (await reading.stores.schedules.list()).map(({ plugin, status }) => `${plugin} ${status}`);
    const polls = of("watch").length;
    return [
      ...different("the list of schedules", schedules, ["once exhausted", "watch paused_manual"]),
      ...different("how jobs ended", [...new Set(jobs.map(({ status }) => String(status)))], ["succeeded"]),
      ...different("runs of schedules", [firedFor("watch"), firedFor("once")].map(String), [String(polls), "1"]),
      ...different("hooks", [String(of("report").length)], [String(polls)]),
      ...(await checkEffects(ended, { watch: polls, once: 1, report: polls })),
    ];
  },
};

async function succeeded(gateway: Gateway, plugin: string): Promise<number> {
  return (await gateway.jobs.list({ plugin, statuses: ["succeeded"], limit: ENOUGH })).length;
}
