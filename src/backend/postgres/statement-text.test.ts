import { describe, expect, it } from "vitest";
import { statementText } from "./statement-text.ts";

describe("the text of a statement", () => {
  it("is left alone when nothing is expected of it", () => {
    const sql = "update t set a = $1 where b = 'in (select 1)'";
    expect(statementText(sql, undefined)).toEqual({ text: sql, keepsRows: true });
  });

  it("takes rows that others do not hold, once and not again for every row", () => {
    const claim = "update t set a = 1 where id in (select id from t where f(b) limit 2 /*skip locked*/ ) returning id";
    expect(statementText(claim, undefined).text).toBe(
      "update t set a = 1 where id = any(array(select id from t where f(b) limit 2 for update skip locked) ) returning id",
    );
  });

  it.each([
    ["select id from t limit 1 /*skip locked*/", "select id from t limit 1 for update skip locked"],
    ["select id from t order by id /*for update*/", "select id from t order by id for update"],
    ["update t set a = 1 where id in (select id from t /*for update*/)", "id = any(array(select id from t for update)"],
    ["delete from t where id in (select id from u /*few rows*/)", "id = any(array(select id from u ))"],
    ["select a from t where id in (select 1 /*few rows*/) /*for update*/", "id = any(array(select 1 )) for update"],
    ["delete from t where (a, b) in (select a, b from t /*skip locked*/)", "in (select a, b from t for update skip"],
    ["delete from t where a = (select a from t limit 1 /*skip locked*/)", "= (select a from t limit 1 for update skip"],
  ])("locks the rows of %s as they stand", (sql, text) => {
    expect(statementText(sql, undefined).text).toContain(text);
  });

  it.each([
    ["update t set a = 1"],
    ["INSERT INTO t (a) VALUES (1);\n"],
    ["with x as (select 1 as a)\ndelete from t where a in (select a from x) -- all of them"],
  ])("counts what %s touches", (sql) => {
    const { text, keepsRows } = statementText(sql, 1);
    expect(text).toMatch(/\nreturning 1\n\) select expect_rows\(count\(\*\), 1\)/);
    expect(keepsRows).toBe(false);
  });

  it.each([
    ["select a from t for update"],
    ["with x as (select 1) select * from x"],
    ["update t set a = 1 returning a"],
  ])("keeps the rows of %s", (sql) => {
    expect(statementText(sql, 2).keepsRows).toBe(true);
    expect(statementText(sql, 2).text).not.toContain("returning 1");
    expect(statementText(sql, 0).keepsRows).toBe(false);
  });
});
