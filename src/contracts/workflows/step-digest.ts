// What the record log of a run says of the rows of its steps: after each commit the digest of every row that the commit wrote.
// The chain covers the log, so that a row that was changed, exchanged or removed past the runtime is found.
import { hash } from "node:crypto";

/** A row of a step as it is stored; both texts are sealed. */
export type StepRow = {
  readonly status: string | null;
  readonly undo_order: number | null;
  readonly opened: string | null;
  readonly outcome: string | null;
};

/** The digests of the two sealed texts of a row: a commit that writes one of them does not have to know the other. */
export type TextDigests = { readonly opened: string; readonly outcome: string };

/** What stands in the log for a row that a commit removed. */
export const NO_ROW = "";

/** Where the log keeps the digest of what a run was started with, beside those of its steps: no step has this path. */
export const RUN_BODY = "run";

export function textDigest(sealed: string | null): string {
  return sealed === null ? "" : hash("sha256", sealed, "hex");
}

export function rowDigest({ status, undo_order }: Omit<StepRow, "opened" | "outcome">, texts: TextDigests): string {
  return hash("sha256", [status, undo_order, texts.opened, texts.outcome].join("\n"), "hex");
}

export function digestOfRow(row: StepRow): string {
  return rowDigest(row, { opened: textDigest(row.opened), outcome: textDigest(row.outcome) });
}

/** A fact of the log with what its commit wrote: the row of its own step, and rows that no fact of the commit names. */
export type WithDigests = { readonly body?: string; readonly bodies?: Readonly<Record<string, string>> };

/** Takes in what one event says: the last digest of a path is the one that counts. */
export function collectDigests(known: Map<string, string>, records: string): void {
  for (const fact of JSON.parse(records) as readonly (WithDigests & { readonly path?: string })[]) {
    for (const [path, digest] of Object.entries(fact.bodies ?? {})) known.set(path, digest);
    if (fact.path !== undefined && fact.body !== undefined) known.set(fact.path, fact.body);
  }
}

/** What became of a row, where it is not what the log says. */
export type StepFault = { readonly path: string; readonly fault: "changed" | "removed" | "added" };

/** By the paths of the rows. */
export function faultsOf(logged: ReadonlyMap<string, string>, rows: ReadonlyMap<string, string>): readonly StepFault[] {
  const faults: StepFault[] = [];
  for (const [path, digest] of logged) {
    const found = rows.get(path) ?? NO_ROW;
    if (found !== digest)
      faults.push({ path, fault: found === NO_ROW ? "removed" : digest === NO_ROW ? "added" : "changed" });
  }
  for (const path of rows.keys()) if (!logged.has(path)) faults.push({ path, fault: "added" });
  return faults;
}
