// What becomes of an attempt at a model: the answer, another attempt later, or the end of it; and what it cost.
import { errorMessage } from "../../contracts/error.ts";
import { isMap, type JsonMap, type UnknownMap } from "../../contracts/json.ts";
import type { Outcome } from "../../contracts/outcome.ts";
import type { Arrived } from "../../loop/next.ts";
import type { State } from "../../loop/state.ts";
import { withoutKeys } from "../../models/without-keys.ts";
import { withControl } from "../calls/left-behind.ts";
import { workTimeLeft } from "../funds/work-time.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";
import type { ThreadRun } from "../thread-run.ts";
import { nextAttempt } from "./model-retry.ts";

/** What a model throws becomes part of the thread, and clients like to repeat their keys in it. */
function shownFailure(threw: unknown, secrets: KnownSecrets): unknown {
  const words = errorMessage(threw);
  const clean = (value: unknown) => (typeof value === "string" ? secrets.clean(value) : value);
  const { name, code, status, statusCode } = isMap(threw) ? threw : ({} as UnknownMap);
  const told = { name: clean(name), message: withoutKeys(secrets.clean(words)), code: clean(code) };
  if (told.message === words && told.name === name && told.code === code) return threw;
  return isMap(threw) ? { ...told, status, statusCode } : new Error(told.message);
}

/** For the log of the attempt. */
function failureNote(threw: unknown, secrets: KnownSecrets): JsonMap {
  const code = isMap(threw) ? (threw.code ?? threw.status ?? threw.statusCode) : undefined;
  const error = withoutKeys(secrets.clean(errorMessage(threw)));
  return { error, ...(code !== undefined && { code: secrets.clean(String(code)) }) };
}

/** What came of asking the model, or of asking it for a summary. */
export function attempted(outcome: Outcome, run: ThreadRun, state: State | null, now: number): Arrived {
  const { usage } = run.cost;
  if ("returned" in outcome) return withControl(usage === undefined ? outcome : { ...outcome, usage }, run.left);
  const { threw } = outcome;
  if (run.attempted) run.attempted = { ...run.attempted, ...failureNote(threw, run.secrets) };
  const hasSpoken = run.cost.hasSpoken || (isMap(threw) && threw.hasSpoken === true);
  const { times = 0, model = 0 } = state?.postponed ?? {};
  const next = nextAttempt(threw, { times, model, models: run.models.length }, run.cast.agent.retry);
  if (!next) return { threw: shownFailure(threw, run.secrets), hasSpoken };
  // When its time is up the run ends, however long a provider wants to be left alone.
  const after = Math.min(next.after, workTimeLeft(run.working.config, state, now) ?? Number.POSITIVE_INFINITY);
  return { postponed: { until: now + after, model: next.model, hasSpoken } };
}
