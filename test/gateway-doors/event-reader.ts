// Reads a stream of server-sent events frame by frame.
export type StreamFrame = {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
};

export type EventReader = {
  readonly status: number;
  readonly headers: Headers;
  /** The frames up to the first one for which this holds. */
  until(isLast: (frame: StreamFrame) => boolean): Promise<readonly StreamFrame[]>;
  /** Those that come until the server ends the stream. */
  rest(): Promise<readonly StreamFrame[]>;
  leave(): void;
};

export async function readEvents(
  url: string,
  { path = "/events", token, headers = {} }: { path?: string; token?: string; headers?: Record<string, string> },
): Promise<EventReader> {
  const leaving = new AbortController();
  const response = await fetch(new URL(path, url), {
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    signal: leaving.signal,
  });
  const frames = framesOf(response.body ?? new ReadableStream());
  return {
    status: response.status,
    headers: response.headers,
    async until(isLast) {
      const seen: StreamFrame[] = [];
      for (;;) {
        const { value, done } = await frames.next();
        if (done) throw new Error(`The stream ended behind ${JSON.stringify(seen.at(-1))}.`);
        seen.push(value);
        if (isLast(value)) return seen;
      }
    },
    async rest() {
      const seen: StreamFrame[] = [];
      for await (const frame of frames) seen.push(frame);
      return seen;
    },
    leave: () => leaving.abort(),
  };
}

async function* framesOf(body: ReadableStream): AsyncGenerator<StreamFrame> {
  let text = "";
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice("data: ".length));
      if (data.length > 0) yield { id: field("id"), event: field("event"), data: data.join("\n") };
    }
  }
}
