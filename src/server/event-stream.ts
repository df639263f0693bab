// Server-sent events as an answer. Where there is a connection its frames are written to it directly, which is what makes
// thousands of idle readers cheap; elsewhere, as in tests without a network, they are a body like any other.
import type { ServerResponse } from "node:http";
import type { Context } from "hono";
import type { ServerEnv } from "./door.ts";
import { type Frame, FrameWriter, type Sink, type WriterOptions } from "./frame-writer.ts";

export type { Frame } from "./frame-writer.ts";

export type EventStreamOptions = WriterOptions & { readonly headers?: Readonly<Record<string, string>> };

const streamHeaders = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-store, must-revalidate",
  Connection: "keep-alive",
  "X-Accel-Buffering": "no",
};

/** Answers with the frames of a source, and calls its `return()` when the reader leaves. */
export function eventStream(
  context: Context<ServerEnv>,
  frames: AsyncIterable<Frame>,
  options: EventStreamOptions = {},
): Response {
  const { headers, ...writing } = options;
  const answer = (body: ReadableStream | null) =>
    context.newResponse(body, { status: 200, headers: { ...streamHeaders, ...headers } });
  if (context.req.method === "HEAD") {
    // Nobody would read it.
    writing.leaving?.abort();
    void frames[Symbol.asyncIterator]().return?.();
    return answer(null);
  }
  if (!context.get("takesStreams")) return answer(bodyOf(frames, writing));
  context.set("stream", (outgoing) => writeTo(outgoing, frames, writing));
  return answer(null);
}

/** Writes to a connection whose headers have been sent. */
function writeTo(outgoing: ServerResponse, frames: AsyncIterable<Frame>, options: WriterOptions): void {
  const writer = new FrameWriter(new ConnectionSink(outgoing), frames, options);
  outgoing.once("close", () => writer.leave());
}

class ConnectionSink implements Sink {
  readonly #outgoing: ServerResponse;

  constructor(outgoing: ServerResponse) {
    this.#outgoing = outgoing;
  }

  get isFull(): boolean {
    return this.#outgoing.writableNeedDrain;
  }

  write(text: string): void {
    this.#outgoing.write(text);
  }

  whenDrained(callback: () => void): void {
    this.#outgoing.once("drain", callback);
  }

  end(): void {
    this.#outgoing.end();
  }

  drop(): void {
    this.#outgoing.destroy();
  }
}

function bodyOf(frames: AsyncIterable<Frame>, options: WriterOptions): ReadableStream {
  const encoder = new TextEncoder();
  let writer: FrameWriter | undefined;
  let onDrained: (() => void) | undefined;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const sink: Sink = {
        get isFull() {
          return (controller.desiredSize ?? 0) <= 0;
        },
        write: (text) => controller.enqueue(encoder.encode(text)),
        whenDrained(callback) {
          onDrained = callback;
        },
        end: () => controller.close(),
        drop: () => controller.error(new Error("The reader takes nothing.")),
      };
      writer = new FrameWriter(sink, frames, options);
    },
    pull: () => onDrained?.(),
    cancel: () => writer?.leave(),
  });
}
