// Traces what a run does outside: asking a model, and running a tool. Everything else that it does is part of the step.
import type { Attributes } from "@opentelemetry/api";
import { isMap } from "../../contracts/json.ts";
import type { Outcome } from "../../contracts/outcome.ts";
import type { Attempted } from "../../loop/attempt.ts";
import type { EffectOrder } from "../../loop/next.ts";
import type { HeldThread } from "../held-thread.ts";
import { usageColumns } from "../logs/attempt-notes.ts";
import type { ThreadRun } from "../thread-run.ts";
import { errorTypeOf, shownWord } from "./error-type.ts";
import type { GuardedSpan, SpanStart } from "./guarded-span.ts";
import { attribute, event, namesOfModel, operation } from "./names.ts";
import { endOfTool, toolStart } from "./tool-span.ts";

type Traced = {
  readonly start: Omit<SpanStart, "parent">;
  /** `begunAt`: milliseconds since 1970. */
  end(span: GuardedSpan, outcome: Outcome | undefined, begunAt: number): void;
};

/** Does what was ordered, and tells of it where somebody traces. An outcome that is undefined was cut off. */
export function traceEffect(held: HeldThread, run: ThreadRun, order: EffectOrder, work: () => Attempted): Attempted {
  const traced = run.trace && about(order, held, run);
  const begunAt = Date.now();
  const span = traced && run.trace?.start(held.state?.turn ?? 0, traced.start);
  if (!span) return work();
  return ended(span, span.within(work), (outcome) => traced.end(span, outcome, begunAt));
}

type Tell = (outcome: Outcome | undefined) => void;

/** What others returned may throw when it is looked at: then the span ends with nothing told. */
async function ended(span: GuardedSpan, attempted: Attempted, tell: Tell): Promise<Outcome | undefined> {
  const outcome = await attempted;
  try {
    tell(outcome);
  } catch {
    span.end({});
  }
  return outcome;
}

function about(order: EffectOrder, held: HeldThread, run: ThreadRun): Traced | undefined {
  switch (order.kind) {
    case "run_tool":
      return {
        start: toolStart(order.declaration.name, order.call.id, { [attribute.agent]: run.cast.agent.slug }),
        end: (span, outcome) => endOfTool(span, outcome, run.secrets),
      };
    case "call_model":
      return { start: modelStart(held, run, "answer"), end: (...ended) => endOfAnswer(run, ...ended) };
    case "summarize":
      return { start: modelStart(held, run, "summary"), end: (span, outcome) => endOfModel(run, span, outcome, {}) };
    default:
      return undefined;
  }
}

function modelStart({ state }: HeldThread, { models, cast }: ThreadRun, purpose: "answer" | "summary") {
  const { times = 0, model: number = 0 } = state?.postponed ?? {};
  const { provider, model } = namesOfModel((models[number] ?? models[0])?.name ?? "");
  return {
    name: `${operation.model} ${model}`,
    isCall: true,
    attributes: {
      [attribute.operation]: operation.model,
      [attribute.agent]: cast.agent.slug,
      [attribute.provider]: provider,
      [attribute.requestModel]: model,
      [attribute.attempt]: times + 1,
      [attribute.purpose]: purpose,
    },
  };
}

function endOfAnswer(run: ThreadRun, span: GuardedSpan, outcome: Outcome | undefined, begunAt: number): void {
  const { ttft_ms, finish_reason } = run.attempted ?? {};
  const finished = shownWord(finish_reason, run.secrets);
  const isStream = typeof ttft_ms === "number";
  if (isStream) span.event(event.firstToken, {}, begunAt + ttft_ms);
  endOfModel(run, span, outcome, {
    ...(isStream && { [attribute.requestStream]: true, [attribute.timeToFirstChunk]: ttft_ms / 1000 }),
    ...(finished !== undefined && { [attribute.finishReasons]: [finished] }),
  });
}

function endOfModel(run: ThreadRun, span: GuardedSpan, outcome: Outcome | undefined, more: Attributes): void {
  const returned = outcome && "returned" in outcome && isMap(outcome.returned) ? outcome.returned : {};
  const { request_metadata, failure, blocked, usage } = returned;
  const answeredBy = shownWord(isMap(request_metadata) ? request_metadata.model_id : undefined, run.secrets);
  const threw = outcome && "threw" in outcome ? outcome.threw : failure;
  const came = !outcome ? "cut_off" : threw !== undefined ? "failed" : blocked === true ? "blocked" : "answered";
  const attributes = {
    ...more,
    ...usageOf(usage ?? run.cost.usage),
    ...(answeredBy !== undefined && { [attribute.responseModel]: answeredBy }),
    [attribute.outcome]: came,
  };
  span.end(attributes, came === "failed" ? errorTypeOf(threw, run.secrets) : undefined);
}

/** What the provider has counted. */
function usageOf(usage: unknown): Attributes {
  const columns = usageColumns(isMap(usage) ? usage : null, undefined);
  const counted = [
    [attribute.inputTokens, columns.input_tokens],
    [attribute.cachedTokens, columns.cached_tokens],
    [attribute.outputTokens, columns.output_tokens],
    [attribute.reasoningTokens, columns.reasoning_tokens],
  ] as const;
  return Object.fromEntries(counted.flatMap(([name, count]) => (count === null ? [] : [[name, count]])));
}
