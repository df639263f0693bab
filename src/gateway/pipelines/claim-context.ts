// The context that a job of a pipeline carries along.
import { HoldfastError } from "../../contracts/error.ts";
import { autoClaim } from "../../contracts/gateway/agent/correlation.ts";
import { accreteContext, collectClaims } from "../../contracts/gateway/pipelines/context.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { Emitter, Refusal, Route } from "./resolve.ts";

export type ClaimedContext =
  | { readonly kind: "claimed"; readonly context: JsonMap; readonly warnings: readonly string[] }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/**
 * What was carried along so far with the claims of the step added. The first job of an instance begins with nothing,
 * and with the correlation when a tool request has started it; its claims may read the context of the emitting job.
 */
export function claimContext(route: Route, emitter: Emitter | undefined): ClaimedContext {
  const { step, event, startsInstance } = route;
  const before = emitter?.context ?? {};
  const auto = startsInstance ? autoClaim(event, emitter?.plugin ?? event.source) : { kind: "none" as const };
  const root = startsInstance ? {} : before;
  try {
    const start = auto.kind === "claimed" ? accreteContext(root, auto.claims) : root;
    const claims = collectClaims(step.baggage, { payload: event.payload, context: before });
    return { kind: "claimed", context: accreteContext(start, claims), warnings: incomplete(auto, route) };
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown;
    const message = `pipeline "${route.pipeline.name}", step "${step.id}": ${thrown.detail}`;
    const refusal = { reason: "baggage_failed", pipeline: route.pipeline.name, step_id: step.id, message } as const;
    return { kind: "refused", refusal };
  }
}

function incomplete(auto: ReturnType<typeof autoClaim>, { event, pipeline }: Route): readonly string[] {
  if (auto.kind !== "incomplete") return [];
  const missing = auto.missing.join(", ");
  return [`pipeline "${pipeline.name}": ${event.type} came without ${missing}; its result will find no run.`];
}
