import { afterAll, onTestFinished } from "vitest";
import { emptySchema } from "../../../test/postgres.ts";
import { eraseEverything, type StoresInTest } from "../contract/stores-in-test.ts";
import { describeLeasedTable } from "../sql/leased-table.contract.ts";
import { describeMigrate } from "../sql/migrate.contract.ts";
import { openStores } from "../sql/open-stores.ts";
import { describeSignedDeletion } from "../sql/signed-deletion.contract.ts";
import type { SqlDriver } from "../sql-driver.ts";
import { describeStores } from "../stores.contract.ts";
import { postgres } from "./postgres.ts";

type Process = StoresInTest & { openSecond(): Promise<Process> };

/** The tests share one schema and the first process on it: making both anew would take longer than most of them. */
let first: ReturnType<typeof openFirst> | undefined;

afterAll(async () => {
  const opened = await first;
  await opened?.process.driver.close();
  await opened?.drop();
});

async function open(): Promise<StoresInTest> {
  first ??= openFirst();
  const { process } = await first;
  await eraseEverything(process.driver);
  return process;
}

describeStores("PostgreSQL", open);
describeSignedDeletion("PostgreSQL", open);
describeLeasedTable("PostgreSQL", open);

describeMigrate("PostgreSQL", async (count) => {
  const { url, schema, drop } = await emptySchema();
  onTestFinished(drop);
  const drivers = await Promise.all(Array.from({ length: count }, () => postgres(url, { schema }).open()));
  for (const driver of drivers) onTestFinished(() => driver.close());
  return drivers;
});

async function openFirst(): Promise<{ process: Process; drop(): Promise<void> }> {
  const { url, schema, drop } = await emptySchema();

  async function openProcess(): Promise<Process> {
    const driver = await postgres(url, { schema }).open();
    const storesOn = (either: SqlDriver) => openStores(either, { keyFingerprint: "fingerprint" });
    const openSecond = async () => {
      const second = await openProcess();
      onTestFinished(() => second.driver.close());
      return second;
    };
    return { driver, stores: await storesOn(driver), storesOn, openSecond };
  }

  return { process: await openProcess(), drop };
}
