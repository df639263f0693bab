// The steps of a run, in pages of the index that they are stored by.
import type { Row, Scalar, SqlDriver } from "../sql-driver.ts";
import type { StepPlace, StepStatus, StepsPage, StoredStep } from "../workflow-store.ts";
import * as rows from "./rows.ts";

/** As many rows as a short read may have. */
const PAGE = 200;

const STEP = "parent, position, status, undo_order, opened, outcome";

/** Most runs have few steps, which are read at once; what there is beyond a page is read where it holds up no commit. */
export async function readSteps(
  driver: SqlDriver,
  runId: string,
  { after, below, limit = Number.MAX_SAFE_INTEGER }: StepsPage = {},
): Promise<readonly StoredStep[]> {
  const first = selectSteps(runId, { after, below, limit: Math.min(limit, PAGE) });
  const found = (await driver.all(first.sql, first.params)).map(stepRow);
  if (found.length < PAGE || limit <= PAGE) return found;
  const rest = selectSteps(runId, { after: found.at(-1), below, limit: limit - PAGE });
  return [...found, ...(await driver.readLong(rest.sql, rest.params)).map(stepRow)];
}

export async function readStepsAt(
  driver: SqlDriver,
  runId: string,
  places: readonly StepPlace[],
): Promise<readonly StoredStep[]> {
  const [first] = places;
  if (!first) return [];
  // A few texts for all counts, so that they stay prepared: the rest names the first place again.
  const count = 2 ** Math.ceil(Math.log2(places.length));
  const params: Scalar[] = [runId];
  const bind = (value: Scalar) => `$${params.push(value)}`;
  const listed = Array.from({ length: count }, (_, index) => {
    const { parent, position } = places[index] ?? first;
    return `(cast(${bind(parent)} as text), cast(${bind(position)} as bigint))`;
  });
  const sql = `select ${STEP} from workflow_steps where run_id = $1 and (parent, position) in (values ${listed.join(", ")})`;
  return (await driver.all(sql, params)).map(stepRow);
}

type Page = { readonly after: StepPlace | undefined; readonly below: string | undefined; readonly limit: number };

function selectSteps(runId: string, { after, below, limit }: Page) {
  const params: Scalar[] = [runId, limit];
  const bind = (value: Scalar) => `$${params.push(value)}`;
  const behind = after ? ` and (parent, position) > (${bind(after.parent)}, ${bind(after.position)})` : "";
  const from = `select ${STEP} from workflow_steps where run_id = $1${behind}`;
  const order = "order by parent, position limit $2";
  // The run itself, below which everything stands.
  if (below === undefined || below === "") return { sql: `${from} ${order}`, params };
  const { parent, position } = placeOf(below);
  const own = `${from} and parent = ${bind(parent)} and position = ${bind(position)}`;
  const within = `${from} and parent >= ${bind(below)} and parent < ${bind(behindAllBelow(below))}`;
  // Two ranges of the index, each read in its order, where a condition with `or` would read all steps of the run.
  return { sql: `${own} union all ${within} ${order}`, params };
}

/** Behind a path and all that begin with it and a slash, and before all others: "0" is the sign behind the slash. */
function behindAllBelow(path: string): string {
  return `${path}0`;
}

/** Lists that are no part of a step have no row of their own: they stand at no position. */
function placeOf(path: string): StepPlace {
  const end = path.lastIndexOf("/");
  const position = Number(path.slice(end + 1));
  return { parent: path.slice(0, Math.max(end, 0)), position: Number.isSafeInteger(position) ? position : -2 };
}

function stepRow(row: Row): StoredStep {
  return {
    parent: rows.text(row.parent),
    position: rows.number(row.position),
    opened: rows.optionalText(row.opened),
    outcome: rows.optionalText(row.outcome),
    status: row.status as StepStatus | null,
    undo_order: rows.optionalNumber(row.undo_order),
  };
}
