import { context, trace } from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { describe, expect, it, onTestFinished } from "vitest";
import { contextManager, stopTracing } from "../../../test/recorded-spans.ts";
import { createEntry } from "../new-entry.ts";
import { readTraceParent, runContext, traceParentNow, writeTraceParent } from "./trace-parent.ts";

const line = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
const here = { traceId: "1".repeat(32), spanId: "2".repeat(16), traceFlags: 1 };

function register() {
  onTestFinished(stopTracing);
  const exporter = new InMemorySpanExporter();
  const asyncContexts = contextManager();

  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(asyncContexts);
}

describe("a place in a trace", () => {
  it("is read as it was written", () => {
    expect(writeTraceParent(here)).toBe(line);
    expect(readTraceParent(line)).toEqual({ ...here, isRemote: true });
  });

  it.each([
    undefined,
    "",
    "01",
    `${line}-more`,
    line.replaceAll("1", "0"),
    line.replaceAll("2", "0"),
    `01${line.slice(2)}`,
  ])("is not read from what is none: %s", (text) => expect(readTraceParent(text)).toBeUndefined());
});

describe("what is left for a thread", () => {
  const placeOf = ({ body }: { readonly body: string }) => JSON.parse(body).trace;
  const message = () => createEntry.message("Hi.", {});
  const queued = () => createEntry.queuedMessage("Hi.", {});
  const toChild = () => createEntry.fromParent({ content: "Hi." }, null);

  it("says nothing of a trace where nobody traces", () => {
    expect([message(), queued(), toChild()].map(placeOf)).toEqual([undefined, undefined, undefined]);
    expect(traceParentNow(true)).toBeUndefined();
  });

  it("says where it was left, and is no other entry for that", () => {
    register();
    trace.getTracer("test").startActiveSpan("caller", (span) => {
      const place = writeTraceParent(span.spanContext());
      expect([message(), queued(), toChild()].map(placeOf)).toEqual([place, place, place]);
      expect(placeOf(createEntry.injected("Hi.", {}))).toBeUndefined();
      expect(message().payload_hash).toBe(context.with(runContext(undefined), message).payload_hash);
    });
  });

  it("says so within a run only when somebody else is to act on it", () => {
    register();
    context.with(runContext(here), () => {
      expect([queued(), toChild(), message()].map(placeOf)).toEqual([undefined, line, line]);
    });
  });
});
