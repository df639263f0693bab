import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { StoresInTest } from "../contract/stores-in-test.ts";
import { describeMigrate } from "../sql/migrate.contract.ts";
import { openStores } from "../sql/open-stores.ts";
import { describeSignedDeletion } from "../sql/signed-deletion.contract.ts";
import type { SqlDriver } from "../sql-driver.ts";
import { describeStores } from "../stores.contract.ts";
import { sqlite } from "./sqlite.ts";

describeStores("SQLite", open);
describeSignedDeletion("SQLite", open);
describeMigrate("SQLite", async (count) => Array(count).fill(await openDriver()));

async function open(): Promise<StoresInTest> {
  const driver = await openDriver();
  const storesOn = (either: SqlDriver) => openStores(either, { keyFingerprint: "fingerprint" });
  return { driver, stores: await storesOn(driver), storesOn };
}

async function openDriver(): Promise<SqlDriver> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-stores-"));
  const driver = await sqlite(join(folder, "holdfast.db")).open();
  onTestFinished(async () => {
    await driver.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return driver;
}
