// A tree of hashes: one root stands for any number of thread heads, and a short proof shows that a head is among them.
// Leaves and nodes are hashed under different names, so that neither can be passed off as the other.
import { sha256 } from "../canonical-json.ts";
import { orderedText } from "./canonical-text.ts";

/** Where the chain of a thread stood: its last event, -1 before the first. */
export type Head = { readonly thread: string; readonly seq: number; readonly hash: string };

export function leafHash({ thread, seq, hash }: Head): string {
  return sha256(orderedText({ hash, holdfast: "leaf", seq, thread }));
}

function nodeHash(left: string, right: string): string {
  return sha256(orderedText({ holdfast: "node", left, right }));
}

export function merkleRoot(leaves: readonly string[]): string {
  let level = leaves;
  while (level.length > 1) level = parents(level);
  return level[0] ?? sha256(orderedText({ holdfast: "no leaves" }));
}

/** The hashes beside the way from a leaf to the root, lowest first. */
export function merkleProof(leaves: readonly string[], index: number): readonly string[] {
  const proof: string[] = [];
  let level = leaves;
  for (let place = index; level.length > 1; place >>= 1) {
    const beside = level[place ^ 1];
    if (beside !== undefined) proof.push(beside);
    level = parents(level);
  }
  return proof;
}

/** The root that a proof leads to; undefined when it does not fit a tree of so many leaves. */
export function rootFrom(leaf: string, index: number, count: number, proof: readonly string[]): string | undefined {
  if (index < 0 || index >= count) return undefined;
  let hash = leaf;
  let used = 0;
  for (let place = index, width = count; width > 1; place = Math.floor(place / 2), width = Math.ceil(width / 2)) {
    // The last one of an odd number has nothing beside it, and goes up as it is.
    if (place % 2 === 0 && place === width - 1) continue;
    const beside = proof[used++];
    if (beside === undefined) return undefined;
    hash = place % 2 === 0 ? nodeHash(hash, beside) : nodeHash(beside, hash);
  }
  return used === proof.length ? hash : undefined;
}

function parents(level: readonly string[]): readonly string[] {
  const above: string[] = [];
  for (let index = 0; index < level.length; index += 2) {
    const left = level[index] ?? "";
    const right = level[index + 1];
    above.push(right === undefined ? left : nodeHash(left, right));
  }
  return above;
}
