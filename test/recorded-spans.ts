// Spans as a program with the OpenTelemetry SDK would export them, kept in memory for tests.
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Context,
  type ContextManager,
  context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  SpanStatusCode,
  type TextMapPropagator,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { onTestFinished } from "vitest";

export type RecordedSpans = {
  readonly tracer: Tracer;
  /** Those that have ended, in order of their beginning. */
  ended(): readonly ReadableSpan[];
  named(name: string): readonly ReadableSpan[];
  /** Those that have ended, each behind as many dots as there are spans above it. */
  tree(): readonly string[];
};

/** Registers the SDK until the test is over. */
export function recordSpans({ exporter: other }: { readonly exporter?: SpanExporter } = {}): RecordedSpans {
  const exporter = new InMemorySpanExporter();
  const begun: string[] = [];
  const order: SpanProcessor = {
    onStart: (span) => begun.push(span.spanContext().spanId),
    onEnd: () => undefined,
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  const provider = new BasicTracerProvider({ spanProcessors: [order, new SimpleSpanProcessor(other ?? exporter)] });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(contextManager());
  propagation.setGlobalPropagator(propagator);
  onTestFinished(stopTracing);

  // Not by their times: a span and the one inside it often begin within the same tick of the clock.
  const place = (span: ReadableSpan) => begun.indexOf(span.spanContext().spanId);
  const ended = () => exporter.getFinishedSpans().toSorted((left, right) => place(left) - place(right));
  return {
    tracer: trace.getTracer("test"),
    ended,
    named: (name) => ended().filter((span) => span.name === name),
    tree() {
      const spans = ended();
      const below = (parent: string | undefined, depth: number): readonly string[] =>
        spans
          .filter((span) => parentOf(span, spans) === parent)
          .flatMap((span) => [`${"· ".repeat(depth)}${inWords(span)}`, ...below(span.spanContext().spanId, depth + 1)]);
      return below(undefined, 0);
    },
  };
}

/** As before anybody registered anything. */
export function stopTracing(): void {
  trace.disable();
  context.disable();
  propagation.disable();
}

function parentOf({ parentSpanContext }: ReadableSpan, spans: readonly ReadableSpan[]): string | undefined {
  const id = parentSpanContext?.spanId;
  return spans.some((span) => span.spanContext().spanId === id) ? id : undefined;
}

function inWords({ name, attributes, status, events }: ReadableSpan): string {
  const outcome = attributes["holdfast.outcome"];
  const error = status.code === SpanStatusCode.ERROR ? `! ${attributes["error.type"]}` : "";
  const told = events.filter((event) => event.name !== "holdfast.first_token").map((event) => `(${event.name})`);
  return [name, outcome && `= ${outcome}`, error, ...told].filter(Boolean).join(" ");
}

/** What Node programs register: what is active stays so across everything that is awaited. */
export function contextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, receiver, ...given) => storage.run(active, () => work.apply(receiver, given)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}

/** Reads the header of the W3C. */
const propagator: TextMapPropagator = {
  inject: () => undefined,
  fields: () => ["traceparent"],
  extract(into, carrier, { get }) {
    const [, traceId = "", spanId = "", flags = ""] = String(get(carrier, "traceparent") ?? "").split("-");
    const read = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
    return isSpanContextValid(read) ? trace.setSpanContext(into, read) : into;
  },
};

/** All that is told of spans beside their names and times. */
export function everythingTold(spans: readonly ReadableSpan[]): string {
  const told = ({ name, attributes, events, status, links }: ReadableSpan) => ({
    ...{ name, attributes, status },
    events: events.map((event): Attributes => ({ name: event.name, ...event.attributes })),
    links: links.map((link) => link.attributes),
  });
  return JSON.stringify(spans.map(told));
}
