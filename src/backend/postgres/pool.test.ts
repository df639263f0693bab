import { expect, it, onTestFinished } from "vitest";
import { emptySchema } from "../../../test/postgres.ts";
import type { Scalar } from "../sql-driver.ts";
import { connect } from "./connection.ts";
import { Pool } from "./pool.ts";
import { createPlans } from "./statement-plan.ts";

it("a connection that fails while it writes is not kept from those who wait, and none follows on what it has written", async () => {
  const { url, schema, drop } = await emptySchema();
  const { signal: abandoned } = new AbortController();
  const settings = { url, schema, connectMilliseconds: 240_000, answerMilliseconds: 60_000, abandoned };
  let made = 0;
  const pool = new Pool({
    ...{ size: 2, patienceMilliseconds: 240_000, abandoned },
    connect(onLost) {
      made++;
      return connect(settings, { onLost });
    },
  });
  onTestFinished(async () => {
    await pool.close();
    await drop();
  });
  const planOf = createPlans();
  const run = (...values: readonly unknown[]) =>
    pool.run(
      values.map((value) => {
        const params = [value as Scalar];
        return { plan: planOf({ sql: "select cast($1 as text) as value", params }), params };
      }),
      { repeatable: false },
    );
  // The first statement is written by the time that the second cannot be.
  const failing = Array.from({ length: 5 }, () => run("written", {}));
  const waiting = run("waiting");
  for (const { status } of await Promise.allSettled(failing)) expect(status).toBe("rejected");
  expect(await waiting).toMatchObject({ kind: "done", rows: [[{ value: "waiting" }]] });
  expect(await run("later")).toMatchObject({ kind: "done", rows: [[{ value: "later" }]] });
  expect(made).toBe(6);
});
