// The pure rules of the event gateway: answers of plugins, retries, dedupe, pipelines and webhooks.

import { holdfastError } from "../../src/contracts/error.ts";
import { backoff } from "../../src/contracts/gateway/backoff.ts";
import { accreteContext } from "../../src/contracts/gateway/context.ts";
import { isDuplicate } from "../../src/contracts/gateway/dedupe.ts";
import type { JobStatus } from "../../src/contracts/gateway/job.ts";
import type { PathScope } from "../../src/contracts/gateway/paths.ts";
import { mergeState } from "../../src/contracts/gateway/plugin-state.ts";
import { evaluatePredicate, validatePredicate } from "../../src/contracts/gateway/predicate.ts";
import { type DecodeOptions, decodeResponse } from "../../src/contracts/gateway/response.ts";
import { expandTemplate } from "../../src/contracts/gateway/template.ts";
import { webhookStatus } from "../../src/contracts/gateway/webhook-body.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import { applyResponse } from "../scripts/apply-response.ts";
import type { Given } from "./given.ts";

type Identity = { readonly plugin: string; readonly command: string; readonly key?: string };

const HOUR_MS = 3_600_000;

export const gatewayOperations = {
  "dispatcher.applyResponse": applyResponse,
  "dispatcher.dedupe": (input: {
    existing?: (Identity & { status: JobStatus; age_h: number }) | null;
    enqueue: Identity;
  }) => {
    const { existing, enqueue } = input;
    if (!existing) return { dropped: false };
    const known = { ...existing, key: existing.key, age_ms: (existing.age_h ?? 0) * HOUR_MS };
    return { dropped: isDuplicate(known, { ...enqueue, key: enqueue.key }) };
  },
  "pipeline.context": ({ parent, claims }: { parent?: JsonMap; claims?: JsonMap }) =>
    accreteContext(parent ?? {}, claims ?? {}),
  "pipeline.predicate": (input: { if: unknown; payload?: JsonMap; context?: JsonMap }) => {
    const check = validatePredicate(input.if);
    if (!check.valid) throw holdfastError("invalid_predicate", check.problem);
    const scope = { payload: input.payload ?? {}, context: input.context ?? {} };
    return { match: evaluatePredicate(check.predicate, scope) };
  },
  "pipeline.template": ({ template, scope }: { template: string; scope?: PathScope }) => ({
    value: expandTemplate(template, scope ?? {}),
  }),
  "pipeline.validatePredicate": (input: Given<"if">) => ({ valid: validatePredicate(input.if).valid }),
  "plugin.backoff": (input: { base_s: number; failed_attempt: number; random: number }) => ({
    delay_s: backoff(input.base_s, input.failed_attempt, input.random),
  }),
  "plugin.decodeResponse": (input: { stdout: string; exit_code: number | null; options?: DecodeOptions }) => {
    const { stdout, exit_code: exitCode, options } = input;
    const decoded = decodeResponse({ stdout, exitCode, ...(options && { options }) });
    if (decoded.outcome === "succeeded") return { outcome: decoded.outcome, result: decoded.response.result };
    return { outcome: decoded.outcome, reason: decoded.reason, retryable: decoded.retryable };
  },
  "pluginState.merge": ({ before, updates }: { before?: JsonMap; updates?: JsonMap }) =>
    mergeState(before ?? {}, updates ?? {}),
  "webhook.hmac": ({ secret, body, header }: { secret: string; body: string; header: string }) => ({
    status: webhookStatus({ secret, body, header }),
  }),
};
