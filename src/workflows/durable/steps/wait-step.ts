// A step that waits: for an event, for a person's approval, or for a result that a caller has to submit.
import { parseDuration } from "../../../contracts/gateway/durations.ts";
import { isMap, type JsonMap, snapshotMap } from "../../../contracts/json.ts";
import * as approverRule from "../../../contracts/trust/approver-rule.ts";
import { creatorOf } from "../../../threads/requests/terms.ts";
import type { Outcome } from "../../machine/next.ts";
import { boundTo, newRequest, type ReadAnswer } from "../asked-request.ts";
import { findEvent, wantedBy } from "../events.ts";
import type { LeasedRun } from "../leased-run.ts";
import { approvalRejected, requestFailed, requestMismatch } from "../step-errors.ts";
import type { Beginning, Begun } from "./beginning.ts";

/** A yes must not come out of nowhere: what was not decided within a month has expired. */
export const LONGEST_APPROVAL_MS = 30 * 24 * 60 * 60 * 1_000;

export function beginWait(about: Beginning): Begun {
  const { step } = about.order;
  if (step.approval !== undefined && step.approval !== null) return waitForApproval(about);
  if (step.request !== undefined && step.request !== null) return waitForRequest(about);
  return waitForEvent(about);
}

function waitForEvent(about: Beginning): Begun {
  const { host, run, batch, order } = about;
  const wanted = wantedBy(order.step);
  const { event, match } = wanted;
  const found = findEvent(host.threads.sealing, run, batch.drained, wanted);
  if (found) {
    batch.drained.push(found.seq);
    return { outcome: { as: "succeeded", output: found.payload } };
  }
  return waiting({ event, match }, { by: "wait", waits_for: "event" }, untilOf(about));
}

function waitForApproval({ host, run, batch, order, call }: Beginning): Begun {
  const id = crypto.randomUUID();
  const { summary = "", preview = null, approvers = null } = snapshotMap(order.step.approval);
  const expiresAfter = parseDuration(order.step.timeout) ?? LONGEST_APPROVAL_MS;
  const asked = snapshotMap({ ...placeIn(run, order.step), summary, ...(isMap(preview) && { preview }) });
  batch.opened.push(
    newRequest(host.threads, {
      ...{ id, call, kind: "approval", name: nameOf(run, order.step), shown: asked, expiresAfter },
      parameters: boundTo(run, order, asked),
      terms: termsOf(run, approvers === null ? undefined : approverRule.read(approvers)),
    }),
  );
  const until = host.threads.now() + expiresAfter;
  return waiting({ asked }, { by: "wait", waits_for: "approval", request_id: id, until });
}

function waitForRequest(about: Beginning): Begun {
  const { host, run, batch, order, call } = about;
  const id = crypto.randomUUID();
  const asked = snapshotMap({ ...snapshotMap(order.step.request), ...placeIn(run, order.step) });
  const limit = parseDuration(order.step.timeout);
  batch.opened.push(
    newRequest(host.threads, {
      ...{ id, call, kind: "client_tool", name: nameOf(run, order.step), shown: asked },
      ...{ parameters: boundTo(run, order, asked), expiresAfter: limit ?? null },
    }),
  );
  return waiting({ asked }, { by: "wait", waits_for: "request", request_id: id }, untilOf(about));
}

/** `until`: when the machine fails the step for having waited too long. */
function waiting(suspend: JsonMap, open: NonNullable<Begun["open"]>, until: { readonly until?: number } = {}): Begun {
  return { outcome: { as: "suspended", suspend, returned: suspend, ...until }, open };
}

/** What a wait comes to with the answer to its request. */
export function outcomeOfWait(step: JsonMap, read: ReadAnswer): Outcome {
  if (read.outcome !== "answered") return { as: "failed", error: requestMismatch };
  const { answer, resolver } = read;
  if (step.approval !== undefined && step.approval !== null) {
    if (answer.decision !== "accepted") return { as: "failed", error: approvalRejected(answer.reason) };
    const { decision, reason } = answer;
    return { as: "succeeded", output: { decision, by: resolver, ...(reason !== undefined && { reason }) } };
  }
  if (answer.success !== true) return { as: "failed", error: requestFailed(answer.error) };
  const { result = null } = answer;
  return { as: "succeeded", output: isMap(result) || Array.isArray(result) ? result : { value: result } };
}

/** What a decider goes by, beside what the step says. */
export function placeIn(run: LeasedRun, { id = "" }: JsonMap): JsonMap {
  return { workflow: run.body.typed.id, run_id: run.id, step: String(id) };
}

function nameOf(run: LeasedRun, { id = "" }: JsonMap): string {
  return `${run.body.typed.id}/${String(id)}`;
}

export function termsOf(run: LeasedRun, rule: approverRule.ApproverRule | string | undefined, policy?: string) {
  const { workspace_type = null, workspace_id = null } = run.subject ?? {};
  return {
    agent: "",
    creator: creatorOf(run.principal),
    ...{ workspace_type, workspace_id },
    policy_version: policy ?? `workflow-${run.stored.spec_hash.slice(0, 16)}`,
    // A rule that cannot be read was refused when the workflow was checked.
    approvers: rule === undefined || typeof rule === "string" ? null : JSON.stringify(rule),
  };
}

function untilOf({ host, order }: Beginning): { readonly until?: number } {
  const limit = parseDuration(order.step.timeout);
  return limit === undefined ? {} : { until: host.threads.now() + limit };
}
