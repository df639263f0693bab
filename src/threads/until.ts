// Waits until something is true of a thread, looking whenever the thread may have got on.
import { holdfastError } from "../contracts/error.ts";
import type { Progress } from "./progress.ts";

/** The first answer of `look` that is not undefined. Throws `aborted` when the signal fires first; the thread goes on. */
export async function until<Found>(
  progress: Progress,
  threadId: string,
  signal: AbortSignal | undefined,
  look: () => Promise<Found | undefined>,
): Promise<Found> {
  let isNews = true;
  let wake: (() => void) | undefined;
  const news = () => {
    isNews = true;
    wake?.();
  };
  // Most commits of a run bring nothing to whoever waits for its end: looking at each would slow the run.
  const unwatch = progress.watch(threadId, (hasCome) => hasCome && news());
  signal?.addEventListener("abort", news);
  try {
    for (;;) {
      if (signal?.aborted) throw holdfastError("aborted", "The wait was given up; the thread goes on.", signal.reason);
      isNews = false;
      const found = await look();
      if (found !== undefined) return found;
      if (!isNews) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    unwatch();
    signal?.removeEventListener("abort", news);
  }
}
