// What the provider on loopback is told to answer, and how an answer falls into pieces.
import type { JsonMap } from "../src/contracts/json.ts";

/** What one request is answered with. */
export type Reply = {
  readonly reasoning?: string;
  readonly text?: string;
  /** `input` is sent as it is when it is a text, JSON or not. */
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly input?: JsonMap | string }[];
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number };
  /** In the provider's own words; `stop`, or what stands for calls, unless given. */
  readonly finish?: string;
  readonly fault?: Fault;
};

/** What goes wrong, and after how many bytes or events of the answer; at once unless given. */
export type Fault =
  /** An answer that is none. */
  | { readonly status: number; readonly message?: string; readonly headers?: Readonly<Record<string, string>> }
  /** The connection is gone: before the first header, or in the middle. */
  | { readonly hangsUp: true }
  | { readonly cutAfterBytes: number }
  /** The stream ends in good order, but too early, as behind a proxy that gives up. */
  | { readonly endsAfterBytes: number }
  | { readonly malformedAfter: number }
  | { readonly errorAfter: number; readonly message?: string; readonly type?: string }
  /** Nothing comes any more, and the connection stays. */
  | { readonly stallsAfter: number }
  /** So many signs of life, before the answer goes on. */
  | { readonly pingsAfter: number; readonly pings: number };

/** Pieces that make up the text again when they are joined. */
export function inWords(text = ""): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

/** The arguments of a call in two pieces, neither of which is JSON by itself. */
export function inHalves(input: JsonMap | string = {}): readonly string[] {
  const written = typeof input === "string" ? input : JSON.stringify(input);
  const half = Math.ceil(written.length / 2);
  return [written.slice(0, half), written.slice(half)].filter((piece) => piece !== "");
}
