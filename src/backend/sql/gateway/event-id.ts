// Ids of events as columns hold them: plugins choose them, and an index holds no text of any length.
import { createHash } from "node:crypto";
import { storableText } from "../storable-text.ts";

const LONGEST = 200;

/** The id itself, or the hash of a long one. */
export function storableEventId(id: string | null): string | null {
  if (id === null || id.length <= LONGEST) return id === null ? null : storableText(id);
  return `sha256:${createHash("sha256").update(id).digest("hex")}`;
}
