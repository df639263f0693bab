// Turns a statement of the port into what PostgreSQL runs: row locks, and expectations that undo a batch by themselves.
import { trimEnd } from "../../contracts/coerce.ts";

export type StatementText = {
  readonly text: string;
  /** False where the rows are those of the expectation and not of the statement. */
  readonly keepsRows: boolean;
};

export function statementText(sql: string, expected: number | undefined): StatementText {
  const body = markedRows(trimEnd(sql, " \t\r\n;"));
  if (expected === undefined) return { text: body, keepsRows: true };
  const count = `select expect_rows(count(*), ${Math.trunc(expected)}) from holdfast_touched`;
  // The line ends guard against a comment at the end of the statement.
  if (isWrite(body) && !/\breturning\b/i.test(body)) {
    return { text: `with holdfast_touched as (\n${body}\nreturning 1\n) ${count}`, keepsRows: false };
  }
  // From the check to the rows and not the other way round: with no rows nobody would ask for the check. That leaves one
  // empty row where none was expected, which is not kept.
  const text = `with holdfast_touched as (\n${body}\n), holdfast_checked as materialized (${count})
    select holdfast_touched.* from holdfast_checked left join holdfast_touched on true`;
  return { text, keepsRows: expected > 0 };
}

function isWrite(sql: string): boolean {
  return /^\s*(insert|update|delete)\b/i.test(sql) || /^\s*with\b.*\)\s*(insert|update|delete)\b/is.test(sql);
}

const MARK = /\/\*(for update|skip locked|few rows)\*\//;

const LOCKS: Readonly<Record<string, string>> = { "for update": "for update", "skip locked": "for update skip locked" };

/**
 * `id in (select … limit n for update skip locked)` may be planned as a subselect that is asked again for every row,
 * and then takes more than n of them. As an array it is asked once. The server also expects few rows of an array, where
 * it would take any number of a subselect for possible and read the whole table.
 */
function markedRows(sql: string): string {
  const mark = MARK.exec(sql);
  if (!mark) return sql;
  const [text, name = ""] = mark;
  const open = openingParenthesis(sql, mark.index);
  const before = sql.slice(0, open);
  const subselect = `${sql.slice(open, mark.index)}${LOCKS[name] ?? ""}`;
  const after = markedRows(sql.slice(mark.index + text.length));
  const isColumnIn = /[\w"]\s+in\s*$/i.test(before) && /^\s*\)/.test(after);
  if (!isColumnIn) return before + subselect + after;
  return `${before.replace(/\bin\s*$/i, "= any")}(array${subselect})${after}`;
}

/** Where the parenthesis stands that encloses a place; the beginning of the text if there is none. */
function openingParenthesis(sql: string, place: number): number {
  let depth = 0;
  for (let at = place - 1; at >= 0; at--) {
    if (sql[at] === ")") depth++;
    else if (sql[at] === "(" && depth-- === 0) return at;
  }
  return 0;
}
