// Promise: what is stored of a run is what it has written. A row that was changed, exchanged, added or removed past the runtime is
// found and named when the database is checked.
import { expect, it } from "vitest";
import { checkDatabase } from "../../src/database.ts";
import type { Holdfast } from "../../src/holdfast.ts";
import { eachDatabase, secretKey, type World } from "../databases.ts";

const each = { id: "each", type: "function", function: "note", input: "a bed" };
const undo = { type: "function", function: "note", input: "undone" };

const trip = {
  id: "trip",
  steps: [
    { id: "book", type: "function", function: "note", input: "a room", undo },
    { id: "all", type: "foreach", items: [1, 2], steps: [each] },
    { id: "wait", type: "wait", event: "paid", timeout: "1h" },
    { id: "pay", type: "function", function: "pay", retry: { max_attempts: 2, backoff: "1ms" } },
  ],
};

const code = {
  note: (input: unknown) => ({ noted: input }),
  pay: () => {
    throw new Error("no money");
  },
};

async function problemsOf(world: World): Promise<readonly string[]> {
  const driver = await world.backend.open();
  try {
    return (await checkDatabase(world.backend, driver, { secretKey })).problems;
  } finally {
    await driver.close();
  }
}

/** A run with a rollback behind it, one that goes on behind a step of another, and one that waits. */
async function playRuns(holdfast: Holdfast): Promise<readonly string[]> {
  const failed = await holdfast.workflows.start(trip);
  await failed.send("paid");
  expect(await failed.result()).toMatchObject({ status: "failed", metadata: { _rollback: [{ status: "succeeded" }] } });
  const kept = await holdfast.workflows.start({
    id: "kept",
    steps: [
      { id: "first", type: "function", function: "note", input: 1 },
      { id: "second", type: "function", function: "pay" },
    ],
  });
  await kept.result();
  await kept.retry();
  await kept.result();
  const again = await kept.rerun({ from: "second" });
  await again.result();
  const waiting = await holdfast.workflows.start({ ...trip, id: "waiting" });
  while ((await waiting.summary()).status !== "suspended") await new Promise(setImmediate);
  return [failed.id, again.id, kept.id, waiting.id];
}

eachDatabase((newWorld) => {
  it("is whole as long as only the runtime has written, whatever became of the runs", async () => {
    const world = await newWorld();
    const holdfast = await world.open([], { stepFunctions: code });
    await playRuns(holdfast);
    await holdfast.close();
    expect(await problemsOf(world)).toEqual([]);
  });

  it("names the rows that were changed, exchanged, added or removed", async () => {
    const world = await newWorld();
    const holdfast = await world.open([], { stepFunctions: code });
    const [failed, again, kept, waiting] = await playRuns(holdfast);
    await holdfast.close();
    const steps = (id: string | undefined, rest: string) => `from workflow_steps where run_id = '${id}' and ${rest}`;
    const at = (parent: string, position: number) => `parent = '${parent}' and position = ${position}`;
    const change = (id: string | undefined, set: string, place: string) =>
      world.sql(`update workflow_steps set ${set} where run_id = '${id}' and ${place}`);
    await change(failed, `outcome = (select outcome ${steps(failed, at("1/0", 0))})`, at("1/1", 0));
    await world.sql(`delete ${steps(again, at("", 0))}`);
    await change(kept, "status = 'succeeded'", at("", 1));
    await change(waiting, "undo_order = null", at("", 0));
    await world.sql(
      `insert into workflow_steps (run_id, parent, position, status) values ('${waiting}', '', 7, 'failed')`,
    );

    const is = "is not as it was written";
    expect((await problemsOf(world)).toSorted()).toEqual(
      [
        `Run ${failed} ${is}: the step at 1/1/0 was changed.`,
        `Run ${again} ${is}: the step at 0 was removed.`,
        `Run ${kept} ${is}: the step at 1 was changed.`,
        `Run ${waiting} ${is}: the step at 0 was changed, the step at 7 was added.`,
      ].toSorted(),
    );
  });

  it("names a run whose inputs were exchanged", async () => {
    const world = await newWorld();
    const holdfast = await world.open([], { stepFunctions: code });
    const [failed] = await playRuns(holdfast);
    await holdfast.close();
    await world.sql(`update workflow_runs set body = 'another' where run_id = '${failed}'`);
    expect(await problemsOf(world)).toEqual([
      `Run ${failed} is not as it was written: what it was started with was changed.`,
    ]);
  });
});
