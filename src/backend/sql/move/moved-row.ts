// A row as it stands in the database that it is moved to: nobody is at work on anything there, and whoever was may never
// go on with it.
import type { Row } from "../../sql-driver.ts";
import * as rows from "../rows.ts";

// As if another worker had claimed the row since: a commit under the epoch of before finds nothing to change.
const unleased = ({ epoch }: Row): Row => ({ lease_by: null, lease_until: 0, epoch: rows.number(epoch) + 1 });

const changes: Readonly<Record<string, (row: Row) => Row>> = {
  threads: unleased,
  gateway_jobs: unleased,
  outcomes: () => ({ lease_until: 0 }),
  sessions: () => ({ lock_token: null, lock_until: null }),
};

export function movedRow(table: string, row: Row): Row {
  const change = changes[table];
  return change ? { ...row, ...change(row) } : row;
}
