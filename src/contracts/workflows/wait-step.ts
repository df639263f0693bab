// What a step that waits has to look like: it waits for an event, for an approval, or for the answer to a request.
import { isTruthyText } from "../coerce.ts";
import { parseDuration } from "../gateway/durations.ts";
import { asMap, type Json, type JsonMap } from "../json.ts";
import { read as readApprovers } from "../trust/approver-rule.ts";
import { missing, noDuration, notMap, type SpecError, specError } from "./spec-error.ts";
import { unsafeNames } from "./unsafe-names.ts";

export function* waitErrors(step: JsonMap, at: string): Generator<SpecError> {
  const { event, approval, request, timeout } = step;
  if ([event, approval, request].filter((each) => each != null).length !== 1) {
    yield specError(at, "invalid_wait_shape", "A wait step has one of event, approval and request.");
  }
  if (event != null) yield* eventErrors(step, at);
  if (approval != null) yield* approvalErrors(approval, `${at}.approval`);
  if (request != null) yield* requestErrors(request, `${at}.request`);
  if (timeout != null && !parseDuration(timeout)) yield noDuration(`${at}.timeout`);
}

function* eventErrors({ event, match, payload }: JsonMap, at: string): Generator<SpecError> {
  if (!isTruthyText(event)) yield missing(`${at}.event`, "The name of the event");
  if (payload != null && asMap(payload) === undefined) yield notMap(`${at}.payload`, "The schema of the payload");
  if (match == null) return;
  const expected = asMap(match);
  if (expected === undefined) {
    yield specError(`${at}.match`, "invalid_match", "It is no map of paths in the payload to values.");
    return;
  }
  for (const path of Object.keys(expected)) {
    const keys = path.split(".");
    if (keys.every((key) => key.trim() !== "" && !unsafeNames.includes(key))) continue;
    const message = `${JSON.stringify(path.slice(0, LONGEST_QUOTE))} is no path in a payload, such as order.id.`;
    yield specError(`${at}.match`, "invalid_match", message);
  }
}

const LONGEST_QUOTE = 200;

function* approvalErrors(given: Json, at: string): Generator<SpecError> {
  const approval = asMap(given);
  if (approval === undefined) {
    yield notMap(at, "The approval");
    return;
  }
  const { summary, approvers } = approval;
  if (!isTruthyText(summary)) yield missing(`${at}.summary`, "What is to be approved");
  // It is read as it stands here: no binding has a say in who may decide.
  const problem = approvers == null ? undefined : readApprovers(approvers);
  if (typeof problem === "string") {
    yield specError(`${at}.approvers`, "invalid_approvers", `The rule about approvers cannot be used: it ${problem}.`);
  }
}

function* requestErrors(given: Json, at: string): Generator<SpecError> {
  const request = asMap(given);
  if (request === undefined) {
    yield notMap(at, "The request");
    return;
  }
  const { name, shown, schema, description } = request;
  if (name != null && !isTruthyText(name)) yield missing(`${at}.name`, "The name of the request");
  if (shown != null && asMap(shown) === undefined && !isBinding(shown)) yield notMap(`${at}.shown`, "What is shown");
  if (schema != null && asMap(schema) === undefined) yield notMap(`${at}.schema`, "The schema of the answer");
  if (description != null && typeof description !== "string") {
    yield specError(`${at}.description`, "invalid_type", "The description is no text.");
  }
}

function isBinding(value: unknown): boolean {
  return typeof value === "string" && value.includes("${");
}
