// Which memories a source speaks for: those of its layer, below its folder if it names one.
import type { Memory, Source } from "./memory.ts";

export function covers({ from, layer, given: { folder } }: Source, of: string, filename: string): boolean {
  if (from !== "memories" || layer !== of) return false;
  return folder === undefined || filename.startsWith(`${folder}/`);
}

/** True for what a source has put out of reach with `never`, whoever else speaks for it. */
export function isOutOfReach({ sources }: Memory, layer: string, filename: string): boolean {
  return sources.some((source) => source.retrieval_policy === "never" && covers(source, layer, filename));
}

/** The layers that are an agent's or a user's own; the others belong to everybody in a place. */
const OWN_LAYERS: ReadonlySet<string> = new Set(["agent", "user", "principal"]);

/**
 * Whether agents may write it. What belongs to everybody they write only where a source says `editable: true`; and never
 * what a source protects, holds back, or lets only somebody with a capability edit.
 */
export function isWritable({ sources }: Memory, layer: string, filename: string): boolean {
  const speaking = sources.filter((source) => covers(source, layer, filename));
  if (speaking.some((source) => source.protected || source.editable !== true || source.retrieval_policy === "never")) {
    return false;
  }
  return OWN_LAYERS.has(layer) || speaking.some(({ given }) => given.editable === true);
}
