import { randomInt } from "node:crypto";
import { setImmediate as eventLoopGoesOn } from "node:timers/promises";
import { Client } from "pg";
import { expect, it, onTestFinished } from "vitest";
import { emptySchema } from "../../../test/postgres.ts";
import { createHeldSessions } from "./held-sessions.ts";
import { postgres } from "./postgres.ts";

it("asks about all names at once that are asked about again and again", async () => {
  const { isHeld, hold, questions } = await lookAtNames();
  const names = ["1", "2", "3", "4", "5"];
  await hold("2");
  await hold("4");
  const round = async () => {
    const held: string[] = [];
    for (const name of names) if (await isHeld(name)) held.push(name);
    return held;
  };

  expect(await round()).toEqual(["2", "4"]);
  await eventLoopGoesOn();
  const before = questions();
  expect(await round()).toEqual(["2", "4"]);
  expect(questions()).toBe(before + 1);
});

it("never answers from what it knew before", async () => {
  const { isHeld, hold, release } = await lookAtNames();
  expect([await isHeld("1"), await isHeld("2")]).toEqual([false, false]);
  await hold("2");
  expect([await isHeld("1"), await isHeld("2")]).toEqual([false, true]);
  await release();
  expect([await isHeld("1"), await isHeld("2")]).toEqual([false, false]);
});

it("asks anew for who asks about one name in a loop", async () => {
  const { isHeld, questions } = await lookAtNames();
  for (let turn = 0; turn < 3; turn++) await isHeld("1");
  expect(questions()).toBe(3);
});

/** Names that somebody outside holds, and a driver that is asked about them and counted. */
async function lookAtNames() {
  const { url, schema, drop } = await emptySchema();
  onTestFinished(drop);
  const driver = await postgres(url, { schema }).open();
  onTestFinished(() => driver.close());
  const holder = new Client({ connectionString: url });
  await holder.connect();
  onTestFinished(() => holder.end());

  const keys = randomInt(2 ** 40);
  const lockKey = (name: string) => `-${keys}${name}`;
  let questions = 0;
  const isHeld = createHeldSessions({
    lockKey,
    read(sql, params) {
      questions += 1;
      return driver.all(sql, params);
    },
  });
  return {
    isHeld,
    questions: () => questions,
    hold: (name: string) => holder.query("select pg_advisory_lock($1)", [lockKey(name)]),
    release: () => holder.query("select pg_advisory_unlock_all()"),
  };
}
