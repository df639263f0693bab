// Ids that follow from where something comes from, so that a commit that is made again adds the same rows.
import { createHash } from "node:crypto";

/** A UUID of version 8 made from the parts. */
export function derivedId(...parts: readonly (string | number)[]): string {
  const digest = createHash("sha256").update(JSON.stringify(parts)).digest();
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x80;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  return digest.toString("hex", 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
