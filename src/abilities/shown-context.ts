// What was retrieved for a step, as a caller may see it: why something was there is told to whoever reaches the thread, and
// its text only to those who may read the memory that it is.
import { z } from "zod";
import type { Principal } from "../contracts/trust/principal.ts";
import type { ContextPiece } from "../threads/memory/context-view.ts";
import type { Runtime } from "../threads/runtime.ts";
import type { ThreadHandle } from "../threads/thread.ts";
import { plain } from "./plain.ts";

export const contextShape = z.looseObject({
  step: z.int(),
  items: z.array(z.looseObject({ source: z.string(), uri: z.string(), content: z.string().nullable() })),
});

export async function contextFor(
  { authority, threads }: Runtime,
  principal: Principal,
  thread: ThreadHandle,
  which: { readonly step?: number },
): Promise<z.input<typeof contextShape> | null> {
  const context = await thread.context(which);
  if (!context) return null;
  const { acting_user_id } = (await threads.subject(thread.id)).principal;
  const isUser = acting_user_id > 0 && acting_user_id === principal.acting_user_id;
  const mayReadOwn = isUser && (await authority.within(principal, "memory.read"));
  const mayReadAll = await authority.allows(principal, "memory.manage");
  const shown = (piece: ContextPiece): ContextPiece =>
    mayReadAll || (mayReadOwn && isOfUser(piece)) ? piece : { ...piece, content: null, conflict_key: null };
  const { items, dropped, conflicts } = context;
  const told = {
    ...context,
    items: items.map(shown),
    dropped: dropped.map(shown),
    conflicts: conflicts.map(({ rejected, ...conflict }) => ({ ...conflict, rejected: rejected.map(shown) })),
  };
  return plain(told);
}

/** What everybody in a place is shown was written by others, and is not for a user to read one by one. */
function isOfUser({ uri }: ContextPiece): boolean {
  return uri.startsWith("memory:user:") || uri.startsWith("memory:principal:");
}
