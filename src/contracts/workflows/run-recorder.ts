// The port that stores the records of runs.
import { isMap, type JsonMap } from "../json.ts";
import type { OperationError } from "../operation-error.ts";

type Awaitable<Value> = Value | PromiseLike<Value>;

export interface RunRecorder {
  /** Takes a run that begins, and answers with the id that it is kept under, or with why it cannot be kept. */
  start(run: JsonMap): Awaitable<string | OperationError | undefined>;
  update(run: JsonMap): unknown;
  find(runId: string): Awaitable<JsonMap | undefined>;
}

/** True for what has the three functions of one. */
export function isRunRecorder(value: unknown): value is RunRecorder {
  return isMap(value) && [value.start, value.update, value.find].every((each) => typeof each === "function");
}
