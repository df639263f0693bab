// A span that cannot break what it is about: whatever a tracer throws or rejects with is dropped, and nothing of it is
// waited for.
import {
  type Attributes,
  type Context,
  context,
  type Link,
  ProxyTracerProvider,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { quietly } from "../../contracts/when-ready.ts";
import { attribute, TRACER } from "./names.ts";

export type GuardedSpan = {
  readonly spanContext: SpanContext;
  /** What is begun within it. */
  readonly inside: Context;
  /** `at`: milliseconds since 1970; now unless given. */
  event(name: string, attributes: Attributes, at?: number): void;
  /** Ends it, as an error where there is a kind of one. */
  end(attributes: Attributes, errorType?: string): void;
  /** Does something within it: what others trace meanwhile is found below it. */
  within<Result>(work: () => Result): Result;
};

export type SpanStart = {
  readonly name: string;
  /** True for what another process does for us. */
  readonly isCall?: boolean;
  readonly attributes: Attributes;
  readonly links?: Link[];
  readonly parent: Context;
};

/** False where no SDK is registered: whoever asks first need not gather what a span would tell. */
export function isTraced(): boolean {
  return quietly(registeredTracer) !== undefined;
}

/** Not the API's own stand-in, which makes spans that tell nothing. */
function registeredTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider ? provider.getDelegateTracer(TRACER) : provider.getTracer(TRACER);
}

/** Undefined where nobody traces. */
export function startSpan({ name, isCall = false, attributes, links, parent }: SpanStart): GuardedSpan | undefined {
  const kind = isCall ? SpanKind.CLIENT : SpanKind.INTERNAL;
  const made = quietly(() =>
    registeredTracer()?.startSpan(name, { kind, attributes, ...(links && { links }) }, parent),
  );
  try {
    const span = made as Span;
    const spanContext = span.spanContext();
    return trace.isSpanContextValid(spanContext) ? guard(span, spanContext, trace.setSpan(parent, span)) : undefined;
  } catch {
    return undefined;
  }
}

function guard(span: Span, spanContext: SpanContext, inside: Context): GuardedSpan {
  return {
    spanContext,
    inside,
    event: (name, attributes, at) => void quietly(() => span.addEvent(name, attributes, at)),
    end(attributes, errorType) {
      quietly(() => span.setAttributes(attributes));
      if (errorType !== undefined) {
        quietly(() => span.setAttribute(attribute.errorType, errorType));
        quietly(() => span.setStatus({ code: SpanStatusCode.ERROR }));
      }
      quietly(() => span.end());
    },
    within: (work) => doWithin(inside, work),
  };
}

/** Exactly once, whatever the context manager does. */
function doWithin<Result>(inside: Context, work: () => Result): Result {
  let done: { readonly returned: Result } | { readonly threw: unknown } | undefined;
  const once = () => {
    if (done) return;
    try {
      done = { returned: work() };
    } catch (threw) {
      done = { threw };
    }
  };
  quietly(() => context.with(inside, once));
  once();
  const came = done as { readonly returned: Result } | { readonly threw: unknown } | undefined;
  if (!came) throw new Error("Nothing was done.");
  if ("threw" in came) throw came.threw;
  return came.returned;
}
