// Follows a thread for one reader: first what was committed after the place it was at, then what comes. A reader that
// cannot keep up is dropped, never waited for: it comes back with its last id.
import type { LiveText } from "../backend/live-text.ts";
import type { StoredMessage } from "../backend/thread-store.ts";
import type { Host } from "./host.ts";
import { type CommittedEvent, type Cursor, eventsOf, LiveReader, readCursor, type StreamEvent } from "./stream.ts";
import { threadNotFound, threadStuck } from "./thread-errors.ts";

export type StreamOptions = {
  /** The id of the last committed event that was seen; everything from the beginning unless given. */
  readonly after?: string;
  /** Where the text in flight was. */
  readonly live?: { readonly step: number; readonly attempt: number; readonly offset: number };
  /** Ends after the event that ends a run or has it wait for somebody; otherwise it goes on until the signal fires. */
  readonly untilRest?: boolean;
  readonly signal?: AbortSignal;
};

const PAGE = 200;

export async function* readStream(host: Host, threadId: string, options: StreamOptions): AsyncGenerator<StreamEvent> {
  const { signal, untilRest = false } = options;
  let cursor = readCursor(options.after);
  const reader = new LiveReader(options.live);
  let live: LiveText | undefined;
  let isNews = true;
  let wake: (() => void) | undefined;
  const news = () => {
    isNews = true;
    wake?.();
  };
  const { threads } = host.stores;
  const thread = await threads.get(threadId);
  if (!thread) throw threadNotFound(threadId);
  // How many answers the reader has been told of: text in flight belongs to the next one, or comes too late.
  let { steps } = thread;
  let isAtRest = false;
  const unwatch = host.progress.watch(threadId, news);
  const unlisten = host.liveTexts.listen(threadId, (text) => {
    live = text;
    news();
  });
  signal?.addEventListener("abort", news);
  try {
    while (!signal?.aborted) {
      isNews = false;
      for await (const event of committedAfter(host, threadId, cursor)) {
        // What was said of an answer comes before the answer.
        if (live?.step === steps && event.step > steps) yield* reader.read(live);
        cursor = readCursor(event.id);
        steps = event.step;
        isAtRest = restAfter(event, isAtRest);
        yield event;
      }
      if (untilRest && !(await isBusy(host, threadId)) && isAtRest) return;
      if (live?.step === steps) yield* reader.read(live);
      if (!isNews && !signal?.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    unwatch();
    unlisten();
    signal?.removeEventListener("abort", news);
  }
}

/** Whether the thread rests after an event; what is only told about it changes nothing. */
function restAfter({ type }: CommittedEvent, isAtRest: boolean): boolean {
  if (type === "run.ended" || type === "request.created") return true;
  return isAtRest && (type === "note" || type === "message.superseded");
}

/**
 * True when the thread goes on by itself, because it runs or because something waits that it will run for. Throws
 * `thread_stuck` for one that will not.
 */
async function isBusy(host: Host, threadId: string): Promise<boolean> {
  const { threads, inbox } = host.stores;
  const waiting = await inbox.waiting(threadId);
  // Read after the inbox: what was taken in between shows in the status.
  const status = (await threads.get(threadId))?.status;
  if (status === "stuck") throw threadStuck(threadId);
  const isAnswered = waiting.some(({ kind }) => kind === "answer" || kind === "stop");
  return status === "running" || isAnswered || (status === "idle" && waiting.length > 0);
}

async function* committedAfter(host: Host, threadId: string, cursor: Cursor): AsyncGenerator<CommittedEvent> {
  const { threads } = host.stores;
  // The commit that the reader was in is read once more, for what came behind its place.
  for (let after = cursor.seq - 1; ; ) {
    const page = await threads.events(threadId, { after, limit: PAGE });
    const messages = await messagesOf(host, threadId, page);
    for (const event of page) {
      const own = messages.filter(({ seq }) => seq >= event.messages_from && seq < event.messages_to);
      for (const told of eventsOf(event, own)) {
        const { seq, place } = readCursor(told.id);
        if (seq > cursor.seq || place > cursor.place) yield told;
      }
      after = event.seq;
    }
    if (page.length < PAGE) return;
  }
}

async function messagesOf(
  host: Host,
  threadId: string,
  page: readonly { readonly messages_from: number; readonly messages_to: number }[],
): Promise<readonly StoredMessage[]> {
  const from = page[0]?.messages_from ?? 0;
  const to = page.at(-1)?.messages_to ?? 0;
  return to > from ? await host.stores.threads.messages(threadId, { from, limit: to - from }) : [];
}
