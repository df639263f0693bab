// Promise: a run that sleeps takes nothing of the process that carried it on, however many of them there are.
import { expect, it, onTestFinished } from "vitest";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { createMembership } from "../../src/engine/membership.ts";
import { createRunWorker } from "../../src/workflows/durable/worker.ts";
import { eventually } from "../eventually.ts";
import { byHand } from "./turns-by-hand.ts";

it("leaves no activation behind for runs that sleep, and claims none of them before its time", async () => {
  const { host, start } = await byHand();
  const { stores, leaseMs } = host.threads;
  const steps = [{ id: "sleep", type: "sleep", for: "1h" }];
  for (let run = 0; run < 200; run++) await start(steps);
  // Signals of another database: the worker finds by itself what is due.
  const driver = await sqlite(":memory:").open();
  const membership = createMembership({
    ...{ store: stores.membership, driver, leaseMs },
    report: (error) => host.threads.report(error, ""),
  });
  await membership.join();
  const options = { concurrency: 16, pollMs: 1, slice: 500, drainMs: 500 };
  const worker = createRunWorker(host, driver, membership, options);
  worker.start();
  onTestFinished(async () => {
    await worker.stop();
    await membership.leave();
    await driver.close();
  });
  const asleep = () => stores.workflows.list({ status: "suspended", limit: 1_000 });
  await eventually(async () => expect(await asleep()).toHaveLength(200));
  await eventually(() => expect(worker.active).toBe(0));
  expect(host.threads.news?.size).toBe(0);
  expect(await stores.engine.nextDue({ kind: "workflow", state_version: 1 })).toBeGreaterThan(0);
  const epochs = await Promise.all((await asleep()).map(({ run_id }) => stores.threads.load(run_id)));
  expect(new Set(epochs.map((loaded) => loaded?.epoch))).toEqual(new Set([1]));
});
