// How erased content is told from content that is there: the row stays with its hash, what it said and the salt are gone,
// and a deletion that says so stands in the chain for good. It is signed, so that nobody who can only write to the database
// can make content disappear and say that it was erased.
import * as message from "../conversation/message.ts";
import { isMap } from "../json.ts";
import { canonicalText } from "./canonical-text.ts";

/** How the text of every deletion begins whose message was erased, and of no other one. */
export const ERASURE_START = '{"erased":true';

/** The salt of what was erased. */
export const NO_SALT = "";

/** What stands in the place of an envelope that was erased: a message that says nothing, for readers of old rows. */
export const ERASED_ENVELOPE: string = JSON.stringify(
  message.normalize({ role: "system", content: "", metadata: { erased: true } }),
);

/** A message that may be erased: one content at one place of one thread. */
type Erasable = { readonly thread: string; readonly seq: number; readonly hash: string };

/** The content of a deletion whose message is erased: it is all that is ever told of it. */
export type Erasure = { readonly erased: true; readonly signature: string };

/** `sign`: with the key of the installation. */
export function erasureOf(erased: Erasable, sign: (text: string) => string): Erasure {
  return { erased: true, signature: sign(erasureStatement(erased)) };
}

/** The text that is signed when a message is erased. */
export function erasureStatement({ thread, seq, hash }: Erasable): string {
  return canonicalText({ holdfast: "erasure", thread, seq, hash });
}

/** The signature of a deletion whose message was erased; undefined for what is no such deletion. */
export function erasureSignature({ kind, envelope }: { kind: string; envelope: string | null }): string | undefined {
  if (kind !== "deletion" || !envelope?.startsWith(ERASURE_START)) return undefined;
  try {
    const content: unknown = JSON.parse(envelope);
    return isMap(content) && typeof content.signature === "string" ? content.signature : undefined;
  } catch {
    return undefined;
  }
}
