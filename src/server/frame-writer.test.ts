import { describe, expect, it } from "vitest";
import { eventually } from "../../test/eventually.ts";
import { type Frame, FrameWriter, frameText, type Sink } from "./frame-writer.ts";

/** A reader that takes things when it is told to, and a source that is told what to say. */
function newStream({ closing, heartbeatMs = 3_600_000 }: { closing?: AbortSignal; heartbeatMs?: number } = {}) {
  const written: string[] = [];
  let isFull = false;
  let onDrained: (() => void) | undefined;
  const sink: Sink = {
    get isFull() {
      return isFull;
    },
    write: (text) => written.push(text),
    whenDrained(callback) {
      onDrained = callback;
    },
    end: () => written.push("END"),
    drop: () => written.push("DROPPED"),
  };
  const leaving = new AbortController();
  let asked = 0;
  let hasReturned = false;
  const source = (async function* (): AsyncGenerator<Frame> {
    try {
      for (;;) {
        await turn();
        yield { id: `${asked}`, data: `${asked++}` };
      }
    } finally {
      hasReturned = true;
    }
  })();
  return {
    written,
    leaving,
    open: (frames: AsyncIterable<Frame> = source) =>
      new FrameWriter(sink, frames, { leaving, heartbeatMs, ...(closing && { closing }) }),
    fill() {
      isFull = true;
    },
    drain() {
      isFull = false;
      onDrained?.();
    },
    asked: () => asked,
    hasReturned: () => hasReturned,
  };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function* said(...frames: Frame[]): AsyncGenerator<Frame> {
  yield* frames;
}

describe("the frames of a stream", () => {
  it("are written in order, and the stream ends with its source", async () => {
    const { written, open, leaving } = newStream();
    open(said({ id: "1", data: "one" }, { event: "end", data: "two\nlines\r\nthree" }));
    await turn();
    expect(written).toEqual([
      "retry: 1000\n\n",
      "id: 1\ndata: one\n\n",
      "event: end\ndata: two\ndata: lines\ndata: three\n\n",
      "END",
    ]);
    expect(leaving.signal.aborted).toBe(true);
  });

  it("cannot be forged by line ends in an id or a name", () => {
    expect(frameText({ id: "1\n\ndata: forged", event: "a\r\nb\0", data: "x" })).toBe(
      "id: 1data: forged\nevent: ab\ndata: x\n\n",
    );
  });

  it("are not asked for while the reader takes nothing", async () => {
    const { open, fill, drain, asked } = newStream();
    fill();
    const writer = open();
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(asked()).toBe(0);
    drain();
    await eventually(() => expect(asked()).toBeGreaterThan(0));
    writer.leave();
  });

  it("end with a reader that leaves: the source is told", async () => {
    const { open, fill, hasReturned, leaving, written } = newStream();
    const writer = open();
    await turn();
    fill();
    await turn();
    writer.leave();
    const count = written.length;
    await eventually(() => expect(hasReturned()).toBe(true));
    expect(leaving.signal.aborted).toBe(true);
    expect(written).toHaveLength(count);
  });

  it("end with a source that fails", async () => {
    const { open, written } = newStream();
    open(
      (async function* () {
        yield { data: "one" };
        throw new Error("lost");
      })(),
    );
    await turn();
    expect(written).toEqual(["retry: 1000\n\n", "data: one\n\n", "END"]);
  });

  it("end with a comment when the server is about to end", () => {
    const closing = new AbortController();
    const { open, written, leaving } = newStream({ closing: closing.signal });
    open();
    closing.abort();
    expect(written.slice(-2)).toEqual([": closing\n\n", "END"]);
    expect(leaving.signal.aborted).toBe(true);
  });

  it("are followed by heartbeats, and a reader that leaves three of them untaken is let go", () => {
    const { open, written, fill, drain, leaving } = newStream();
    const writer = open();
    writer.beat();
    expect(written.at(-1)).toBe(":\n\n");
    fill();
    writer.beat();
    writer.beat();
    drain();
    writer.beat();
    expect(leaving.signal.aborted).toBe(false);
    fill();
    for (let beats = 0; beats < 3; beats++) writer.beat();
    expect(written.at(-1)).toBe("DROPPED");
    expect(leaving.signal.aborted).toBe(true);
  });
});
