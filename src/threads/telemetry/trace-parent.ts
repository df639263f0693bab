// Where a trace goes on: the place in it as one line of text, in the form of the W3C header `traceparent`. It is stored with
// what was left for a thread and with the run that is under way, so that another process goes on in the same trace. Who
// decides whether a trace is sampled has decided that already: an id that we made up would decide it anew.
import {
  type Context,
  context,
  createContextKey,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
} from "@opentelemetry/api";

const LINE = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

export function writeTraceParent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, "0")}`;
}

/** Undefined for what is no place in a trace. */
export function readTraceParent(line: string | undefined): SpanContext | undefined {
  const [, traceId = "", spanId = "", flags = ""] = LINE.exec(line ?? "") ?? [];
  const read = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(read) ? read : undefined;
}

const WITHIN_RUN = createContextKey("holdfast.within_run");

/** What the spans of a run are begun in. Whatever happens to be going on around the worker is no part of it. */
export function runContext(parent: SpanContext | undefined): Context {
  const own = ROOT_CONTEXT.setValue(WITHIN_RUN, true);
  return parent ? trace.setSpanContext(own, parent) : own;
}

/**
 * The place in a trace from which somebody leaves something for a thread; a check and nothing more where nobody traces.
 * What a run leaves for itself begins a trace of its own, since a thread that always finds something to do would never
 * come to the end of one: only what `isAddressed` to somebody counts within runs.
 */
export function traceParentNow(isAddressed: boolean): string | undefined {
  try {
    const active = context.active();
    const here = trace.getSpanContext(active);
    if (!here || !isSpanContextValid(here)) return undefined;
    return isAddressed || active.getValue(WITHIN_RUN) !== true ? writeTraceParent(here) : undefined;
  } catch {
    return undefined;
  }
}
