// What applies to plugins whose configuration says nothing else.

/** The first attempt and its retries together. */
export const DEFAULT_MAX_ATTEMPTS = 4;

export const DEFAULT_BACKOFF_BASE_MS = 30_000;

const timeouts: Readonly<Record<string, number>> = { poll: 60_000, handle: 120_000, health: 10_000, init: 30_000 };

const CUSTOM_COMMAND_TIMEOUT_MS = 60_000;

export function defaultTimeoutMs(command: string): number {
  return (Object.hasOwn(timeouts, command) ? timeouts[command] : undefined) ?? CUSTOM_COMMAND_TIMEOUT_MS;
}
