import { expect, it, onTestFinished } from "vitest";
import { aJob, aJobCommit, claimJob, commitJob, queued } from "../../contract/a-job.ts";
import { sqlite } from "../../sqlite/sqlite.ts";
import { migrate } from "../migrate.ts";
import { gatewayFaults } from "./faults.ts";
import { createGatewayStores } from "./gateway-stores.ts";

it("counters of the gateway that disagree with its jobs are found, and those that agree are not", async () => {
  const driver = await sqlite(":memory:").open();
  onTestFinished(() => driver.close());
  await migrate(driver);
  const stores = { gateway: createGatewayStores(driver) };
  const faults = async () => {
    const counts: number[] = [];
    for (const sql of Object.values(gatewayFaults)) counts.push(Number((await driver.all(sql))[0]?.count));
    return counts;
  };
  const change = (sql: string) => driver.batch([{ sql, params: [] }]);
  await queued(stores, aJob({ dedupe: { hash: "hash", keep_us: 0 } }), aJob({ id: "two" }));
  const job = await claimJob(stores);
  expect(await faults()).toEqual([0, 0, 0]);
  if (job) await commitJob(stores, aJobCommit(job));
  expect(await faults()).toEqual([0, 0, 0]);

  await change("update gateway_trees set outstanding = 2 where root_job_id = 'two'");
  await change("update gateway_dedupe set holders = 3");
  expect(await faults()).toEqual([0, 1, 3]);
  await change("delete from gateway_trees");
  expect(await faults()).toEqual([2, 0, 3]);
});
