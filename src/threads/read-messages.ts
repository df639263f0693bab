// The messages of a thread as they stand now, all of them or a page: a page costs a page, however long the thread is.
import type { Message } from "../contracts/conversation/message.ts";
import * as message from "../contracts/conversation/message.ts";
import { holdfastError } from "../contracts/error.ts";
import { checkNumber } from "./check-arguments.ts";
import type { Host } from "./host.ts";
import { isWholeNumber } from "./whole-number.ts";

/** A message of a thread, with its number. */
export type ThreadMessage = {
  readonly seq: number;
  readonly run: number;
  readonly step: number;
  readonly message: Message;
};

export type MessagesPage = {
  /** The number of the last one that was seen; nothing, or -1 in the order in which they were added, before the first. */
  readonly after?: number;
  /** All of them unless given. */
  readonly limit?: number;
  /** `desc`: the newest first. */
  readonly order?: "asc" | "desc";
};

/** How many are read at once where all are wanted. */
const PAGE = 1_000;

/** Superseded ones come in their current version. Throws `invalid_argument`. */
export async function readMessages(
  { stores: { threads } }: Host,
  threadId: string,
  { after, limit, order = "asc" }: MessagesPage = {},
): Promise<readonly ThreadMessage[]> {
  if (after !== undefined && !isWholeNumber(after, -1)) {
    throw holdfastError("invalid_argument", "after must be the number of a message.");
  }
  if (limit !== undefined) checkNumber("limit", limit);
  if (order !== "asc" && order !== "desc") throw holdfastError("invalid_argument", "order must be asc or desc.");
  const read = (last: number | undefined, size: number) =>
    order === "asc"
      ? threads.currentMessages(threadId, { after: last ?? -1, limit: size })
      : threads.lastMessages(threadId, { before: last ?? null, limit: size });
  const wanted = limit ?? Number.POSITIVE_INFINITY;
  const found: ThreadMessage[] = [];
  for (let last = after; found.length < wanted; ) {
    const size = Math.min(PAGE, wanted - found.length);
    const page = await read(last, size);
    for (const { envelope, ...place } of page)
      found.push({ ...place, message: message.normalize(JSON.parse(envelope)) });
    if (page.length < size) break;
    last = page.at(-1)?.seq ?? last;
  }
  return found;
}
