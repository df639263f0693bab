// Promise: every list has one order, down to the last row, whatever the database. Rows of one instant stand by their id, byte by
// byte, or by the number that they were given; pages of any size hold each of them once, in the order of one long page, however
// often they are read.
import { describe, expect, it, onTestFinished } from "vitest";
import { migrate } from "../src/backend/sql/migrate.ts";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { eachDatabase, onPostgres, type World } from "./databases.ts";
import { ADMINISTRATOR } from "./desk-world.ts";
import { covers, exemptions, isExempt } from "./one-order/exempt.ts";
import { lists } from "./one-order/lists.ts";
import { anActionRow, aRequestRow, aThreadRow, insertRows } from "./one-order/rows.ts";
import { type Select, selects } from "./one-order/statements.ts";
import { admin } from "./shop-desk.ts";

/** More than any list here has, and as many as any of them gives. */
const ALL = 100;

async function openSource(world: World) {
  const desk = agent({ slug: "desk", model: scriptedModel([]) });
  const holdfast = await world.open(desk, { trust: { administrators: [ADMINISTRATOR] } });
  return { holdfast, stores: await world.stores() };
}

eachDatabase((newWorld) => {
  it.each(lists)("holds for $list", async ({ fill, read, offers = "pages" }) => {
    const world = await newWorld();
    const source = await openSource(world);
    const expected = await fill(world, source);

    expect(await read(source, ALL, [])).toEqual(expected);
    expect(await read(source, ALL, [])).toEqual(expected);
    for (const limit of offers === "whole" ? [] : [1, 2, 5, expected.length]) {
      expect(await read(source, limit, [])).toEqual(expected.slice(0, limit));
      if (offers === "first") continue;
      const seen: string[] = [];
      for (let page = await read(source, limit, seen); page.length > 0; page = await read(source, limit, seen)) {
        expect(page.length, "no page is longer than it may be").toBeLessThanOrEqual(limit);
        seen.push(...page);
        expect(seen.length, "a list that repeats itself has no end").toBeLessThanOrEqual(expected.length);
      }
      expect(seen, `in pages of ${limit}`).toEqual(expected);
    }
  });

  it.each([
    ["holdfast/list-threads", "threads", "id", (limit: number) => ({ limit })],
    ["holdfast/list-requests", "requests", "id", (limit: number) => ({ limit })],
    ["agents/list-pending-actions", "actions", "action_id", (limit: number) => ({ filters: { limit } })],
  ] as const)("goes on in %s behind rows that are gone since", async (name, of, key, asked) => {
    const world = await newWorld();
    const { holdfast } = await openSource(world);
    const ids = ["b", "B", "a", "_", "é", "c"];
    await insertRows(
      world,
      "threads",
      ids.map((id) => aThreadRow(id)),
    );
    await insertRows(
      world,
      "requests",
      ids.map((id) => aRequestRow(id)),
    );
    const actions = of === "actions" ? ids.map((id) => `${id} too`) : [];
    if (actions.length > 0) await insertRows(world, "pending_actions", actions.map(anActionRow));
    const seen: string[] = [];
    for (let after: string | undefined; ; ) {
      const input = { ...asked(2), ...(after !== undefined && { after }) };
      const answer = await holdfast.abilities.call(name, input, { principal: admin, door: "http" });
      const page = answer as Readonly<Record<string, unknown>> & { readonly next?: string };
      for (const row of page[of] as readonly Readonly<Record<string, string>>[]) {
        const id = String(row[key]);
        seen.push(id);
        for (const table of ["threads", "requests"]) await world.sql(`delete from ${table} where id = '${id}'`);
        await world.sql(`delete from pending_actions where action_id = '${id}'`);
      }
      after = page.next;
      if (after === undefined) break;
    }
    const bytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));
    expect(seen).toEqual([...ids, ...actions].sort(bytes));
  });
});

onPostgres((newWorld) => {
  it("compares all text by its bytes, as SQLite does", async () => {
    const world = await newWorld();
    const columns = await world.sql(`select table_name, column_name, collation_name from information_schema.columns
      where table_schema = current_schema() and data_type = 'text' and table_name <> 'meta'`);
    expect(columns.length).toBeGreaterThan(100);
    expect(columns.filter(({ collation_name }) => collation_name !== "C")).toEqual([]);
  });
});

describe("the statements", () => {
  const all = selects();

  it("are found in the sources, with their orders", () => {
    const found = (file: string, text: string) => all.find((each) => each.file === file && each.text.includes(text));
    expect(found("sql/requests.ts", "from requests")).toMatchObject({ order: ["created_at", "id"], isLimited: true });
    // Through a constant of the file, and within another statement.
    expect(found("sql/sessions.ts", "offset")).toMatchObject({ order: ["created_at", "session_id"] });
    expect(found("sql/channels.ts", "limit 10")).toMatchObject({ order: ["expires_at", "storage_key"] });
    expect(all.length).toBeGreaterThan(60);
  });

  it("order by what tells rows apart, where they order at all", async () => {
    const keys = await uniqueKeys();
    const isTotal = ({ table, order = [], fixed }: Select) =>
      (keys.get(table) ?? []).some((key) => key.every((column) => order.includes(column) || fixed.includes(column)));
    const open = all.filter((select) => select.order && !isExempt(select) && !isTotal(select));
    expect(open.map(({ file, text }) => `${file}: ${text}`)).toEqual([]);
  });

  it("say which rows come first, where they ask for some of them only", () => {
    const open = all.filter((select) => select.isLimited && !select.order && !isExempt(select));
    expect(open.map(({ file, text }) => `${file}: ${text}`)).toEqual([]);
  });

  it("are exempt for a reason that still applies", () => {
    expect(exemptions.filter((exemption) => !all.some((select) => covers(exemption, select)))).toEqual([]);
  });
});

/** For each table the sets of columns of which no two rows have the same. */
async function uniqueKeys(): Promise<ReadonlyMap<string, readonly (readonly string[])[]>> {
  const driver = await sqlite(":memory:").open();
  onTestFinished(() => driver.close());
  await migrate(driver);
  const found = await driver.all(`select tables.name as table_name, columns.name as column_name, 'primary' as index_name
      from sqlite_master as tables join pragma_table_info(tables.name) as columns
      where tables.type = 'table' and columns.pk > 0
    union all
    select tables.name, columns.name, indexes.name
      from sqlite_master as tables join pragma_index_list(tables.name) as indexes
        join pragma_index_info(indexes.name) as columns
      where tables.type = 'table' and indexes."unique" = 1 and indexes.partial = 0`);
  const tables = Map.groupBy(found, ({ table_name }) => String(table_name));
  return new Map(
    Array.from(tables, ([table, rows]) => {
      const indexes = Map.groupBy(rows, ({ index_name }) => String(index_name));
      return [table, Array.from(indexes.values(), (own) => own.map(({ column_name }) => String(column_name)))];
    }),
  );
}
