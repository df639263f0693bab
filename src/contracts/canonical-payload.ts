// The JSON text by which workflow specs and the payloads of package artifacts are hashed. Two things set it apart from
// `canonical-json.ts`: a map whose keys are 0 to n-1 is written as a list, and numbers turn to exponents at 1e17.
import { sortBytewise } from "./canonical-json.ts";
import { isMap, type UnknownMap } from "./json.ts";

/** How a string is written; the two uses differ in what they escape. */
type Quote = (content: string) => string;

/** The text of a JSON value with the keys of every map in the order of their bytes. The value must be JSON (see `snapshot`). */
export function text(value: unknown, quote: Quote = quotedPlainly): string {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "number":
      return numberText(value);
    case "boolean":
      return String(value);
    default:
      if (Array.isArray(value)) return listText(value, quote);
      return isMap(value) ? mapText(value, quote) : "null";
  }
}

function listText(list: readonly unknown[], quote: Quote): string {
  return `[${list.map((item) => text(item, quote)).join(",")}]`;
}

function mapText(map: UnknownMap, quote: Quote): string {
  const keys = Object.keys(map);
  // Keys that are whole numbers come first and in order, wherever they were written.
  if (keys.every((key, index) => key === String(index))) return listText(Object.values(map), quote);
  return `{${sortBytewise(keys)
    .map((key) => `${quote(key)}:${text(map[key], quote)}`)
    .join(",")}}`;
}

/** As JSON has it, and without the two line ends that JavaScript once could not read in a string. */
function quotedPlainly(content: string): string {
  return JSON.stringify(content).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

const LARGEST_PLAIN = 1e17;
const SMALLEST_PLAIN = 1e-4;

function numberText(number: number): string {
  if (number === 0) return Object.is(number, -0) ? "-0" : "0";
  const size = Math.abs(number);
  if (size >= SMALLEST_PLAIN && size < LARGEST_PLAIN) return String(number);
  // A mantissa always has a fraction.
  return number.toExponential().replace(/^(-?\d)e/, "$1.0e");
}
