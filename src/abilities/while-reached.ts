// A stream that ends when whoever follows it no longer may: who may read a thread can change while it is read.

/** How often it is looked whether the reader still may. */
const LOOK_MS = 30_000;

type Following = {
  /** What throws tells nothing: the next look will. */
  readonly isReached: () => Promise<boolean>;
  readonly signal?: AbortSignal | undefined;
  readonly lookMs?: number | undefined;
};

/** The events of a stream, which ends with its signal. */
export async function* whileReached<Event>(
  stream: (signal: AbortSignal) => AsyncIterable<Event>,
  { isReached, signal, lookMs = LOOK_MS }: Following,
): AsyncGenerator<Event> {
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  const look = async () => {
    if (!(await isReached())) leave();
  };
  const looking = setInterval(() => void look().catch(() => undefined), lookMs).unref();
  if (signal?.aborted) leave();
  signal?.addEventListener("abort", leave, { once: true });
  try {
    yield* stream(leaving.signal);
  } finally {
    clearInterval(looking);
    signal?.removeEventListener("abort", leave);
  }
}
