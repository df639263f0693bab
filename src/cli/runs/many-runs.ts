// The same for all runs that match: page by page, as the operation has it.
import { Refusal } from "../refusal.ts";
import { table } from "../terminal.ts";
import type { Work } from "../verb.ts";
import { runsQuery } from "./query.ts";

/** More are not cancelled or carried on by a query that matches more than was meant. */
const PAGE = 100;

type Page = { readonly outcomes: Readonly<Record<string, number>>; readonly next?: string };

export async function actOnMany(
  { given, terminal, client: connect, signal }: Work,
  verb: "cancel" | "retry",
): Promise<void> {
  const query = runsQuery(given);
  if (Object.keys(query).length === 0) {
    throw new Refusal({
      code: "usage",
      message: `Name the run, or say which ones: --workflow, --tag, --since${verb === "cancel" ? ", --status" : ""}.`,
    });
  }
  const client = await connect();
  if (given.yes !== true) {
    const wanted = { ...query, ...(verb === "retry" && { status: "failed" }), limit: PAGE };
    const { has_more } = await client.call<{ has_more: boolean }>("holdfast/list-workflow-runs", wanted);
    if (has_more) {
      throw new Refusal({ code: "usage", message: `More than ${PAGE} runs match: say --yes to ${verb} all of them.` });
    }
  }
  const outcomes: Record<string, number> = {};
  let after: string | undefined;
  do {
    signal.throwIfAborted();
    const input = { ...query, limit: PAGE, ...(after !== undefined && { after }) };
    const page: Page = await client.call<Page>(`holdfast/${verb}-workflow-runs`, input);
    for (const [outcome, count] of Object.entries(page.outcomes)) outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
    after = page.next;
  } while (after !== undefined);
  terminal.answer({ outcomes }, () => {
    const rows = Object.entries(outcomes).map(([outcome, count]) => [outcome, String(count)]);
    return rows.length === 0 ? "No run matches." : table(rows);
  });
}
