// Traces what one process does for a run, from taking it up to laying it down.
import type { Link } from "@opentelemetry/api";
import { quietly } from "../../contracts/when-ready.ts";
import { CommitConflict, LeaseLost } from "../../engine/retry-commit.ts";
import { initialState } from "../../loop/state.ts";
import type { HeldThread } from "../held-thread.ts";
import type { ThreadRun } from "../thread-run.ts";
import { errorTypeOf, shownWord } from "./error-type.ts";
import { isTraced, startSpan } from "./guarded-span.ts";
import { attribute, namesOfModel, operation } from "./names.ts";
import { type Ended, RunTrace } from "./run-trace.ts";
import { readTraceParent, runContext, writeTraceParent } from "./trace-parent.ts";

/**
 * Every process that works on a run adds a span to its trace. The first hangs below whoever asked for the run; where it
 * hangs is kept with the run, and the others hang below the first.
 */
export async function traceRun<Result>(held: HeldThread, run: ThreadRun, work: () => Promise<Result>): Promise<Result> {
  const opened = isTraced() ? open(held, run) : undefined;
  if (!opened) return await work();
  run.trace = opened;
  try {
    const result = await opened.within(work);
    opened.end();
    return result;
  } catch (thrown) {
    opened.end(quietly(() => endedBy(thrown, run)) as Ended | undefined);
    throw thrown;
  }
}

function open(held: HeldThread, run: ThreadRun): RunTrace | undefined {
  const { slug } = run.cast.agent;
  const [parent, ...others] = held.trace === undefined ? askedFrom(held) : [held.trace];
  const common = {
    [attribute.conversation]: held.id,
    [attribute.agent]: slug,
    [attribute.thread]: held.id,
    [attribute.run]: held.run,
  };
  const span = startSpan({
    name: `${operation.run} ${slug}`,
    attributes: {
      ...common,
      [attribute.operation]: operation.run,
      [attribute.provider]: namesOfModel(run.models[0]?.name ?? "").provider,
    },
    links: others.flatMap(linkTo),
    parent: runContext(readTraceParent(parent)),
  });
  if (!span) return undefined;
  held.trace ??= writeTraceParent(span.spanContext);
  return new RunTrace(span, common, (text) => shownWord(text, run.secrets));
}

/** Where those stand who left what a new run begins with. */
function askedFrom({ state, entries }: HeldThread): readonly string[] {
  if (state !== initialState) return [];
  const places = entries.map(({ body }) => ("trace" in body ? body.trace : undefined));
  return [...new Set(places.filter((place) => place !== undefined))];
}

function linkTo(place: string): Link[] {
  const context = readTraceParent(place);
  return context ? [{ context }] : [];
}

/** A thread that was taken by somebody else, or changed meanwhile, is in order: it goes on there, or once more. */
function endedBy(thrown: unknown, { secrets }: ThreadRun): Ended {
  if (thrown instanceof LeaseLost) return { outcome: "lease_lost" };
  if (thrown instanceof CommitConflict) return { outcome: "overtaken" };
  return { outcome: "failed", errorType: errorTypeOf(thrown, secrets) };
}
