// What is stored of a run's working memory, so that a restart finds it again: sealed as soon as it holds what a tool is
// called with, or what came of it.
import type { Commit } from "../backend/thread-commit.ts";
import type { LoadedThread } from "../backend/thread-rows.ts";
import { type Kept, keepWorking } from "../loop/keep-working.ts";
import type { Working } from "../loop/working.ts";
import type { Batch } from "./batch.ts";
import type { Sealing } from "./secrets/sealing.ts";

/**
 * Beside what the machine keeps: where the messages of the run begin, where it stands in a trace, and the answer of the
 * turn unless it is long.
 */
type KeptText = {
  readonly kept: Kept;
  readonly from: number;
  readonly trace?: string | undefined;
  readonly answer?: unknown;
};

/** A longer answer has a row of its own, so that a turn of many calls does not write it again with each of them. */
const LONGEST_KEPT_ANSWER = 8_192;

/** One for as long as a thread is held: it knows the answer of the turn, which most commits leave as it is. */
export class KeptMemory {
  readonly #sealing: Sealing;
  readonly #loaded: LoadedThread;
  readonly #threadId: string;
  /** JSON of the turn's answer, null when there is none yet. */
  #answer: string | null = null;
  #hasAnswerRow: boolean;

  constructor(sealing: Sealing, loaded: LoadedThread) {
    this.#sealing = sealing;
    this.#loaded = loaded;
    this.#threadId = loaded.thread.id;
    this.#hasAnswerRow = loaded.answer !== null;
  }

  /** What was kept of the current run, unsealed. */
  text(): KeptText | null {
    const { working } = this.#loaded;
    if (working === null) return null;
    const plain = working.startsWith("{") ? (JSON.parse(working) as KeptText) : undefined;
    // A call that was not sealed is not one that we have kept.
    const { call, queued, outer } = plain?.kept ?? {};
    if (plain && plain.answer === undefined && call === null && queued?.length === 0 && !outer) return plain;
    return JSON.parse(this.#sealing.open(working, this.#threadId)) as KeptText;
  }

  /** The answer of the turn that the run is in. */
  answer(kept: KeptText | null): unknown {
    const { answer } = this.#loaded;
    if (kept?.answer !== undefined) this.#answer = JSON.stringify(kept.answer);
    else if (answer !== null) this.#answer = this.#sealing.open(answer, this.#threadId);
    return this.#answer === null ? null : JSON.parse(this.#answer);
  }

  /** The columns of the next commit; none is kept once the run is over. */
  next(
    { changesAnswer }: Batch,
    working: Working | null,
    place: Pick<KeptText, "from" | "trace">,
  ): Pick<Commit, "working" | "answer"> {
    if (changesAnswer || working === null) this.#answer = working && answerText(working);
    const answer = this.#answer;
    const isLong = answer !== null && answer.length > LONGEST_KEPT_ANSWER;
    const row = isLong ? changesAnswer : this.#hasAnswerRow;
    this.#hasAnswerRow = isLong;
    return {
      working: working && this.#stored(working, isLong ? null : answer, place),
      ...(row && { answer: isLong ? this.#sealing.seal(answer, this.#threadId) : null }),
    };
  }

  #stored(working: Working, answer: string | null, { from, trace }: Pick<KeptText, "from" | "trace">): string {
    const kept = JSON.stringify({ kept: keepWorking(working), from, trace } satisfies KeptText);
    const text = answer === null ? kept : `${kept.slice(0, -1)},"answer":${answer}}`;
    const { call, queued, turnExecutions, run } = working;
    const isWithin = working.outer.length > 0;
    const isOfCall = answer !== null || call !== null || queued.length > 0 || turnExecutions.length > 0 || isWithin;
    // What was asked of somebody outside stays with the run after the call has ended.
    const isSecret = isOfCall || run.approval !== null || run.pending !== null;
    return isSecret ? this.#sealing.seal(text, this.#threadId) : text;
  }
}

function answerText({ answer }: Working): string | null {
  return answer.history === null && Object.keys(answer.result).length === 0 ? null : JSON.stringify(answer);
}
