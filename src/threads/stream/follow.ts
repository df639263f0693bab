// Follows a thread for one reader: what is committed, in order, and between two commits what a model is saying. All of
// it is read when the reader asks for more, so that one that sleeps costs nothing, and gets everything later.
import type { LiveText } from "../../backend/live-text.ts";
import type { StoredEvent, StoredMessage } from "../../backend/thread-rows.ts";
import type { Host } from "../host.ts";
import { type LivePosition, LiveReader } from "./live-reader.ts";
import { afterCommit, answerIn, type Cursor, eventsOf, type StreamEvent } from "./stream.ts";

type Following = {
  readonly threadId: string;
  /** Where the reader is. */
  readonly from: Cursor;
  readonly live?: LivePosition | undefined;
  /** From this commit on all the words of an answer are told as deltas, before the message that they have become. */
  readonly wordsFrom: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * Asked once the reader was told everything that is committed, each time: true ends the reading. `read`: the last commit
   * that it was told. `hasCome`: since it was last asked, a run may have come to something or the thread to its end.
   */
  readonly isOver: (read: number, hasCome: boolean) => Promise<boolean>;
  /** When it has settled, `isOver` is asked once more. */
  readonly rings?: Promise<unknown>;
};

export async function* follow(host: Host, following: Following): AsyncGenerator<StreamEvent> {
  const { threadId, wordsFrom, signal, isOver } = following;
  const reader = new LiveReader(following.live);
  let cursor = following.from;
  let said: LiveText | undefined;
  let isNews = true;
  let hasCome = true;
  let isSaid = false;
  let wake: (() => void) | undefined;

  function ring(isMore = true): void {
    isNews = true;
    hasCome ||= isMore;
    wake?.();
  }
  const leave = () => ring();

  /** What was committed since. */
  async function* committed(): AsyncGenerator<StreamEvent> {
    for await (const { event, messages } of commitsAfter(host, threadId, cursor)) {
      const { seq } = event;
      const told = seq === cursor.seq ? cursor.place : -1;
      if (told === -1) yield* endOfAnswer(event, messages);
      for (const [place, item] of eventsOf(event, messages).entries()) {
        if (place <= told) continue;
        if (signal?.aborted) return;
        cursor = { seq, place };
        yield item;
      }
      cursor = afterCommit(seq);
    }
  }

  /** What was said of an answer comes before the answer, and before what became of it otherwise. */
  function* endOfAnswer(event: StoredEvent, messages: readonly StoredMessage[]): Generator<StreamEvent> {
    if (said?.commit === event.seq) yield* reader.read(said);
    if (said && said.commit <= event.seq) said = undefined;
    const answer = answerIn(event, messages);
    if (!answer) return;
    if (event.seq >= wordsFrom) yield* reader.finish(answer);
    else reader.forget();
  }

  const unwatch = host.progress.watch(threadId, ring);
  const unlisten = host.liveTexts.listen(threadId, (text) => {
    said = text;
    isSaid = true;
    // What comes before it is committed, and this reader has not seen it yet.
    if (text.commit > cursor.seq + 1) isNews = true;
    wake?.();
  });
  signal?.addEventListener("abort", leave);
  void following.rings?.then(leave, leave);
  try {
    // Whoever comes back in the middle of an answer goes on there, also when it is given somewhere else.
    await host.liveTexts.look(threadId);
    while (!signal?.aborted) {
      if (isNews) {
        isNews = false;
        yield* committed();
        isSaid = true;
        if (isNews) continue;
        const isAnythingOver = hasCome;
        hasCome = false;
        if (await isOver(cursor.seq, isAnythingOver)) return;
      } else if (isSaid) {
        isSaid = false;
        if (said?.commit === cursor.seq + 1) yield* reader.read(said);
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    unwatch();
    unlisten();
    signal?.removeEventListener("abort", leave);
    said = undefined;
  }
}

/** Commits that are read at once: as many as a reader that falls asleep in the middle may keep in memory. */
const PAGE = 100;

type Commit = { readonly event: StoredEvent; readonly messages: readonly StoredMessage[] };

/** The commit that the reader was in the middle of, if it was, and those after it. */
async function* commitsAfter({ stores }: Host, threadId: string, { seq, place }: Cursor): AsyncGenerator<Commit> {
  const { threads } = stores;
  for (let after = place === Number.POSITIVE_INFINITY ? seq : seq - 1; ; ) {
    const page = await threads.events(threadId, { after, limit: PAGE });
    const from = page[0]?.messages_from ?? 0;
    const limit = (page.at(-1)?.messages_to ?? 0) - from;
    const messages = limit > 0 ? await threads.messages(threadId, { from, limit }) : [];
    for (const event of page) {
      const { messages_from, messages_to } = event;
      yield { event, messages: messages.filter(({ seq: own }) => own >= messages_from && own < messages_to) };
      after = event.seq;
    }
    if (page.length < PAGE) return;
  }
}
