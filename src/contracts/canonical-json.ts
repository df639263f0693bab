// The JSON text that the Agents API contracts hash, count and embed. It differs from RFC 8785 (escaped slashes and
// non-ASCII, `[]` for every empty container), which is why it stands apart from what only we hash.
import { hash } from "node:crypto";
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

/** Length of a text in UTF-8 bytes, the unit of every size limit. */
export function byteLength(content: string): number {
  return Buffer.byteLength(content, "utf8");
}

type KeyOrder = (map: UnknownMap) => string[];

const insertionOrder: KeyOrder = (map) => Object.keys(map);
const sortedKeys: KeyOrder = (map) => sortBytewise(Object.keys(map));

/** Sorts in place by UTF-8 bytes, which for astral characters is not the order of UTF-16 units. */
export function sortBytewise(keys: string[]): string[] {
  if (keys.length < 2) return keys;
  if (keys.every(isAscii)) return keys.sort();
  return keys.sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
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

const PLAIN = /^[\x20\x21\x23-\x2e\x30-\x5b\x5d-\x7f]*$/;

function writeString(content: string): string {
  if (PLAIN.test(content)) return `"${content}"`;
  return JSON.stringify(content).replace(/[/\u0080-\uffff]/g, escapeUnit);
}

function escapeUnit(unit: string): string {
  return unit === "/" ? "\\/" : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

const LARGEST_PLAIN = 2 ** 63;

function writeNumber(number: number): string {
  const size = Math.abs(number);
  if (number === 0 || (size >= 1e-4 && size < LARGEST_PLAIN)) return plainNumber(number);
  return number.toExponential().replace(/^(-?\d)e/, "$1.0e");
}

function plainNumber(number: number): string {
  const shortest = String(number + 0);
  return shortest.includes("e") ? BigInt(number).toString() : shortest;
}

function isAscii(content: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
  return /^[\x00-\x7f]*$/.test(content);
}
