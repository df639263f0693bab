// For whom the runs of an agent were started. It is kept beside the agent's state and changes with it in one transaction, so
// that erasing a person finds every run, whatever was removed from the queue and from the log.
import { storedRuns } from "../../../contracts/gateway/agent/agentic-run.ts";
import { isMap, type JsonMap } from "../../../contracts/json.ts";
import type { SealedJson } from "../commit/sealed-json.ts";

/** User ids by run id. A run that was started for no known person is not in it. */
export type RunOwners = ReadonlyMap<string, string>;

export const noOwners: RunOwners = new Map();

export function openOwners(sealed: SealedJson, agent: string, stored: string | null): RunOwners {
  if (stored === null) return noOwners;
  const { runs } = sealed.open("owners", agent, stored);
  // As pairs: a run may have any name, also that of a property which every object has.
  return new Map(Array.isArray(runs) ? (runs as [string, string][]) : []);
}

export function sealOwners(sealed: SealedJson, agent: string, owners: RunOwners): string | null {
  return owners.size === 0 ? null : sealed.seal("owners", agent, { runs: [...owners] });
}

/** The owners after a job of this user has changed the state: new runs are the user's, and removed ones are left out. */
export function nextOwners(owners: RunOwners, before: JsonMap, after: JsonMap, userId: string | null): RunOwners {
  const known = storedRuns(before);
  const next = new Map<string, string>();
  for (const runId of Object.keys(storedRuns(after))) {
    const owner = Object.hasOwn(known, runId) ? owners.get(runId) : userId;
    if (owner != null) next.set(runId, owner);
  }
  return next;
}

/** Whose run the payload of a job or of an event is about. */
export function ownerOf(owners: RunOwners, payload: JsonMap): string | undefined {
  const { run_id, payload: inner } = payload;
  const named = isMap(inner) ? inner.run_id : run_id;
  return typeof named === "string" ? owners.get(named) : undefined;
}

/**
 * What the log keeps of an agent's answer. Every answer holds all runs of the agent: those of other people are left out, and
 * the events about them, because erasing these people does not reach this job.
 */
export function loggedAnswer(stdout: string, owners: RunOwners, userId: string | null): string {
  const isOther = (runId: unknown) => typeof runId === "string" && owners.has(runId) && owners.get(runId) !== userId;
  if (![...owners.values()].some((owner) => owner !== userId)) return stdout;
  const answer = readAnswer(stdout);
  if (!answer) return "";
  const { state_updates, events, logs } = answer;
  const runs = isMap(state_updates) && isMap(state_updates.runs) ? Object.entries(state_updates.runs) : [];
  const others = Array.isArray(events) ? events.filter((event) => isMap(event) && isOther(runIdOf(event))) : [];
  return JSON.stringify({
    ...answer,
    ...(isMap(state_updates) && {
      state_updates: {
        ...state_updates,
        ...(isMap(state_updates.runs) && { runs: Object.fromEntries(runs.filter(([id]) => !isOther(id))) }),
      },
    }),
    ...(others.length > 0 && {
      events: (events as unknown[]).filter((event) => !others.includes(event)),
      logs: Array.isArray(logs) ? [] : logs,
    }),
  });
}

function runIdOf({ payload }: { readonly [key: string]: unknown }): unknown {
  return isMap(payload) ? payload.run_id : undefined;
}

/** Undefined for what is no answer; it might hold anything. */
function readAnswer(stdout: string): JsonMap | undefined {
  try {
    const value: unknown = JSON.parse(stdout);
    return isMap(value) ? (value as JsonMap) : undefined;
  } catch {
    return undefined;
  }
}
