// The calls of a thread: all of them, those of a run, or a page.

import type { StoredCall } from "../backend/thread-rows.ts";
import type { CallsPage } from "../backend/thread-store.ts";
import { checkNumber } from "./check-arguments.ts";
import type { Host } from "./host.ts";

/** Oldest first. Throws `invalid_argument`. */
export async function readCalls(
  { stores: { threads } }: Host,
  threadId: string,
  page: CallsPage = {},
): Promise<readonly StoredCall[]> {
  const { run, after, limit } = page;
  const numbers = { run, "after.run": after?.run, "after.number": after?.number, limit };
  for (const [argument, value] of Object.entries(numbers)) if (value !== undefined) checkNumber(argument, value);
  return await threads.calls(threadId, page);
}
