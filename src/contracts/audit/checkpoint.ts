// A checkpoint: a signed statement of where the chains of threads stood. Each one covers the heads that have changed since
// the one before and names that one, so that together they cover all there are, at the cost of what has changed.
import { z } from "zod";
import { sha256 } from "../canonical-json.ts";
import { readStatement } from "./audit-export.ts";
import { canonicalText } from "./canonical-text.ts";

/** The reason of a thread that is gone though nobody deleted it through the runtime. */
export const UNEXPLAINED = "unexplained";

const goneSchema = z.strictObject({
  thread: z.string(),
  /** Where its chain stood when it was last seen. */
  seq: z.int().min(-1),
  hash: z.string(),
  reason: z.string(),
  /** Null where nobody deleted it; otherwise with the signature of who did. */
  deleted_at: z.int().nullable(),
  signature: z.string().nullable(),
});

const checkpointSchema = z.strictObject({
  schema: z.literal("holdfast.audit-checkpoint"),
  version: z.literal(1),
  /** Counts from 1 without a gap. */
  number: z.int().min(1),
  /** The hash of the statement before; null for the first. */
  previous: z.string().nullable(),
  at: z.int(),
  /** Of the heads that have changed, in the order of their threads' ids. */
  root: z.string(),
  heads: z.int().min(0),
  /** The threads that were in an earlier checkpoint and are there no more; each is named once. */
  gone: z.array(goneSchema),
});

export type Gone = Readonly<z.infer<typeof goneSchema>>;
export type Checkpoint = Readonly<Omit<z.infer<typeof checkpointSchema>, "gone">> & { readonly gone: readonly Gone[] };

/** The text to sign. */
export function checkpointText(checkpoint: Omit<Checkpoint, "schema" | "version">): string {
  return canonicalText({ schema: "holdfast.audit-checkpoint", version: 1, ...checkpoint });
}

/** Undefined when the text is no checkpoint. */
export function readCheckpoint(statement: string): Checkpoint | undefined {
  return readStatement(checkpointSchema, statement);
}

/** What the next checkpoint names it by. */
export function statementHash(statement: string): string {
  return sha256(statement);
}
