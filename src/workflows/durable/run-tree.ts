// How far a run is, step by step: what people watch. It has the ids of steps and how they stand, and nothing of what they work
// with. Parts of which there may be many are counted, and only those that are at work or failed are named.
import type { StoredWorkflowRun } from "../../backend/workflow-store.ts";
import { scalarText } from "../../contracts/coerce.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
import type { StepEnd } from "../machine/facts.ts";
import { below, ON_FAILURE, ROLLBACK, ROOT } from "../machine/path.ts";
import { type Body, bodyOf, branchesOf, kindOf, stepAt, stepsAt, undoneBy, type Working } from "../machine/working.ts";
import type { RunHost } from "./run-host.ts";
import { type OpenStep, type RunState, readRunState } from "./run-state.ts";
import { openRun } from "./run-view.ts";

export type PartStatus = "pending" | "running" | "succeeded" | "failed" | "cancelled";

export type StepNode = {
  /** Where it stands, by positions. */
  readonly path: string;
  readonly id: string;
  readonly type: string;
  readonly status: PartStatus | "waiting" | "retrying" | "skipped";
  /** The attempt that is under way; null for a step that is not open. */
  readonly attempt: number | null;
  readonly waits_for: OpenStep["waits_for"] | null;
  /** The name of the event that it waits for. */
  readonly event: string | null;
  /** When it goes on by itself, or waits no longer. */
  readonly until: number | null;
  /** The request that has to be answered. */
  readonly request_id: string | null;
  /** The thread or the run that carries the step out, or did. */
  readonly child_id: string | null;
  /** Milliseconds since 1970. */
  readonly started_at: number | null;
  readonly ended_at: number | null;
  readonly error_code: string | null;
  /** How many parts it has, and how they stand; null for a step without. */
  readonly parts: (Readonly<Record<PartStatus, number>> & { readonly total: number }) | null;
  /** Its branches, or those of its items that are at work or failed, as far as there is room for them. */
  readonly branches: readonly PartNode[];
};

export type PartNode = {
  readonly position: number;
  /** The role of a branch, the case that was chosen, or the number of an item. */
  readonly name: string;
  readonly status: PartStatus;
  readonly steps: readonly StepNode[];
};

export type RunTree = {
  readonly stored: StoredWorkflowRun;
  readonly steps: readonly StepNode[];
  /** What undoes steps, named after these. */
  readonly rollback: readonly StepNode[];
  readonly on_failure: readonly StepNode[];
};

/** Of one step with parts. */
const MOST_NAMED = 20;

/** Undefined for a run that there is not. */
export async function readTree(host: RunHost, id: string): Promise<RunTree | undefined> {
  const [state, read] = [readRunState(await host.threads.stores.threads.state(id)), await openRun(host, id)];
  if (!read) return undefined;
  const { stored, working } = read;
  const about: About = { working, state, isOver: stored.ended_at !== null };
  const undone = [...working.undoable].map((_, position) => below(ROLLBACK, position));
  return {
    stored,
    steps: nodesIn(about, ROOT),
    rollback: undone
      .filter((path) => working.bodies.has(path))
      .map((path) => nodeOf(about, path, stepAt(working, path), stepAt(working, undoneBy(working, path)).id)),
    on_failure: working.bodies.has(below(ON_FAILURE, 0)) ? nodesIn(about, ON_FAILURE) : [],
  };
}

type About = { readonly working: Working; readonly state: RunState; readonly isOver: boolean };

function nodesIn(about: About, list: string): readonly StepNode[] {
  return stepsAt(about.working, list).map((step, position) => nodeOf(about, below(list, position), step));
}

