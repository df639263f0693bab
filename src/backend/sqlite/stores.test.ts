import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import { eraseEverything, type StoresInTest } from "../contract/stores-in-test.ts";
import { describeLeasedTable } from "../sql/leased-table.contract.ts";
import { describeMigrate } from "../sql/migrate.contract.ts";
import { openStores } from "../sql/open-stores.ts";
import { describeSignedDeletion } from "../sql/signed-deletion.contract.ts";
import type { SqlDriver } from "../sql-driver.ts";
import { describeStores } from "../stores.contract.ts";
import { sqlite } from "./sqlite.ts";

/** The tests share one file: making it anew would take longer than most of them. */
let shared: ReturnType<typeof openDriver> | undefined;

afterAll(async () => (await shared)?.remove());

describeStores("SQLite", open);
describeSignedDeletion("SQLite", open);
describeLeasedTable("SQLite", open);
describeMigrate("SQLite", async (count) => {
  const { driver, remove } = await openDriver();
  onTestFinished(remove);
  return Array(count).fill(driver);
});

async function open(): Promise<StoresInTest> {
  shared ??= openDriver();
  const { driver } = await shared;
  const storesOn = (either: SqlDriver) => openStores(either, { keyFingerprint: "fingerprint" });
  const stores = await storesOn(driver);
  await eraseEverything(driver);
  return { driver, stores, storesOn };
}

async function openDriver(): Promise<{ readonly driver: SqlDriver; remove(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-stores-"));
  const driver = await sqlite(join(folder, "holdfast.db")).open();
  return {
    driver,
    async remove() {
      await driver.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
