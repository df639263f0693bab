import { describe, expect, it } from "vitest";
import type { AuditThread } from "./audit-export.ts";
import { type Broken, Found } from "./broken.ts";
import { type Gone, UNEXPLAINED } from "./checkpoint.ts";
import { createSigner, readPublicKey } from "./signer.ts";
import { type Tombstone, tombstoneStatement } from "./tombstone.ts";
import { verifyGone } from "./verify-gone.ts";

const { sign, publicKey } = createSigner(new Uint8Array(32).fill(1));
const stranger = createSigner(new Uint8Array(32).fill(2));

function tombstone(parts: Partial<Tombstone> = {}, by = sign): Tombstone {
  const told = { thread: "t", seq: 3, hash: "hash 3", reason: "deleted", deleted_at: 1, ...parts };
  return { ...told, signature: by(tombstoneStatement(told)) };
}

type Given = {
  readonly tombstones?: readonly Tombstone[];
  readonly gone?: readonly Gone[];
  readonly present?: boolean;
};

/** What is wrong, of a thread that a checkpoint has last seen at its event 3. */
function foundIn({ tombstones = [], gone = [], present = false }: Given): Broken | undefined {
  const key = readPublicKey(publicKey);
  if (!key) throw new Error("The key cannot be read.");
  const heads = new Map([["t", { thread: "t", seq: 3, hash: "hash 3" }]]);
  try {
    verifyGone({ heads, tombstones, gone }, new Map(present ? [["t", {} as AuditThread]] : []), key);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Found) return thrown.broken;
    throw thrown;
  }
}

const missing = { thread: "t", place: "missing_thread" };

describe("a thread that checkpoints know", () => {
  it("is there, or was deleted where it was last seen or later, by who has the key", () => {
    expect(foundIn({ present: true })).toBeUndefined();
    expect(foundIn({ tombstones: [tombstone()] })).toBeUndefined();
    expect(foundIn({ gone: [tombstone()] })).toBeUndefined();
    expect(foundIn({ tombstones: [tombstone({ seq: 4, hash: "hash 4" })] })).toBeUndefined();
  });

  it("is missing when nobody tells of it, or nobody could when it was first missed", () => {
    expect(foundIn({})).toMatchObject(missing);
    expect(foundIn({ tombstones: [tombstone({ thread: "other" })] })).toMatchObject(missing);
    const unexplained = { thread: "t", seq: 3, hash: "hash 3", reason: UNEXPLAINED, deleted_at: null, signature: null };
    expect(foundIn({ gone: [unexplained], tombstones: [tombstone()] })).toMatchObject(missing);
  });

  it("is missing when what is told of it was not signed, or was signed for something else", () => {
    expect(foundIn({ tombstones: [tombstone({}, stranger.sign)] })).toMatchObject(missing);
    for (const part of [
      { thread: "t2" },
      { seq: 4 },
      { hash: "x" },
      { reason: "x" },
      { deleted_at: 2 },
      { signature: "" },
    ]) {
      const changed = { ...tombstone(), ...part };
      expect(foundIn({ tombstones: [changed] }), JSON.stringify(part)).toMatchObject({ place: "missing_thread" });
      expect(foundIn({ gone: [changed] }), JSON.stringify(part)).toMatchObject({ place: "missing_thread" });
    }
    expect(foundIn({ gone: [{ ...tombstone(), signature: null }] })).toMatchObject(missing);
  });

  it("is missing when it was deleted before it was last seen, or with another history", () => {
    expect(foundIn({ tombstones: [tombstone({ seq: 2, hash: "hash 2" })] })).toMatchObject(missing);
    expect(foundIn({ tombstones: [tombstone({ hash: "another" })] })).toMatchObject(missing);
  });

  it("is not there again once it was deleted", () => {
    expect(foundIn({ tombstones: [tombstone()], present: true })).toMatchObject(missing);
    expect(foundIn({ gone: [tombstone()], present: true })).toMatchObject(missing);
  });
});
