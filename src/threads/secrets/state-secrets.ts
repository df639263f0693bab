// The secrets that are known where code has the state of a thread: for whoever has to tell what went wrong there.
import type { ThreadState } from "../state/thread-state.ts";
import { createKnownSecrets, type KnownSecrets } from "./known-secrets.ts";

const known = new WeakMap<ThreadState, () => KnownSecrets>();

/** They change from call to call, while the state may be the same. */
export function keepSecrets(state: ThreadState, secrets: () => KnownSecrets): void {
  known.set(state, secrets);
}

export function secretsOf(state: ThreadState): KnownSecrets {
  return known.get(state)?.() ?? createKnownSecrets();
}
