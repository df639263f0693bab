// Whether an export is what was written: with the export and the public key, and nothing else.
import { z } from "zod";
import { quietly } from "../when-ready.ts";
import {
  type AuditExport,
  type AuditThread,
  auditExportSchema,
  digestsOf,
  type ExportedCheckpoint,
  type Manifest,
  readManifest,
} from "./audit-export.ts";
import { type Broken, check, Found } from "./broken.ts";
import { readCheckpoint } from "./checkpoint.ts";
import { type Checker, readPublicKey } from "./signer.ts";
import { verifyCheckpoints } from "./verify-checkpoints.ts";
import { verifyGone } from "./verify-gone.ts";
import { problemIn, verifyThread } from "./verify-thread.ts";

export type { Broken };

export type AuditVerdict =
  | {
      readonly ok: true;
      /** What was verified: that one thread is whole, or that nothing is missing from all of them. */
      readonly scope: "thread" | "installation";
      /** When it was exported, in microseconds since 1970. */
      readonly at: number;
      /** The number of the last checkpoint that is in it; null when there is none. */
      readonly last_checkpoint: number | null;
      readonly threads: number;
      readonly events: number;
      readonly checkpoints: number;
      /** How many messages and notes were erased; the chain holds without them. */
      readonly erased: number;
    }
  | { readonly ok: false; readonly broken: Broken };

type VerifyOptions = {
  /** Checkpoints that were kept elsewhere before the export was made: each of them must be in it as it was. */
  readonly checkpoints?: readonly { readonly statement: string; readonly signature: string }[];
  /** Told how many threads were looked at, before each of them and at the end. */
  readonly onProgress?: (done: number, of: number) => void;
};

/**
 * Looks at an export of `audit.export()` and names the first place that is not what was written: thread by thread, then
 * the checkpoints, then what is missing, then the manifest. `publicKey` is the text of `audit.publicKey`, or PEM. It
 * never throws: what cannot be read is a broken place too.
 */
export function verifyAudit(exported: unknown, publicKey: string, options: VerifyOptions = {}): AuditVerdict {
  try {
    return verify(exported, publicKey, options);
  } catch (thrown) {
    if (thrown instanceof Found) return { ok: false, broken: thrown.broken };
    return { ok: false, broken: manifestIs("what was given cannot be read") };
  }
}

function verify(given: unknown, publicKey: string, options: VerifyOptions): AuditVerdict {
  const { checkpoints: kept = [], onProgress } = options;
  // Whoever is told and fails is no reason to call a record broken.
  const tell = (done: number, of: number) => quietly(() => onProgress?.(done, of));
  const key = readPublicKey(String(publicKey));
  if (!key) throw new Found(manifestIs("the public key is none of Ed25519"));
  const { data: exported, error } = auditExportSchema.safeParse(given);
  if (!exported) throw new Found(manifestIs(`the export has not the shape of one: ${problemIn(error)}`));
  const of = exported.threads.length;
  const verified = exported.threads.map((thread, done) => {
    tell(done, of);
    return verifyThread(thread, key);
  });
  tell(of, of);
  const threads = verified.map(({ thread }) => thread);
  const byId = new Map(threads.map((thread) => [thread.id, thread]));
  const manifest = verifySigned(exported.manifest, key);
  const { checkpoints, heads, gone } = verifyCheckpoints(exported.checkpoints, byId, manifest.thread, key);
  verifyKept(kept, checkpoints);
  const { tombstones } = exported;
  if (manifest.thread === null) verifyGone({ heads, gone, tombstones }, byId, key);
  verifyManifest(manifest, { threads, checkpoints, tombstones });
  return {
    ok: true,
    scope: manifest.thread === null ? "installation" : "thread",
    at: manifest.at,
    last_checkpoint: checkpoints.length === 0 ? null : checkpoints.length,
    threads: threads.length,
    events: threads.reduce((sum, { events }) => sum + events.length, 0),
    checkpoints: checkpoints.length,
    erased: verified.reduce((sum, { erased }) => sum + erased, 0),
  };
}

function verifySigned({ statement, signature }: AuditExport["manifest"], key: Checker): Manifest {
  check(key.isSigned(statement, signature), () => manifestIs("it was not signed with this key"));
  const manifest = readManifest(statement);
  if (!manifest) throw new Found(manifestIs("what was signed is no manifest"));
  check(manifest.key === key.fingerprint, () => manifestIs("it names another key"));
  return manifest;
}

const keptSchema = z.array(z.object({ statement: z.string(), signature: z.string() }));

/** What somebody has kept is there, letter by letter: a history that was begun anew has others in their places. */
function verifyKept(given: unknown, checkpoints: readonly ExportedCheckpoint[]): void {
  const { data: kept, error } = keptSchema.safeParse(given);
  if (!kept) throw new Found(manifestIs(`the checkpoints that were kept cannot be read: ${problemIn(error)}`));
  const known = new Map(checkpoints.map(({ statement, signature }) => [statement, signature]));
  for (const { statement, signature } of kept) {
    check(known.get(statement) === signature, () => {
      const number = readCheckpoint(statement)?.number;
      const detail = "a checkpoint that was kept elsewhere is not there as it was";
      return { place: "checkpoint", ...(number !== undefined && { seq: number }), detail };
    });
  }
}

/** Everything that is there was signed as it is, and everything that was signed is there. */
function verifyManifest(
  signed: Manifest,
  exported: {
    readonly threads: readonly AuditThread[];
    readonly checkpoints: readonly ExportedCheckpoint[];
    readonly tombstones: AuditExport["tombstones"];
  },
): void {
  const { threads, checkpoints, tombstones } = digestsOf(exported);
  for (const [index, { id, digest }] of signed.threads.entries()) {
    const found = threads[index];
    check(found?.id === id, () => ({ ...manifestIs("the thread is not where it was signed to be"), thread: id }));
    check(found.digest === digest, () => ({ ...manifestIs("the thread is not as it was signed"), thread: id }));
  }
  check(threads.length === signed.threads.length, () => manifestIs("there are more threads than were signed"));
  check(checkpoints === signed.checkpoints, () => manifestIs("the checkpoints are not those that were signed"));
  check(tombstones === signed.tombstones, () => manifestIs("the tombstones are not those that were signed"));
}

function manifestIs(detail: string): Broken {
  return { place: "manifest", detail };
}
