// The secrets that are known while code runs, and texts without them: what comes of a call may quote what it was given.
import type { Json } from "../../contracts/json.ts";
import { REDACTED } from "../../contracts/tools/sensitive-keys.ts";
import { findSecrets, type SecretMarks } from "./secret-marks.ts";

export interface KnownSecrets {
  readonly isEmpty: boolean;
  add(secret: string): void;
  /** Adds what stands in the value where secrets do. True when there was such a place. */
  addFrom(value: Json, marks?: SecretMarks): boolean;
  /** Adds what stands under a name that gives it away, such as that of a header. */
  addNamed(name: string, value: string): void;
  /** What a model is told anyway is no secret from now on. */
  reveal(text: string): void;
  has(text: string): boolean;
  /** The text with every secret in it blanked out, however it is written there. */
  clean(text: string): string;
  /** For a cache: another number once there is another secret. */
  readonly version: number;
  /** All of them as they are looked for, those that are known around it included. */
  forms(): readonly string[];
}

/** Shorter ones would blank out words that merely look alike. */
const SHORTEST = 6;

/** Numbers that are shorter are counts more often than secrets. */
const SHORTEST_NUMBER = 8;

/** Of those that are learnt on the way; a run that goes on for ever forgets the oldest. */
const MOST_FORMS = 4_000;

/** `wider`: what is known around it. With `tells` it hears of what is learnt here, unless that could be a word of anybody's. */
export function createKnownSecrets(wider?: KnownSecrets, { tells = false } = {}): KnownSecrets {
  return new Known(wider, tells);
}

/** There is one for every call, and most never learn anything. */
class Known implements KnownSecrets {
  readonly #wider: KnownSecrets | undefined;
  readonly #tells: boolean;
  #own: Set<string> | undefined;
  #revealed: Set<string> | undefined;
  #version = 0;
  #longestFirst: { readonly version: number; readonly forms: readonly string[] } | undefined;

  constructor(wider: KnownSecrets | undefined, tells: boolean) {
    this.#wider = wider;
    this.#tells = tells;
  }

  get isEmpty(): boolean {
    return (this.#own?.size ?? 0) === 0 && (this.#wider?.isEmpty ?? true);
  }

  get version(): number {
    return this.#version + (this.#wider?.version ?? 0);
  }

  add(secret: string): void {
    if (secret.length < SHORTEST || secret === REDACTED || this.#revealed?.has(secret)) return;
    if (this.#tells && isTelling(secret)) this.#wider?.add(secret);
    this.#own ??= new Set();
    for (const form of formsOf(secret)) {
      if (this.#own.has(form)) continue;
      this.#own.add(form);
      this.#version++;
    }
    while (this.#own.size > MOST_FORMS) this.#own.delete(this.#own.values().next().value ?? "");
  }

  addNamed(name: string, value: string): void {
    this.add(value);
    // A cookie is a list of them.
    if (!/cookie/i.test(name)) return;
    for (const pair of value.split(";")) {
      const at = pair.indexOf("=");
      if (at >= 0) this.add(pair.slice(at + 1).trim());
    }
  }

  addFrom(value: Json, marks?: SecretMarks): boolean {
    return findSecrets(value, marks, (secret, key) => {
      if (typeof secret === "string") this.addNamed(key, secret);
      else if (String(secret).length >= SHORTEST_NUMBER) this.add(String(secret));
    });
  }

  reveal(text: string): void {
    this.#revealed ??= new Set();
    if (this.#revealed.has(text)) return;
    this.#revealed.add(text);
    for (const form of formsOf(text)) if (this.#own?.delete(form)) this.#version++;
  }

  has(text: string): boolean {
    return (this.#own?.has(text) ?? false) || (this.#wider?.has(text) ?? false);
  }

  forms(): readonly string[] {
    return [...(this.#own ?? []), ...(this.#wider?.forms() ?? [])];
  }

  clean(text: string): string {
    if (this.isEmpty) return text;
    const { version } = this;
    if (this.#longestFirst?.version !== version) this.#longestFirst = { version, forms: longestFirst(this.forms()) };
    let rest = text;
    for (const form of this.#longestFirst.forms) if (rest.includes(form)) rest = rest.replaceAll(form, () => REDACTED);
    return rest;
  }
}

/** The longest first: what is left of one that begins like another would still tell a part of it. */
function longestFirst(forms: readonly string[]): readonly string[] {
  return forms.toSorted((one, other) => other.length - one.length);
}

/** A word alone may be anybody's, and is not held against what others return later. */
function isTelling(secret: string): boolean {
  return secret.length >= 8 && /[^\p{L}]/u.test(secret);
}

const SCHEME = /^\s*(?:bearer|basic|digest|token|apikey|negotiate)\s+/i;

/** As it is, without the scheme that a header begins with, as JSON writes it, also within JSON, and as an address does. */
function formsOf(secret: string): ReadonlySet<string> {
  const bare = secret.replace(SCHEME, "").trim();
  const texts = [secret, secret.trim(), bare].filter(({ length }) => length >= SHORTEST);
  return new Set(texts.flatMap((text) => [text, inJson(text), inJson(inJson(text)), inAddress(text)]));
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function inAddress(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : text;
}
