// The pure rules of the event gateway: answers of plugins, retries, dedupe, pipelines and webhooks.

import { holdfastError } from "../../src/contracts/error.ts";
import { accreteContext } from "../../src/contracts/gateway/pipelines/context.ts";
import { type PipelineScope, pipelineRoots } from "../../src/contracts/gateway/pipelines/pipeline-scope.ts";
import { expandWith } from "../../src/contracts/gateway/pipelines/template.ts";
import { backoff } from "../../src/contracts/gateway/protocol/backoff.ts";
import { mergeState } from "../../src/contracts/gateway/protocol/plugin-state.ts";
import { type DecodeOptions, decodeResponse } from "../../src/contracts/gateway/protocol/response.ts";
import { webhookStatus } from "../../src/contracts/gateway/protocol/webhook-body.ts";
import type { Json, JsonMap } from "../../src/contracts/json.ts";
import { evaluatePredicate, validatePredicate } from "../../src/contracts/predicates/predicate.ts";
import { applyResponse } from "../scripts/apply-response.ts";
import { enqueueTwice } from "../scripts/dedupe.ts";
import type { Given } from "./given.ts";

export const gatewayOperations = {
  "dispatcher.applyResponse": applyResponse,
  "dispatcher.dedupe": enqueueTwice,
  "pipeline.context": ({ parent, claims }: { parent?: JsonMap; claims?: JsonMap }) =>
    accreteContext(parent ?? {}, claims ?? {}),
  "pipeline.predicate": (input: { if: unknown; payload?: JsonMap; context?: JsonMap }) => {
    const check = validatePredicate(input.if, pipelineRoots);
    if (!check.valid) throw holdfastError("invalid_predicate", check.problem);
    const scope = { payload: input.payload ?? {}, context: input.context ?? {} };
    return { match: evaluatePredicate(check.predicate, scope) };
  },
  "pipeline.template": ({ template, scope }: { template: Json; scope?: PipelineScope }) =>
    expandWith({ value: template }, scope ?? {}),
  "pipeline.validatePredicate": (input: Given<"if">) => ({ valid: validatePredicate(input.if, pipelineRoots).valid }),
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
