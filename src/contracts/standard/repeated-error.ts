// What makes two errors of tools the same error, although each names other files, values and times.
import { sha256 } from "../canonical-json.ts";

// An apostrophe within a word is no quote. No pattern here can be matched in two ways: errors may be long.
const QUOTED = /"[^"]*"|`[^`]*`|(?<![\p{L}\p{N}])'[^']*'(?![\p{L}\p{N}])/gu;

/**
 * Equal for errors that differ only in what stands in quotes, in paths and addresses, in digits and in space. With a salt
 * it tells nobody what the error was.
 */
export function errorSignature(text: string, salt = ""): string {
  const words = text.replaceAll(QUOTED, '""').split(/\s+/);
  const kept = words.map((word) => (/[/\\]/.test(word) ? "/" : word.replaceAll(/\p{N}+/gu, "0")));
  // A hash, because it is kept in a state that must stay small.
  return sha256(salt + kept.join(" ").trim());
}
