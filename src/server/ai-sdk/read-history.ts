// A page of a conversation, from its end: whole messages only, because half an answer has no beginning to be told from.
import { z } from "zod";
import type { UnknownMap } from "../../contracts/json.ts";
import type { ChatDesk, NumberedMessage } from "../chat/chat-desk.ts";
import { isOfUser, isShown } from "../chat/message-text.ts";
import { readAs } from "../chat/read-as.ts";
import { type HistoryMessage, historyOf } from "./history.ts";

const LIMIT = 200;

/** How many messages of the thread: an answer with calls is made of several. */
const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(LIMIT),
  before: z.coerce.number().int().min(0).optional(),
});

export type PageQuery = z.output<typeof pageQuery>;

/** Throws `Refused`. */
export function readPageQuery(query: UnknownMap): PageQuery {
  return readAs(pageQuery, query, "There is no such page");
}

export type HistoryPage = {
  /** Oldest first. */
  readonly messages: readonly HistoryMessage[];
  /** What the page before this one is asked for with; undefined when there is none. */
  readonly before?: number;
};

/** About so many messages of the thread, or as many as the first one of a chat is made of. */
export async function readHistory(
  desk: ChatDesk,
  threadId: string,
  { limit, before }: PageQuery,
): Promise<HistoryPage> {
  let read: readonly NumberedMessage[] = [];
  for await (const { messages, has_more } of desk.lastMessages(threadId, limit, before)) {
    read = [...messages.toReversed(), ...read];
    if (!has_more) break;
    const whole = wholeMessages(read);
    const from = whole[0]?.seq;
    if (from !== undefined) return { messages: historyOf(whole), before: from };
  }
  return { messages: historyOf(read) };
}

/** Without what may belong to a message of the chat that begins before them. */
function wholeMessages(messages: readonly NumberedMessage[]): readonly NumberedMessage[] {
  const first = messages.findIndex(({ message, run }, index) => {
    const before = messages[index - 1];
    return (isOfUser(message) && isShown(message)) || (before !== undefined && before.run !== run);
  });
  return first === -1 ? [] : messages.slice(first);
}
