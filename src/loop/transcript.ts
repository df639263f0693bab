// Who may write a transcript, and who keeps it: the two ports a caller can give a conversation.
import type { Message } from "../contracts/conversation/message.ts";
import type { ConversationRequest } from "../contracts/conversation/request.ts";
import type { UnknownMap } from "../contracts/json.ts";

/** Keeps two runs off one transcript. */
export interface TranscriptLock {
  /** A token while nobody else holds the session, else null. The lock may be taken over after the seconds given. */
  acquire(sessionId: string, ttlSeconds: number): string | null | Promise<string | null>;
  release(sessionId: string, token: string): unknown;
}

/** Stores what a run came to. It is called once; what it throws changes nothing. */
export type TranscriptPersister = (
  messages: readonly Message[],
  request: ConversationRequest,
  result: UnknownMap,
) => unknown;

/** A lock that never refuses, for callers that have only one writer anyway. */
export const nullTranscriptLock: TranscriptLock = {
  acquire: (sessionId) => `unlocked:${sessionId}`,
  release: () => undefined,
};

/** Keeps nothing. */
export const nullTranscriptPersister: TranscriptPersister = () => undefined;
