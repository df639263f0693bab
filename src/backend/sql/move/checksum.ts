// A number that stands for all rows of a table, whatever the order they are read in and whatever database they are in.
import { createHash } from "node:crypto";
import type { Row, Scalar } from "../../sql-driver.ts";
import type { Table } from "./catalogue.ts";

export type Checksum = { readonly table: string; readonly rows: number; readonly checksum: string };

export type Summing = { add(row: Row): void; sum(): Checksum };

const MODULUS = 2n ** 256n;

/** The sum of the hashes of all rows: two databases order text differently, and a sum does not mind. */
export function summing({ name, columns }: Table): Summing {
  let rows = 0;
  let total = 0n;
  return {
    add(row) {
      const values = columns.map((column) => canonical(row[column] ?? null));
      const hash = createHash("sha256")
        .update(JSON.stringify([name, columns, values]))
        .digest("hex");
      total = (total + BigInt(`0x${hash}`)) % MODULUS;
      rows++;
    },
    sum: () => ({ table: name, rows, checksum: total.toString(16).padStart(64, "0") }),
  };
}

/** Bytes by their hash, in a form that no text has. */
function canonical(value: Scalar): unknown {
  return value instanceof Uint8Array ? [createHash("sha256").update(value).digest("hex")] : value;
}
