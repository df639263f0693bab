// Keeps two writers off one session, if both ask for it.

export interface SessionLock {
  /** A token while nobody else holds the session, else null. Others may take the lock over after the seconds given. */
  acquireLock(sessionId: string, ttlSeconds?: number): Promise<string | null>;
  /** True when this token held the lock until now. */
  releaseLock(sessionId: string, token: string): Promise<boolean>;
}

/** A lock that nobody ever gets, for a host that has none to give. */
export const nullSessionLock: SessionLock = {
  acquireLock: async () => null,
  releaseLock: async () => false,
};
