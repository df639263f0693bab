// What channels remember: the session that goes on in an external conversation, and which messages have come in already.
import type { ExternalConversation } from "../contracts/channels/session-map.ts";

export interface ChannelStore {
  session(conversation: ExternalConversation): Promise<string | undefined>;
  setSession(conversation: ExternalConversation, sessionId: string): Promise<void>;
  deleteSession(conversation: ExternalConversation): Promise<void>;

  /** True while a message counts as known. A blank provider or id is never known. */
  seen(provider: string, messageId: string): Promise<boolean>;
  /** From now on it is known for so many seconds; nothing happens for less than one. */
  markSeen(provider: string, messageId: string, ttlSeconds: number): Promise<void>;
  forget(provider: string, messageId: string): Promise<void>;
  /**
   * True for the one who may handle a message: whoever asks again within the seconds, at the same time or later, is told
   * false. A message without an id is everybody's, as nobody could know it again.
   */
  claim(provider: string, messageId: string, ttlSeconds: number): Promise<boolean>;
}
