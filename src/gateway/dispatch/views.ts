// Configuration, pipelines and schedules as they are shown.
import type { StoredSchedule } from "../../backend/gateway/schedule-store.ts";
import type { Pipeline, Step } from "../../contracts/gateway/pipelines/pipeline-graph.ts";
import { type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { REDACTED } from "../../contracts/tools/sensitive-keys.ts";
import type { ScheduleSettings } from "../config/gateway-config.ts";
import type { PipelineView, ScheduleView } from "../gateway.ts";
import { withoutSecrets } from "./config-secrets.ts";
import { readMap } from "./job-views.ts";
import { redactedJson } from "./redacted-json.ts";
import type { Snapshot } from "./snapshot.ts";

export function viewPipeline({ name, trigger, execution_mode, steps }: Pipeline): PipelineView {
  return {
    name,
    on: "on" in trigger ? trigger.on : null,
    on_hook: "on_hook" in trigger ? trigger.on_hook : null,
    execution_mode,
    steps: [...steps.values()].map(({ id, plugin }) => ({ id, uses: plugin })),
  };
}

export function viewSchedules({ config }: Snapshot, stored: readonly StoredSchedule[]): readonly ScheduleView[] {
  const present = stored.filter(({ removed_at }) => removed_at === null);
  return present.map(({ removed_at: _, ...schedule }) => {
    const { schedules = [] } = config.plugins.get(schedule.plugin) ?? {};
    const settings = schedules.find(({ id }) => id === schedule.schedule_id);
    return { ...schedule, command: settings?.command ?? "", when: settings ? describeWhen(settings) : "" };
  });
}

function describeWhen({ when, timezone }: ScheduleSettings): string {
  if ("every_ms" in when) return `every ${when.every_ms / 1_000} s`;
  if ("cron" in when) return timezone === null ? `cron ${when.cron}` : `cron ${when.cron} (${timezone})`;
  return "at" in when ? `at ${when.at}` : `after ${when.after_ms / 1_000} s`;
}

/** With secrets redacted, by the names of their keys and by their values. */
export function viewConfiguration({ config, graph }: Snapshot, redact: (text: string) => string): JsonMap {
  const { service, api, plugin_roots, plugins, webhooks } = config;
  // The names of plugins are no keys of settings.
  const settings = [...plugins].map(
    ([name, { place: _, ...each }]) => [name, withoutSecrets(snapshotMap(each))] as const,
  );
  const value = snapshotMap({
    service,
    api,
    plugin_roots,
    plugins: Object.fromEntries(settings),
    pipelines: [...graph.pipelines.values()].map(viewCompiled),
    webhooks: webhooks.map(({ place: _, secret: _secret, ...endpoint }) => ({ ...endpoint, secret: REDACTED })),
  });
  return readMap(redactedJson(JSON.stringify(value), redact)) ?? {};
}

/** What is routed where. Conditions are left out: what they compare with may be a secret. */
function viewCompiled({ trigger, steps, predicate: _p, place: _, ...pipeline }: Pipeline): JsonMap {
  return snapshotMap({ ...pipeline, ...trigger, steps: [...steps.values()].map(viewStep) });
}

/** The digest would let a secret that the step is given be guessed. */
function viewStep({ plugin, predicate: _p, kind: _k, is_agent: _a, digest: _d, with: given, ...step }: Step): JsonMap {
  return snapshotMap({ ...step, uses: plugin, ...(given && { with: withoutSecrets(given) }) });
}
