// Selects whose order cannot be read in the sources, or need not be one.
import type { Select } from "./statements.ts";

export type Exemption = {
  readonly file: string;
  /** What the select says, in part. */
  readonly text: string;
  readonly reason: string;
};

export const exemptions: readonly Exemption[] = [
  // Ordered, by what only the program knows.
  {
    ...{ file: "sql/actions.ts", text: "group by status, kind order by min()" },
    reason: "Each group has a first row of its own.",
  },
  {
    ...{ file: "sql/workflows.ts", text: "group by workflow_id, status order by workflow_id, status" },
    reason: "Each group is one row.",
  },
  {
    ...{ file: "sql/approval-memory.ts", text: "order by created_at desc, ¤" },
    reason: "Ends in all columns of the primary key.",
  },
  {
    ...{ file: "sql/memory-search.ts", text: "from () as found join memories" },
    reason: "Ends in the filename, which is unique in a scope, and one scope is searched.",
  },
  {
    ...{ file: "sql/memory-search.ts", text: "select memories.id as found_id" },
    reason: "The same.",
  },
  {
    ...{ file: "sql/state.ts", text: "from effects where ¤ order by created_at desc, id desc" },
    reason: "The first condition names the thread, in which an id is unique.",
  },
  { ...{ file: "sql/move/pages.ts", text: "order by ¤" }, reason: "By the key of the table, as the catalogue has it." },
  {
    ...{ file: "sql/move/catalogue.ts", text: "from pragma_table_list" },
    reason: "The number of a column is unique in its table.",
  },
  {
    ...{ file: "sql/move/catalogue.ts", text: "from pg_class" },
    reason: "The number of a column is unique in its table.",
  },
  {
    ...{ file: "sql/gateway/read-jobs.ts", text: "select * from () as waiting union all select * from () as logged" },
    reason: "A job stands in one of the two tables, under the same id, and both are ordered by it.",
  },
  // No lists.
  {
    ...{ file: "sql/leased-table.ts", text: "order by ¤ limit $3" },
    reason: "A queue of work: what is claimed leaves it, and of those with one place any may be next.",
  },
  {
    ...{ file: "sql/leased-table.ts", text: "order by id" },
    reason: "The key of every leased table.",
  },
  {
    ...{ file: "sql/metrics.ts", text: "select due_at from threads" },
    reason: "The time is all that is read, and equal times are the same answer.",
  },
  {
    ...{ file: "sql/gateway/claim-job.ts", text: "select plugin from gateway_jobs" },
    reason: "The name is all that is read, and equal names are the same answer.",
  },
  { ...{ file: "sql/audit.ts", text: "envelope like $3 limit 1" }, reason: "Whether there is any." },
  { ...{ file: "sql/threads.ts", text: "kind = 'deletion' limit 1" }, reason: "Whether there is any." },
  { ...{ file: "sql/tokens.ts", text: "select 1 from tokens ¤ limit 1" }, reason: "Whether there is any." },
  { ...{ file: "sql/move/arrival.ts", text: "select 1 as found from ¤ limit 1" }, reason: "Whether there is any." },
  {
    ...{ file: "sql/sessions.ts", text: "select session_id from sessions where () limit $2" },
    reason: "Those that are over are deleted, some at a time, and are shown to no caller.",
  },
];

export function isExempt({ file, text }: Select): boolean {
  return exemptions.some((each) => covers(each, { file, text }));
}

export function covers(exemption: Exemption, { file, text }: Pick<Select, "file" | "text">): boolean {
  return exemption.file === file && text.includes(exemption.text);
}
