// Notices a server that was asked and says nothing. TCP alone would wait: it knows of a peer that is gone only late, and
// never of one that takes every byte and answers none.

export interface Silence {
  asked(): void;
  answered(): void;
  stop(): void;
}

/** How often it is looked in the time allowed: it is noticed a third later at most. */
const LOOKS = 6;
/** What a timer can hold; beyond it there is no deadline. */
const LONGEST_INTERVAL = 2 ** 31 - 1;

/**
 * Calls back once when not a byte has come for this long since the question. One coarse timer a connection, so that a
 * question costs nothing. It counts looks rather than time: a process that was suspended has not listened either, and
 * what came meanwhile is only read after the next look.
 */
export function watchForSilence(bytesRead: () => number, milliseconds: number, onSilent: () => void): Silence {
  let isWaiting = false;
  let vainLooks = 0;
  let bytesHeard = 0;
  const timer = setInterval(look, Math.min(LONGEST_INTERVAL, milliseconds / LOOKS));
  timer.unref();

  function look(): void {
    if (!isWaiting) return;
    const bytes = bytesRead();
    vainLooks = bytes === bytesHeard ? vainLooks + 1 : 0;
    bytesHeard = bytes;
    // The first look may come right after the question.
    if (vainLooks <= LOOKS) return;
    clearInterval(timer);
    onSilent();
  }

  return {
    asked() {
      isWaiting = true;
      vainLooks = 0;
    },
    answered() {
      isWaiting = false;
    },
    stop: () => clearInterval(timer),
  };
}
