// Writes the frames of one stream to one reader. Frames are asked for as the reader takes them, so that a slow one costs a
// buffer and not a backlog; one that takes nothing for several heartbeats is let go, and comes back where it was. It is a
// class with few fields because thousands of them wait at the same time.
import { joinPulse, leavePulse } from "./pulse.ts";

/** `id` is what a reader comes back with. `data` may have several lines. */
export type Frame = { readonly id?: string; readonly event?: string; readonly data: string };

/** Where frames go: a connection, or a body that somebody reads. */
export interface Sink {
  /** True while the reader has not taken what was written before. */
  readonly isFull: boolean;
  write(text: string): void;
  /** Calls back once it is not full any more. */
  whenDrained(callback: () => void): void;
  end(): void;
  /** Gives up a reader that takes nothing. */
  drop(): void;
}

export type WriterOptions = {
  /** How often a comment is sent when there is nothing else to say; 15 seconds unless given. */
  readonly heartbeatMs?: number;
  /** Ends the stream with a comment: the server is about to end, and the reader comes back elsewhere. */
  readonly closing?: AbortSignal;
  /** Aborted when the stream is over for whatever reason: for sources that wait, and would not see `return()` meanwhile. */
  readonly leaving?: AbortController;
  /** How long readers wait before they come back, as they are told; one second unless given. */
  readonly retryMs?: number;
};

const HEARTBEAT_MS = 15_000;
const RETRY_MS = 1_000;
/** Heartbeats that a reader may leave untaken. */
const PATIENCE = 3;

export class FrameWriter {
  readonly #sink: Sink;
  readonly #frames: AsyncIterator<Frame>;
  readonly #heartbeatMs: number;
  readonly #closing: AbortSignal | undefined;
  readonly #leaving: AbortController | undefined;
  #untaken = 0;
  #isOver = false;
  #goOn: (() => void) | undefined;

  constructor(sink: Sink, frames: AsyncIterable<Frame>, options: WriterOptions) {
    this.#sink = sink;
    this.#frames = frames[Symbol.asyncIterator]();
    this.#heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
    this.#closing = options.closing;
    this.#leaving = options.leaving;
    // The first words go out at once, so that the reader knows that it is connected.
    sink.write(`retry: ${options.retryMs ?? RETRY_MS}\n\n`);
    joinPulse(this.#heartbeatMs, this);
    if (this.#closing?.aborted) this.handleEvent();
    else this.#closing?.addEventListener("abort", this);
    void this.#run();
  }

  /** The reader has left. Nothing is awaited: a source in the middle of waiting ends when it is told by the signal. */
  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    leavePulse(this.#heartbeatMs, this);
    this.#closing?.removeEventListener("abort", this);
    this.#leaving?.abort();
    this.#goOn?.();
    void this.#frames.return?.().catch(() => undefined);
  }

  /** The server is about to end. */
  handleEvent(): void {
    if (this.#isOver) return;
    this.leave();
    this.#sink.write(": closing\n\n");
    this.#sink.end();
  }

  beat(): void {
    if (!this.#sink.isFull) {
      this.#untaken = 0;
      this.#sink.write(":\n\n");
    } else if (++this.#untaken >= PATIENCE) {
      this.leave();
      this.#sink.drop();
    }
  }

  async #run(): Promise<void> {
    try {
      while (!this.#isOver) {
        if (this.#sink.isFull) await this.#drained();
        const { done, value } = await this.#frames.next();
        if (this.#isOver) return;
        if (done) break;
        this.#sink.write(frameText(value));
      }
    } catch {
      // What a source has to say about its failure it says in a frame.
    }
    if (this.#isOver) return;
    this.leave();
    this.#sink.end();
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#goOn = resolve;
      this.#sink.whenDrained(resolve);
    });
  }
}

/** The text of a frame. A line end in data begins another line; in an id or a name it has no place. */
export function frameText({ id, event, data }: Frame): string {
  const idLine = id === undefined ? "" : `id: ${oneLine(id)}\n`;
  const eventLine = event === undefined ? "" : `event: ${oneLine(event)}\n`;
  return `${idLine}${eventLine}data: ${data.replaceAll(/\r\n|\r|\n/g, "\ndata: ")}\n\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, "");
}
