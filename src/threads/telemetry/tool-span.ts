// The span of a tool that runs: for a call of a model, for one that was queued, or because code runs it.
import type { Attributes } from "@opentelemetry/api";
import { truthy } from "../../contracts/coerce.ts";
import { isMap } from "../../contracts/json.ts";
import type { Outcome } from "../../contracts/outcome.ts";
import { isPending } from "../calls/shown-outcome.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";
import { shownWord } from "./error-type.ts";
import type { GuardedSpan, SpanStart } from "./guarded-span.ts";
import { attribute, OTHER_ERROR, operation } from "./names.ts";

export function toolStart(name: string, callId: string | undefined, more: Attributes): Omit<SpanStart, "parent"> {
  return {
    name: `${operation.tool} ${name}`,
    attributes: {
      ...more,
      [attribute.operation]: operation.tool,
      [attribute.toolName]: name,
      [attribute.toolType]: "function",
      ...(callId !== undefined && callId !== "" && { [attribute.toolCallId]: callId }),
    },
  };
}

/** Undefined: it was cut off, and what it did is not known here. */
export function endOfTool(span: GuardedSpan, outcome: Outcome | undefined, secrets: Pick<KnownSecrets, "clean">): void {
  const { came, errorType } = ending(outcome, secrets);
  span.end({ [attribute.outcome]: came }, errorType);
}

type Ending = { readonly came: "cut_off" | "failed" | "waiting" | "returned"; readonly errorType?: string };

function ending(outcome: Outcome | undefined, secrets: Pick<KnownSecrets, "clean">): Ending {
  if (!outcome) return { came: "cut_off" };
  if ("threw" in outcome) return { came: "failed", errorType: "executor_exception" };
  const { returned } = outcome;
  if (isPending(returned)) return { came: "waiting" };
  const isFailure = isMap(returned) && Object.hasOwn(returned, "success") && !truthy(returned.success);
  if (!isFailure) return { came: "returned" };
  const { error_type, metadata } = returned;
  const word = shownWord((isMap(metadata) ? metadata.error_type : undefined) ?? error_type, secrets);
  return { came: "failed", errorType: word ?? OTHER_ERROR };
}
