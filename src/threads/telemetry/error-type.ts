// The kind of an error, in a word: never what it says, which may hold anything.
import { isMap } from "../../contracts/json.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";
import { OTHER_ERROR } from "./names.ts";

const WORD = /^[\w.:/@+-]{1,128}$/;

/** A word that others chose, such as a code: undefined for anything longer than a name, and for a secret. */
export function shownWord(text: unknown, secrets: Pick<KnownSecrets, "clean">): string | undefined {
  if (typeof text !== "string" || !WORD.test(text)) return undefined;
  return secrets.clean(text) === text ? text : undefined;
}

/** The code of what was thrown, otherwise the status of an HTTP answer, otherwise the name of the kind of error. */
export function errorTypeOf(thrown: unknown, secrets: Pick<KnownSecrets, "clean">): string {
  const { code, status, statusCode } = isMap(thrown) ? thrown : {};
  const name = thrown instanceof Error && thrown.name !== "Error" ? thrown.name : undefined;
  const numbers = [status, statusCode].map((number) => (typeof number === "number" ? String(number) : undefined));
  for (const each of [code, ...numbers, name]) {
    const word = shownWord(each, secrets);
    if (word !== undefined) return word;
  }
  return OTHER_ERROR;
}
