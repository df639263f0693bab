import { describe, expect, it } from "vitest";
import { leafHash, merkleProof, merkleRoot, rootFrom } from "./merkle.ts";

const leavesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => leafHash({ thread: `thread ${index}`, seq: index, hash: "hash" }));

describe("the tree of heads", () => {
  it("has a proof for each of its leaves, however many there are, and for no other", () => {
    for (let count = 1; count <= 33; count++) {
      const leaves = leavesOf(count);
      const root = merkleRoot(leaves);
      for (const [index, leaf] of leaves.entries()) {
        const proof = merkleProof(leaves, index);
        expect(proof.length).toBeLessThanOrEqual(Math.ceil(Math.log2(count)));
        expect(rootFrom(leaf, index, count, proof)).toBe(root);
        for (const other of [index - 1, index + 1, count]) expect(rootFrom(leaf, other, count, proof)).not.toBe(root);
        expect(rootFrom("another", index, count, proof)).not.toBe(root);
        expect(rootFrom(leaf, index, count, [...proof, leaf])).toBeUndefined();
        if (proof.length > 0) expect(rootFrom(leaf, index, count, proof.slice(1))).toBeUndefined();
      }
    }
  });

  it("has another root for every other list of leaves", () => {
    const leaves = leavesOf(5);
    const others = [[], leavesOf(4), leavesOf(6), leaves.toReversed(), leaves.with(2, "another"), [...leaves, "x"]];
    const roots = new Set([leaves, ...others].map(merkleRoot));
    expect(roots.size).toBe(others.length + 1);
  });

  it("does not take the hash of a node for that of a leaf", () => {
    const leaves = leavesOf(4);
    const nodes = [merkleRoot(leaves.slice(0, 2)), merkleRoot(leaves.slice(2))];
    // The same hash over other leaves: only the number of them, which is signed too, tells the two apart.
    expect(merkleRoot(nodes)).toBe(merkleRoot(leaves));
    expect(leafHash({ thread: "", seq: 0, hash: "" })).not.toBe(merkleRoot(["", ""]));
  });
});
