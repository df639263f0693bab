// The spans of a run for as long as one process works on it: the run itself, the step that it is in, and what happens to it.
import type { Attributes } from "@opentelemetry/api";
import { isMap } from "../../contracts/json.ts";
import type { Fact } from "../../loop/records.ts";
import type { Batch } from "../batch.ts";
import { type GuardedSpan, type SpanStart, startSpan } from "./guarded-span.ts";
import { attribute, event, OTHER_ERROR, operation } from "./names.ts";

/** Of an activation that does nothing but find out that there is nothing to do yet. */
const LAID_DOWN = "waiting";

/** What the process could not go on with, which is not what the run came to. */
export type Ended = { readonly outcome: string; readonly errorType?: string };

export class RunTrace {
  /** What its spans have in common. */
  readonly common: Attributes;
  readonly #span: GuardedSpan;
  readonly #word: (text: unknown) => string | undefined;
  #step: GuardedSpan | undefined;
  #outcome: string = LAID_DOWN;
  #errorType: string | undefined;

  /** `word`: what may be told of a text that others chose. */
  constructor(span: GuardedSpan, common: Attributes, word: (text: unknown) => string | undefined) {
    this.#span = span;
    this.common = common;
    this.#word = word;
  }

  within<Result>(work: () => Result): Result {
    return this.#span.within(work);
  }

  /** Hears what the machine writes down, before it is committed. */
  hear(fact: Fact): void {
    if (fact.type === "turn.started") this.#begin(fact.turn);
    else if (fact.type === "turn.ended" || fact.type === "flow.ended") this.#leave();
  }

  /** Begins something within the step. A run that is taken up in the middle of one begins with the rest of it. */
  start(step: number, begun: Omit<SpanStart, "parent">): GuardedSpan | undefined {
    if (!this.#step) this.#begin(step);
    const attributes = { ...this.common, [attribute.step]: step, ...begun.attributes };
    return startSpan({ ...begun, attributes, parent: (this.#step ?? this.#span).inside });
  }

  /** Hears what was committed. */
  committed({ records, run, opened, closed }: Batch): void {
    if (closed) {
      const came = closed.to === "settled" ? closed.from : closed.to;
      this.#span.event(event.resumed, { [attribute.requestId]: closed.id, [attribute.outcome]: came });
    }
    if (opened) {
      this.#span.event(event.waiting, {
        [attribute.requestId]: opened.id,
        [attribute.requestKind]: opened.kind,
        [attribute.toolName]: opened.tool_name,
      });
    }
    const last = records.at(-1)?.fact.type;
    if (last === "effect.postponed") this.#outcome = "postponed";
    else if (last === "effect.released") this.#outcome = "released";
    else if (run) this.#outcome = run.status;
    if (run?.status === "failed") this.#errorType = this.#word(codeOf(run.outcome)) ?? OTHER_ERROR;
  }

  end({ outcome = this.#outcome, errorType = this.#errorType }: Partial<Ended> = {}): void {
    this.#leave();
    this.#span.end({ [attribute.outcome]: outcome }, errorType);
  }

  #begin(number: number): void {
    this.#leave();
    const attributes = { ...this.common, [attribute.step]: number };
    this.#step = startSpan({ name: operation.step, attributes, parent: this.#span.inside });
  }

  #leave(): void {
    this.#step?.end({});
    this.#step = undefined;
  }
}

/** The code of what a run failed with, from its outcome as it is stored. */
function codeOf(outcome: string | null): unknown {
  const { failure } = JSON.parse(outcome ?? "{}") as { readonly failure?: unknown };
  return isMap(failure) ? failure.code : undefined;
}
