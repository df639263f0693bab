// What was said last: the last message of a user and what came after it, read from the end of the thread.
import type { ChatDesk, NumberedMessage } from "./chat-desk.ts";
import { isOfUser, isShown } from "./message-text.ts";

export type SinceAsked = {
  readonly asked: NumberedMessage | undefined;
  /** The newest first. */
  readonly after: readonly NumberedMessage[];
};

/** Answers are short, mostly. */
const PAGE = 50;

/** `run`: only what belongs to this run or a later one is looked at. */
export async function sinceAsked(desk: ChatDesk, threadId: string, run = 0): Promise<SinceAsked> {
  const after: NumberedMessage[] = [];
  for await (const { messages } of desk.lastMessages(threadId, PAGE)) {
    for (const numbered of messages) {
      // What was added between two runs belongs to none.
      if (numbered.run > 0 && numbered.run < run) return { asked: undefined, after };
      if (isOfUser(numbered.message) && isShown(numbered.message)) return { asked: numbered, after };
      after.push(numbered);
    }
  }
  return { asked: undefined, after };
}
