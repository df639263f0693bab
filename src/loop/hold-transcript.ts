// Holds the transcript's lock while a conversation runs.
import { wholeNumber } from "../contracts/coerce.ts";
import { isThenable } from "../contracts/when-ready.ts";
import { attempt, attemptLast } from "./attempt.ts";
import type { RunOptions } from "./options.ts";
import type { TranscriptLock } from "./transcript.ts";

const DEFAULT_SECONDS = 300;

/** The lock that was got, or how it was not. Without a lock or a session there is nothing to hold. */
export type Held =
  | { readonly kind: "held"; release(): Promise<void> }
  | { readonly kind: "contended" }
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly threw: unknown };

/** Tries to get the lock. When the run is stopped meanwhile, a token that comes later is given back. */
export async function holdTranscript(sessionId: string, options: RunOptions): Promise<Held> {
  const { transcriptLock, signal } = options;
  if (signal?.aborted) return { kind: "stopped" };
  if (!transcriptLock || sessionId === "") return { kind: "held", release: async () => undefined };
  const seconds = wholeNumber(options.transcriptLockTtl, 1) ?? DEFAULT_SECONDS;
  let acquiring: unknown;
  const acquired = await attempt(() => {
    const answer = transcriptLock.acquire(sessionId, seconds);
    // Made a promise once: a lazy one would ask for the lock again each time it is listened to.
    acquiring = isThenable(answer) ? Promise.resolve(answer) : answer;
    return acquiring;
  }, signal);
  if (!acquired) {
    giveBackLater(acquiring, (token) => release(transcriptLock, sessionId, token, signal));
    return { kind: "stopped" };
  }
  if ("threw" in acquired) return { kind: "failed", threw: acquired.threw };
  const { returned: token } = acquired;
  if (!isToken(token)) return { kind: "contended" };
  return { kind: "held", release: () => release(transcriptLock, sessionId, token, signal) };
}

function giveBackLater(acquiring: unknown, giveBack: (token: string) => Promise<void>): void {
  Promise.resolve(acquiring).then(
    (token) => (isToken(token) ? giveBack(token) : undefined),
    () => undefined,
  );
}

function isToken(token: unknown): token is string {
  return typeof token === "string" && token !== "";
}

function release(lock: TranscriptLock, sessionId: string, token: string, signal: AbortSignal | undefined) {
  return attemptLast(() => lock.release(sessionId, token), signal);
}
