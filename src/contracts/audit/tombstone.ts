// What stays of a thread that was deleted. It is signed, so that nobody who can only write to the database can make a thread
// disappear and say that it was deleted.
import { z } from "zod";
import { canonicalText } from "./canonical-text.ts";
import { count, last } from "./written-number.ts";

export const tombstoneSchema = z.strictObject({
  thread: z.string(),
  /** Where its chain stood when it was deleted. */
  seq: last,
  hash: z.string(),
  reason: z.string(),
  deleted_at: count,
  signature: z.string(),
});

export type Tombstone = Readonly<z.infer<typeof tombstoneSchema>>;

/** The text that is signed when a thread is deleted. */
export function tombstoneStatement(tombstone: Omit<Tombstone, "signature">): string {
  const { thread, seq, hash, reason, deleted_at } = tombstone;
  return canonicalText({ holdfast: "tombstone", thread, seq, hash, reason, deleted_at });
}
