// What a provider's package threw or streamed as an error, as a failure that says whether to ask again. Errors are told by
// their shape: a package may bring its own copy of their classes.
import { nonEmptyString } from "../../contracts/coerce.ts";
import { errorMessage } from "../../contracts/error.ts";
import { isMap, snapshot, type UnknownMap } from "../../contracts/json.ts";
import { ModelFailure, type ModelFailureCode } from "../model-failure.ts";
import { isNetworkError } from "../network-error.ts";
import { readThrown } from "../provider-retry.ts";
import { withoutKeys } from "../without-keys.ts";

/** What is known of a request when it fails. */
export type Attempt = {
  /** Who was asked, for people. */
  readonly name: string;
  /** True when the provider had begun to answer. */
  readonly hasSpoken: boolean;
  /** True when the request was accepted, and it is the answer that failed. */
  readonly isStreaming: boolean;
};

/** The failure, with the provider's words and without anything that was sent to it. */
export function failureOf(thrown: unknown, attempt: Attempt): ModelFailure {
  const error = isMap(thrown) ? thrown : {};
  const { status: given } = readThrown(thrown);
  // A request that was accepted fails later without a status of its own.
  const status = given !== null && given >= 400 ? given : null;
  const code = codeOf(error, given, attempt);
  const words = wordsOf(thrown);
  const said = status === null || code === "model_answer_broken" ? "failed" : `answered with status ${status}`;
  return new ModelFailure(code, `${attempt.name} ${said}: ${words}`, {
    status,
    retryAfter: retryAfter(error.responseHeaders),
    hasSpoken: attempt.hasSpoken,
    cause: causeOf(thrown, words),
  });
}

/** A stream that ended, or stopped, in a way that no whole answer does. */
export function brokenAnswer(why: string, { name, hasSpoken }: Attempt): ModelFailure {
  return new ModelFailure("model_answer_broken", `The answer of ${name} is not whole: ${why}`, { hasSpoken });
}

export function stalledAnswer(stallMs: number, { name, hasSpoken }: Attempt): ModelFailure {
  return new ModelFailure("model_stalled", `${name} said nothing for ${stallMs} ms.`, { hasSpoken });
}

/** Packages that find fault with the request itself throw these before they send anything. */
const REFUSED: ReadonlySet<unknown> = new Set([
  "AI_InvalidArgumentError",
  "AI_InvalidPromptError",
  "AI_LoadAPIKeyError",
  "AI_LoadSettingError",
  "AI_NoSuchModelError",
  "AI_NoSuchProviderReferenceError",
  "AI_UnsupportedFunctionalityError",
]);

function codeOf(error: UnknownMap, status: number | null, attempt: Attempt): ModelFailureCode {
  // Once there are words, they are lost whatever the reason is.
  if (attempt.hasSpoken) return "model_answer_broken";
  if (status !== null && status >= 400)
    return isPassing(status) || error.isRetryable === true ? "model_unavailable" : "model_refused";
  if (attempt.isStreaming || status !== null) return "model_answer_broken";
  if (error.name === "AI_APICallError" || isOutOfReach(error)) return "model_unavailable";
  return REFUSED.has(error.name) ? "model_refused" : "model_answer_broken";
}

/** Timed out, in conflict with another request, too many requests, or trouble on the provider's side. */
function isPassing(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Whatever keeps fetch from a server, a name that cannot be found included, may be over soon. */
function isOutOfReach(error: UnknownMap): boolean {
  return error.message === "fetch failed" || isNetworkError(error);
}

/** Seconds that the headers ask to wait: a number of them, a number of milliseconds, or a date. */
function retryAfter(headers: unknown): number | null {
  const entries = Object.entries(isMap(headers) ? headers : {});
  const given = new Map(entries.map(([name, value]) => [name.toLowerCase(), nonEmptyString(value)]));
  const milliseconds = Number(given.get("retry-after-ms") ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds / 1000;
  const wait = given.get("retry-after") ?? "";
  const seconds = wait === "" || Number.isNaN(Number(wait)) ? (Date.parse(wait) - Date.now()) / 1000 : Number(wait);
  return Number.isFinite(seconds) ? Math.max(seconds, 0) : null;
}

const LONGEST_WORDS = 500;

/** What the provider says, and what the network said of it; of an error without words, what came in their place. */
function wordsOf(thrown: unknown): string {
  const { message, responseBody, cause } = isMap(thrown) ? thrown : {};
  const said = [message, responseBody].map(nonEmptyString).find((each) => each !== undefined && each.trim() !== "");
  const why = innermost(cause);
  const words =
    said === undefined ? written(thrown) : why === undefined || said.includes(why) ? said : `${said} (${why})`;
  const shown = withoutKeys(words);
  return shown.length <= LONGEST_WORDS ? shown : `${shown.slice(0, LONGEST_WORDS - 1)}…`;
}

/** Each layer of a client wraps what happened in words of its own. */
function innermost(cause: unknown, depth = 5): string | undefined {
  if (!(cause instanceof Error) || depth === 0) return undefined;
  return innermost(cause.cause, depth - 1) ?? nonEmptyString(cause.message);
}

/** Of an error only its name: written out it may hold the request. */
function written(thrown: unknown): string {
  if (!isMap(thrown)) return errorMessage(thrown);
  if (thrown instanceof Error || "requestBodyValues" in thrown) return nonEmptyString(thrown.name) ?? "no words.";
  try {
    return JSON.stringify(snapshot(thrown));
  } catch {
    return "no words.";
  }
}

/** Not the error itself: it holds the request, and with it everything that was ever said on the thread. */
function causeOf(thrown: unknown, words: string): Error {
  const cause = new Error(words);
  const name = isMap(thrown) ? nonEmptyString(thrown.name) : undefined;
  if (name !== undefined) cause.name = name;
  return cause;
}
