// The JSON text that the Agents API contracts hash, count and embed. It differs from RFC 8785 (escaped slashes and
// non-ASCII, `[]` for every empty container), which is why it stands apart from what only we hash.
import { createHash, hash } from "node:crypto";
import { isMap, type UnknownMap } from "./json.ts";

/** The contract's JSON text, keys in the order they were written. The value must be JSON (see `snapshot`). */
export function text(value: unknown): string {
  return write(value, insertionOrder);
}

/** The same text with the keys of every map sorted bytewise: what is hashed. */
export function sortedText(value: unknown): string {
  return write(value, sortedKeys);
}

/** `sha256:` and the hex digest of the sorted text. */
export function stableHash(value: unknown): string {
  return `sha256:${sha256(sortedText(value))}`;
}

/** Hex SHA-256 of a text in UTF-8. */
export function sha256(content: string): string {
  return hash("sha256", content, "hex");
}

/** The same for a text that comes in pieces and would be too long as a whole. */
export function sha256OfPieces(pieces: Iterable<string>): string {
  const digest = createHash("sha256");
  for (const piece of pieces) digest.update(piece);
  return digest.digest("hex");
}

/** Length of a text in UTF-8 bytes, the unit of every size limit. */
export function byteLength(content: string): number {
  return Buffer.byteLength(content, "utf8");
}

type KeyOrder = (map: UnknownMap) => string[];

const insertionOrder: KeyOrder = (map) => Object.keys(map);
const sortedKeys: KeyOrder = (map) => sortBytewise(Object.keys(map));

const SURROGATE = /[\ud800-\udfff]/;

/** Sorts in place by UTF-8 bytes; the order of UTF-16 units differs from it only where surrogates take part. */
export function sortBytewise(keys: string[]): string[] {
  if (isSorted(keys)) return keys;
  if (!keys.some((key) => SURROGATE.test(key))) return keys.length > FEW ? keys.sort() : insertionSort(keys);
  return keys.sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
}

// The built-in sort sets up work space that a handful of keys does not need.
const FEW = 16;

function insertionSort(keys: string[]): string[] {
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] ?? "";
    let place = index;
    for (let before = keys[place - 1] ?? ""; place > 0 && before > key; before = keys[place - 1] ?? "") {
      keys[place--] = before;
    }
    keys[place] = key;
  }
  return keys;
}

/** True for keys in order, which those that are hashed usually are; only where surrogates take part is it not certain. */
function isSorted(keys: readonly string[]): boolean {
  let before = "";
  for (const key of keys) {
    if (key < before || SURROGATE.test(key)) return false;
    before = key;
  }
  return true;
}

function write(value: unknown, order: KeyOrder): string {
  switch (typeof value) {
    case "string":
      return writeString(value);
    case "number":
      return writeNumber(value);
    case "boolean":
      return value ? "true" : "false";
    default:
      return Array.isArray(value) ? writeList(value, order) : isMap(value) ? writeMap(value, order) : "null";
  }
}

function writeList(list: readonly unknown[], order: KeyOrder): string {
  let written = "[";
  for (let index = 0; index < list.length; index++) written += (index > 0 ? "," : "") + write(list[index], order);
  return `${written}]`;
}

function writeMap(map: UnknownMap, order: KeyOrder): string {
  let written = "";
  for (const key of order(map)) {
    const item = map[key];
    if (item === undefined) continue;
    written += `${(written === "" ? "{" : ",") + writeString(key)}:${write(item, order)}`;
  }
  return written === "" ? "[]" : `${written}}`;
}

const QUOTE = 0x22;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const PLAIN = /^[\x20\x21\x23-\x2e\x30-\x5b\x5d-\x7f]*$/;

const UNESCAPED = /[/\u0080-\uffff]/;

// A regular expression costs more to enter than a short text takes to look through.
const SHORT = 48;

function isPlain(content: string): boolean {
  if (content.length > SHORT) return PLAIN.test(content);
  for (let index = 0; index < content.length; index++) {
    const unit = content.charCodeAt(index);
    if (unit < 0x20 || unit > 0x7f || unit === QUOTE || unit === SLASH || unit === BACKSLASH) return false;
  }
  return true;
}

function writeString(content: string): string {
  if (isPlain(content)) return `"${content}"`;
  const quoted = JSON.stringify(content);
  return UNESCAPED.test(quoted) ? escapeUnits(quoted) : quoted;
}

const LETTER_U = 0x75;
const HEX = "0123456789abcdef";
const CHUNK = 4096;
// Written as bytes, a piece at a time: a callback for each character costs about ten times as much.
const bytes = Buffer.allocUnsafeSlow(CHUNK * "\\uXXXX".length);

/** Escapes what `JSON.stringify` leaves as it is: slashes and everything beyond ASCII. */
function escapeUnits(quoted: string): string {
  let escaped = "";
  for (let start = 0; start < quoted.length; start += CHUNK) {
    const end = Math.min(start + CHUNK, quoted.length);
    let size = 0;
    for (let index = start; index < end; index++) {
      const unit = quoted.charCodeAt(index);
      if (unit < 0x80) {
        if (unit === SLASH) bytes[size++] = BACKSLASH;
        bytes[size++] = unit;
        continue;
      }
      bytes[size++] = BACKSLASH;
      bytes[size++] = LETTER_U;
      for (let shift = 12; shift >= 0; shift -= 4) bytes[size++] = HEX.charCodeAt((unit >> shift) & 0xf);
    }
    escaped += bytes.toString("latin1", 0, size);
  }
  return escaped;
}

const LARGEST_PLAIN = 2 ** 63;

function writeNumber(number: number): string {
  if (Number.isSafeInteger(number)) return String(number + 0);
  const size = Math.abs(number);
  if (number === 0 || (size >= 1e-4 && size < LARGEST_PLAIN)) return plainNumber(number);
  return number.toExponential().replace(/^(-?\d)e/, "$1.0e");
}

function plainNumber(number: number): string {
  const shortest = String(number + 0);
  return shortest.includes("e") ? BigInt(number).toString() : shortest;
}
