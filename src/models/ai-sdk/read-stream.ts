// Reads the stream of an answer to its end. It gives one whole answer or throws; half an answer is never returned.
import { type Attempt, brokenAnswer, failureOf, stalledAnswer } from "./failure.ts";
import type { Gathering, StreamPart } from "./gather-answer.ts";
import type { Watch } from "./watch-silence.ts";

/** How long a connection may stay open once the answer is whole. */
const GRACE_MS = 1_000;

export type Reading = {
  readonly name: string;
  readonly gathering: Gathering;
  readonly watch: Watch;
  readonly stallMs: number;
};

/** Feeds the stream into the gathering. Throws a `ModelFailure` unless a whole answer came. */
export async function readStream(stream: ReadableStream<StreamPart>, reading: Reading): Promise<void> {
  const { gathering, watch, stallMs } = reading;
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  if (watch.signal.aborted) cancel();
  else watch.signal.addEventListener("abort", cancel, { once: true });
  for (;;) {
    const part = await nextPart(reader, reading);
    if (!part) break;
    if (part.type === "error") throw failureOf(part.error, attemptOf(reading));
    gathering.take(part);
    watch.heard(gathering.finish() ? Math.min(GRACE_MS, stallMs) : stallMs);
  }
  const finish = gathering.finish();
  if (!finish && watch.hasStalled()) throw stalledAnswer(stallMs, attemptOf(reading));
  const problem = finish ? problemWith(finish) : "it ended before its end.";
  if (problem !== undefined) throw brokenAnswer(problem, attemptOf(reading));
}

/** Undefined at the end. What happens to a connection after the answer was whole is of no interest. */
async function nextPart(
  reader: ReadableStreamDefaultReader<StreamPart>,
  reading: Reading,
): Promise<StreamPart | undefined> {
  try {
    return (await reader.read()).value;
  } catch (thrown) {
    const { gathering, watch, stallMs } = reading;
    if (gathering.finish()) return undefined;
    throw watch.hasStalled() ? stalledAnswer(stallMs, attemptOf(reading)) : failureOf(thrown, attemptOf(reading));
  }
}

function attemptOf({ name, gathering }: Reading): Attempt {
  return { name, hasSpoken: gathering.hasSpoken(), isStreaming: true };
}

/** Why an answer that says it is finished is not. */
function problemWith({ finishReason }: { finishReason: { unified: string; raw?: string | undefined } }) {
  const { unified, raw } = finishReason;
  if (unified === "error") return "the provider stopped because of an error.";
  if (unified === "interrupted") return "the provider broke off.";
  // What some packages report of a stream that just ended: nobody has said that the answer was finished.
  if (unified === "other" && raw === undefined) return "it ended without a reason.";
  return undefined;
}
