// A text while parameters are filled from it: what one of them has taken, no other one takes.
import type { Json } from "../../contracts/json.ts";
import type { Reading, Token } from "./tokens.ts";

/** A value with the tokens that it was read from. */
export type Found = { readonly value: Json; readonly from: readonly Token[] };

export type Unread = {
  readonly reading: Reading;
  /** The token at a place, unless it is taken. */
  at(index: number): Token | undefined;
  take(found: Found): void;
  /** The words from one token to another as they stand in the text. */
  words(tokens: readonly Token[]): string;
};

export function unread(reading: Reading): Unread {
  const taken = new Set<Token>();
  return {
    reading,
    at(index) {
      const token = reading.tokens[index];
      return token && !taken.has(token) ? token : undefined;
    },
    take({ from }) {
      for (const token of from) taken.add(token);
    },
    words(tokens) {
      const [first] = tokens;
      const last = tokens.at(-1);
      if (!first || !last) return "";
      return tokens.length === 1 ? first.text : reading.text.slice(first.start, last.end);
    },
  };
}
