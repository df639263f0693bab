// What is handed to a stranger: chains with their content as far as it was not erased, the signed checkpoints over their
// heads, and a signed manifest over all of it. Nothing stands in it that is not covered, and nothing that is sealed.
import { z } from "zod";
import { sha256OfPieces } from "../canonical-json.ts";
import { isMap } from "../json.ts";
import { canonicalText } from "./canonical-text.ts";
import { type Tombstone, tombstoneSchema } from "./tombstone.ts";
import { count, last } from "./written-number.ts";

const text = z.string();

export const auditEventSchema = z.strictObject({
  seq: count,
  run: count,
  step: count,
  /** JSON of the machine's records, as it was stored. */
  records: text,
  /** JSON of what observers were told; null when there was nothing, or when it was erased. */
  notes: text.nullable(),
  salt: text.nullable(),
  notes_hash: text.nullable(),
  messages_from: count,
  messages_to: count,
  tail_from: count,
  summary_seq: count.nullable(),
  settled: z.boolean(),
  hash: text,
});

export const auditMessageSchema = z.strictObject({
  seq: count,
  kind: text,
  supersedes: count.nullable(),
  depth: count,
  parent_seq: count.nullable(),
  hash: text,
  /** Null together with the envelope, once that was erased. */
  salt: text.nullable(),
  /** JSON of the message, as it was stored. */
  envelope: text.nullable(),
});

/** A thread without what happened in it. Beside its id only the manifest covers this: it is as it stood at the export. */
export const auditThreadSchema = z.strictObject({
  id: text,
  agent: text,
  parent: text.nullable(),
  /** Microseconds since 1970, as all times here. */
  created_at: count,
  head: z.strictObject({ seq: last, hash: text }),
  events: z.array(z.unknown()),
  messages: z.array(z.unknown()),
});

export const signedSchema = z.strictObject({
  /** The very text that is signed. */
  statement: text,
  signature: text,
});

/**
 * `proof` is null where all heads of the checkpoint are there. Of one thread there is its own head, or, where the checkpoint
 * does not have it, those that stand beside the place where it would be.
 */
const headSchema = z.strictObject({
  index: count,
  thread: text,
  seq: last,
  hash: text,
  proof: z.array(text).nullable(),
});

export const exportedCheckpointSchema = z.strictObject({ ...signedSchema.shape, heads: z.array(headSchema) });

export const auditExportSchema = z.strictObject({
  schema: z.literal("holdfast.audit-export"),
  version: z.literal(1),
  threads: z.array(z.unknown()),
  checkpoints: z.array(z.unknown()),
  tombstones: z.array(tombstoneSchema),
  manifest: signedSchema,
});

export type AuditEvent = Readonly<z.infer<typeof auditEventSchema>>;
export type AuditMessage = Readonly<z.infer<typeof auditMessageSchema>>;
export type AuditThread = Readonly<Omit<z.infer<typeof auditThreadSchema>, "events" | "messages">> & {
  readonly events: readonly AuditEvent[];
  readonly messages: readonly AuditMessage[];
};
export type ExportedCheckpoint = Readonly<z.infer<typeof exportedCheckpointSchema>>;

/** One thread, or all that an installation has. */
export type AuditExport = {
  readonly schema: "holdfast.audit-export";
  readonly version: 1;
  readonly threads: readonly AuditThread[];
  readonly checkpoints: readonly ExportedCheckpoint[];
  /** The threads that were deleted. */
  readonly tombstones: readonly Tombstone[];
  /** Covers everything above. */
  readonly manifest: Readonly<z.infer<typeof signedSchema>>;
};

const manifestSchema = z.strictObject({
  schema: z.literal("holdfast.audit-manifest"),
  version: z.literal(1),
  at: count,
  /** The fingerprint of the key that it is signed with. */
  key: text,
  /** The thread that was asked for; null when it was all of them. */
  thread: text.nullable(),
  threads: z.array(z.strictObject({ id: text, digest: text })),
  checkpoints: text,
  tombstones: text,
});

export type Manifest = Readonly<z.infer<typeof manifestSchema>>;

type Covered = Pick<AuditExport, "threads" | "checkpoints" | "tombstones">;

/** The text to sign. */
export function manifestText(exported: Covered, about: Pick<Manifest, "at" | "key" | "thread">): string {
  return canonicalText({ schema: "holdfast.audit-manifest", version: 1, ...about, ...digestsOf(exported) });
}

/** Undefined when the text is no manifest. */
export function readManifest(statement: string): Manifest | undefined {
  return readStatement(manifestSchema, statement);
}

/** Reads what was signed; undefined when it is something else. */
export function readStatement<Schema extends z.ZodType>(
  schema: Schema,
  statement: string,
): z.infer<Schema> | undefined {
  try {
    const value: unknown = JSON.parse(statement);
    return isMap(value) ? schema.safeParse(value).data : undefined;
  } catch {
    return undefined;
  }
}

export function digestsOf({ threads, checkpoints, tombstones }: Covered) {
  return {
    threads: threads.map((thread) => ({ id: thread.id, digest: digestOfThread(thread) })),
    checkpoints: digestOf(checkpoints),
    tombstones: digestOf(tombstones),
  };
}

function digestOfThread({ events, messages, ...own }: AuditThread): string {
  const counts = { ...own, events: events.length, messages: messages.length };
  return digestOf([counts, ...events, ...messages]);
}

/** Item by item: the text of a whole thread might be too long. No canonical JSON holds a line break. */
function digestOf(items: readonly unknown[]): string {
  return sha256OfPieces(pieces(items));
}

function* pieces(items: readonly unknown[]): Iterable<string> {
  for (const item of items) yield `${canonicalText(item)}\n`;
}
