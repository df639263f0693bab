// A claimed job with everything that its row refers to: what it runs with, and what keeps it from running.
import type { ClaimedJob } from "../../../backend/gateway/job-store.ts";
import { HoldfastError } from "../../../contracts/error.ts";
import { SWITCH_PLUGIN } from "../../../contracts/gateway/job.ts";
import type { Step } from "../../../contracts/gateway/pipelines/pipeline-graph.ts";
import type { GatewayEvent } from "../../../contracts/gateway/protocol/event.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import { chooseCommand } from "../../pipelines/choose-command.ts";
import { DEFAULT_BACKOFF_BASE_MS } from "../../plugins/defaults.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { SealedJson } from "../commit/sealed-json.ts";
import type { DispatchDeps } from "../deps.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Opened } from "./opened-job.ts";
import { type Failure, preflightFailure } from "./settle.ts";

export async function openJob({ sealed }: DispatchDeps, snapshot: Snapshot, job: ClaimedJob): Promise<Opened> {
  const plugin = snapshot.plugins.get(job.plugin);
  const found = job.place ? snapshot.graph.pipelines.get(job.place.pipeline)?.steps.get(job.place.step_id) : undefined;
  const step = found && isSame(found, job, sealed) ? found : undefined;
  const isSwitch = job.plugin === SWITCH_PLUGIN;
  const read = readRow(() => ({
    payload: job.sealed_payload === null ? null : sealed.open("payload", job.id, job.sealed_payload),
    context:
      job.sealed_context === null || job.context_id === null
        ? {}
        : sealed.open("context", job.context_id, job.sealed_context),
  }));
  const payload = "unreadable" in read ? {} : (read.payload ?? {});
  const context = "unreadable" in read ? {} : read.context;
  const input = inputOf(job.command, payload);
  const problem =
    exhausted(job) ??
    unreadable(read) ??
    changed(job, found, step) ??
    unknown(job, plugin, isSwitch) ??
    undeclared(step, input, plugin);
  return {
    ...{ job, plugin, step, isSwitch, payload },
    executed: {
      id: job.id,
      plugin: job.plugin,
      command: job.command,
      attempt: job.attempt,
      max_attempts: job.max_attempts,
      context_id: job.context_id,
      place: job.place,
      step,
      context,
      input,
      isAgent: plugin?.isAgent ?? false,
      notifiesOnComplete: plugin?.notifyOnComplete ?? false,
      factOutputs: plugin?.manifest.fact_outputs ?? [],
      backoffBaseMs: step?.retry?.backoff_base_ms ?? plugin?.backoffBaseMs ?? DEFAULT_BACKOFF_BASE_MS,
    },
    ...(problem && { problem }),
  };
}

type Row = { readonly payload: JsonMap | null; readonly context: JsonMap };

function readRow(read: () => Row): Row | { readonly unreadable: string } {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof HoldfastError) return { unreadable: thrown.message };
    throw thrown;
  }
}

/** The worker that ran the last attempt died, and there is none left: whether it was claimed since and given back or not. */
function exhausted({ attempt, max_attempts }: ClaimedJob): Failure | undefined {
  if (attempt <= max_attempts) return undefined;
  const error = "The process that ran the last attempt died.";
  // The plugin has not refused: an agent may request the tool again.
  return { outcome: "dead", reason: "attempts_exhausted", retryable: true, error };
}

function unreadable(row: Row | { readonly unreadable: string }): Failure | undefined {
  if ("unreadable" in row) return preflightFailure(row.unreadable);
  return row.payload === null ? preflightFailure("The payload of the job was erased.") : undefined;
}

/** Whether the step is the one that the job was queued for, and not another that a reload has given its id. */
function isSame(
  { plugin, digest }: Step,
  { plugin: queued, place }: ClaimedJob,
  sealed: Pick<SealedJson, "digest">,
): boolean {
  if (plugin !== queued) return false;
  if (place?.step_digest === undefined) return true;
  return digest !== undefined && sealed.digest(digest) === place.step_digest;
}

/** Without its step a plugin would be called with another payload than the author meant, and other steps would follow. */
function changed({ place }: ClaimedJob, found: Opened["step"], step: Opened["step"]): Failure | undefined {
  if (!place || step) return undefined;
  const { pipeline, step_id } = place;
  if (!found) return preflightFailure(`The pipeline "${pipeline}" has no step "${step_id}" any more.`);
  return preflightFailure(
    `The step "${step_id}" of the pipeline "${pipeline}" is another one since the configuration was reloaded. A step with an id keeps it.`,
  );
}

function unknown({ command, ...job }: ClaimedJob, plugin: Plugin | undefined, isSwitch: boolean): Failure | undefined {
  if (isSwitch) return undefined;
  if (!plugin) return preflightFailure(`There is no plugin "${job.plugin}" any more.`);
  if (plugin.manifest.commands.some(({ name }) => name === command)) return undefined;
  return preflightFailure(`The plugin ${job.plugin} declares no command "${command}".`);
}

/** A request for a command that the plugin does not declare is queued as `handle`; its agent hears of it here. */
function undeclared(step: Opened["step"], input: GatewayEvent | null, plugin: Plugin | undefined): Failure | undefined {
  if (step?.kind !== "uses" || !input || !plugin) return undefined;
  const { problem } = chooseCommand(
    step,
    input,
    plugin.manifest.commands.map(({ name }) => name),
  );
  return problem === undefined ? undefined : preflightFailure(problem);
}

function inputOf(command: string, payload: JsonMap): GatewayEvent | null {
  const { type, event_id } = payload;
  const isEvent = command === "handle" && typeof type === "string" && typeof event_id === "string";
  return isEvent ? (payload as unknown as GatewayEvent) : null;
}
