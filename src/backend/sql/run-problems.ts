// Whether what is stored of the runs of workflows is what they have written: row by row, against the digests in their record logs.
import { collectDigests, digestOfRow, faultsOf, RUN_BODY, textDigest } from "../../contracts/workflows/step-digest.ts";
import type { Row } from "../sql-driver.ts";
import type { Reader } from "./move/catalogue.ts";
import * as rows from "./rows.ts";

/** As many runs are looked for at once. */
const PAGE = 200;

/** As many places of one run are named. */
const MOST_NAMED = 5;

// One statement: between two, a run that is at work could commit.
const STORED = `select 'event' as what, '' as parent, seq as place, records as content, cast(null as text) as status,
    cast(null as bigint) as undo_order, cast(null as text) as opened, cast(null as text) as outcome
  from events where thread_id = $1
  union all select 'step', parent, position, '', status, undo_order, opened, outcome from workflow_steps where run_id = $1
  union all select 'run', '', 0, body, null, null, null, null from workflow_runs where run_id = $1`;

/** A sentence for each run that is not as it was written. */
export async function runProblems(reader: Reader): Promise<readonly string[]> {
  const problems: string[] = [];
  for (let after = ""; ; ) {
    const page = await reader.all("select id from threads where kind = 'workflow' and id > $1 order by id limit $2", [
      after,
      PAGE,
    ]);
    for (const { id } of page) problems.push(...problemsOf(rows.text(id), await reader.all(STORED, [id ?? null])));
    after = rows.text(page.at(-1)?.id);
    if (page.length < PAGE) return problems;
  }
}

function problemsOf(id: string, stored: readonly Row[]): readonly string[] {
  const of = (what: string) => stored.filter((row) => row.what === what);
  const logged = new Map<string, string>();
  const events = of("event").sort((one, other) => rows.number(one.place) - rows.number(other.place));
  for (const { content } of events) collectDigests(logged, rows.text(content));
  // A run that has not begun has written nothing that its log tells of.
  if (logged.size === 0) return [];
  const found = new Map(of("step").map((row) => [pathOf(row), digestOf(row)]));
  for (const { content } of of("run")) found.set(RUN_BODY, textDigest(rows.text(content)));
  const faults = faultsOf(logged, found);
  if (faults.length === 0) return [];
  const named = faults.slice(0, MOST_NAMED).map(({ path, fault }) => `${placeOf(path)} was ${fault}`);
  const more = faults.length > named.length ? `, and ${faults.length - named.length} more` : "";
  return [`Run ${id} is not as it was written: ${named.join(", ")}${more}.`];
}

function digestOf({ status, undo_order, opened, outcome }: Row): string {
  return digestOfRow({
    ...{ status: rows.optionalText(status), undo_order: rows.optionalNumber(undo_order) },
    ...{ opened: rows.optionalText(opened), outcome: rows.optionalText(outcome) },
  });
}

/** Positions below one another, as in the events of the run. */
function pathOf({ parent, place }: Row): string {
  const [above, position] = [rows.text(parent), rows.number(place)];
  if (position === -1) return "";
  return above === "" ? String(position) : `${above}/${position}`;
}

function placeOf(path: string): string {
  if (path === RUN_BODY) return "what it was started with";
  return path === "" ? "its own row" : `the step at ${path}`;
}
