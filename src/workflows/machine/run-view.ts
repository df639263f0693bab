// The record of a run, made from the bodies of its own steps.

import type { JsonMap } from "../../contracts/json.ts";
import { below, ON_FAILURE, ROLLBACK, ROOT } from "./path.ts";
import { toSeconds } from "./seconds.ts";
import { type Body, bodyOf, stepAt, stepsAt, undoneBy, type Working } from "./working.ts";

/** What the steps that ran have returned. `last` is there only when the last step has succeeded. */
export function outputOfRun(working: Working): JsonMap {
  const outputs = ran(working, ROOT, working.steps.length).map(({ step, body: { status, output = null } }) => {
    return { id: String(step.id), output: status === "succeeded" ? output : null, status };
  });
  const last = outputs.at(-1);
  return {
    steps: Object.fromEntries(outputs.map(({ id, output }) => [id, output])),
    ...(last?.status === "succeeded" && { last: last.output }),
  };
}

/** What was undone and what ran after a failure, where there was any of it. */
export function afterFailure(working: Working): JsonMap {
  const undone = [...working.undoable]
    .map((_, position) => below(ROLLBACK, position))
    .filter((path) => working.bodies.has(path))
    .map((path) => undoRecord(working, path));
  const handled = ran(working, ON_FAILURE, working.onFailure.length).map(({ step, body }) => stepRecord(step, body));
  return {
    ...(undone.length > 0 && { _rollback: undone }),
    ...(handled.length > 0 && { _on_failure: handled }),
  };
}

function undoRecord(working: Working, path: string): JsonMap {
  const undone = undoneBy(working, path);
  return {
    ...stepRecord(stepAt(working, path), bodyOf(working, path)),
    id: stepAt(working, undone).id ?? "",
    path: undone,
  };
}

/** The records of those of the first steps that have begun. */
export function stepRecords(working: Working, count: number): readonly JsonMap[] {
  return ran(working, ROOT, count).map(({ step, body }) => stepRecord(step, body));
}

type Ran = { readonly step: JsonMap; readonly body: Body };

function ran(working: Working, list: string, count: number): Ran[] {
  return stepsAt(working, list)
    .slice(0, count)
    .flatMap((step, position) => {
      const path = below(list, position);
      return working.bodies.has(path) ? [{ step, body: bodyOf(working, path) }] : [];
    });
}

function stepRecord(step: JsonMap, body: Body): JsonMap {
  const { id = "", type = "" } = step;
  const { status, output = null, started_at = 0, ended_at = 0, handler = "", resolved = step, error, suspend } = body;
  return {
    id,
    type,
    status: status === undefined ? "pending" : status === "cut_off" ? "cancelled" : status,
    output,
    started_at: toSeconds(started_at),
    ended_at: toSeconds(ended_at),
    handler,
    resolved_step: resolved,
    ...(error && { error }),
    ...(suspend && status === undefined && { suspend }),
  };
}