function nodeOf(about: About, path: string, step: JsonMap, id = step.id): StepNode {
  const { working, state } = about;
  const body = bodyOf(working, path);
  const open = state.open[path];
  const inMachine = state.machine.steps[path];
  const positions = partsAt(about, path, step, body);
  const statuses = positions.map((position) => partStatus(about, below(path, position), body.status));
  return {
    ...{ path, id: scalarText(id) ?? "", type: scalarText(step.type) ?? "", status: statusOf(about, path, body) },
    attempt: inMachine?.attempt ?? null,
    waits_for: open?.waits_for ?? null,
    event: open?.waits_for === "event" ? (scalarText(body.suspend?.event) ?? null) : null,
    until: open?.until ?? inMachine?.until ?? null,
    request_id: open?.by === "child" ? null : (open?.request_id ?? null),
    child_id: open?.child_id ?? childOf(step, body),
    ...{ started_at: body.started_at ?? null, ended_at: body.ended_at ?? null },
    error_code: scalarText(body.error?.code) ?? null,
    parts: kindOf(working, step) === "single" ? null : counted(statuses),
    branches: named(about, path, step, positions, statuses),
  };
}

const ends: Readonly<Record<StepEnd, StepNode["status"]>> = {
  ...{ succeeded: "succeeded", failed: "failed", skipped: "skipped", cut_off: "cancelled" },
};

function statusOf({ state, isOver, working }: About, path: string, { status }: Body): StepNode["status"] {
  if (status !== undefined) return ends[status];
  const { phase } = state.machine.steps[path] ?? {};
  // The machine does not know that a person has to agree first.
  if (phase !== undefined) return state.open[path]?.by === "approval" ? "waiting" : phase;
  if (state.machine.scopes[path]) return "running";
  // What was open when a run was broken off.
  return isOver && working.bodies.has(path) ? "cancelled" : "pending";
}

/** The positions of the parts that there are. Before a step has opened, it is known of branches alone. */
function partsAt({ working }: About, path: string, step: JsonMap, { items, chosen }: Body): readonly number[] {
  switch (kindOf(working, step)) {
    case "roles":
      return branchesOf(step).map((_, position) => position);
    case "branch":
      return chosen === undefined ? [] : [chosen];
    case "single":
      return [];
    default:
      return working.bodies.has(path) ? (items ?? []).map((_, position) => position) : [];
  }
}

function partStatus({ working, state, isOver }: About, part: string, container: StepEnd | undefined): PartStatus {
  if (state.machine.scopes[part] && !isOver) return "running";
  const { status } = bodyOf(working, part);
  if (status === "failed" || status === "skipped") return "failed";
  if (status === "cut_off") return "cancelled";
  const paths = stepsAt(working, part).map((_, position) => below(part, position));
  const begun = paths.filter((path) => working.bodies.has(path)).map((path) => bodyOf(working, path).status);
  if (begun.length === 0) return paths.length === 0 && container === "succeeded" ? "succeeded" : "pending";
  // What failed and was tolerated is for people to see all the same.
  if (begun.some((end) => end === "failed" || end === "skipped")) return "failed";
  return begun.at(-1) === "succeeded" ? "succeeded" : "cancelled";
}

function counted(statuses: readonly PartStatus[]): NonNullable<StepNode["parts"]> {
  const counts = { total: statuses.length, pending: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0 };
  for (const status of statuses) counts[status] += 1;
  return counts;
}

function named(
  about: About,
  path: string,
  step: JsonMap,
  positions: readonly number[],
  statuses: readonly PartStatus[],
): readonly PartNode[] {
  const kind = kindOf(about.working, step);
  const areFew = kind === "roles" || kind === "branch";
  return positions
    .map((position, index) => ({ position, status: statuses[index] ?? "pending" }))
    .filter(({ status }) => areFew || status === "running" || status === "failed")
    .slice(0, areFew ? positions.length : MOST_NAMED)
    .map(({ position, status }) => ({
      ...{ position, status, name: nameOf(step, kind, position) },
      steps: nodesIn(about, below(path, position)),
    }));
}

function nameOf({ branches, cases }: JsonMap, kind: string, position: number): string {
  if (kind === "roles") return scalarText((branches as readonly JsonMap[])[position]?.role) ?? String(position);
  if (kind !== "branch") return String(position);
  return Array.isArray(cases) && position >= cases.length ? "else" : `case ${position}`;
}

/** What carried out a step that has ended: its output says so. */
function childOf({ type }: JsonMap, { output }: Body): string | null {
  if ((type !== "agent" && type !== "workflow") || !isMap(output)) return null;
  return scalarText(output.thread_id ?? output.run_id) ?? null;
}
