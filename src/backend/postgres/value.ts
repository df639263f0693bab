// Values as the server writes them, as text, and as the port gives them: numbers, text and nothing else.
import type { Scalar } from "../sql-driver.ts";

export type Decode = (text: string) => Scalar;

const BOOLEAN = 16;
/** smallint, integer, bigint, oid, real, double precision and numeric, which is what a sum of bigint is. */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701, 1700]);

export function decoderOf(typeId: number): Decode {
  if (NUMBERS.has(typeId)) return Number;
  return typeId === BOOLEAN ? (text) => (text === "t" ? 1 : 0) : (text) => text;
}

export function encode(value: Scalar | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}
