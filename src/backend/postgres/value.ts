// Values as the server writes them, as text, and as the port gives them: numbers, text, bytes and nothing else.
import type { Scalar } from "../sql-driver.ts";

export type Decode = (text: string) => Scalar;

const BOOLEAN = 16;
const BYTES = 17;
/** smallint, integer, bigint, oid, real, double precision and numeric, which is what a sum of bigint is. */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701, 1700]);

export function decoderOf(typeId: number): Decode {
  if (NUMBERS.has(typeId)) return Number;
  // Written as \\x and two digits a byte.
  if (typeId === BYTES) return (text) => bytesOf(Buffer.from(text.slice(2), "hex"));
  return typeId === BOOLEAN ? (text) => (text === "t" ? 1 : 0) : (text) => text;
}

/** Bytes are sent as they are, all else as text. */
export function encode(value: Scalar | undefined): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value !== "object") return String(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

function bytesOf({ buffer, byteOffset, byteLength }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
