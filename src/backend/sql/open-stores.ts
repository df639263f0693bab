// The stores on a database: migrated, and tied to the key that its values are sealed with.
import { holdfastError } from "../../contracts/error.ts";
import type { SqlDriver } from "../sql-driver.ts";
import type { Stores } from "../stores.ts";
import { attemptBatch } from "./attempt-batch.ts";
import { createBudgetStore } from "./budgets.ts";
import { createEngine } from "./engine.ts";
import { createFileStore } from "./files.ts";
import { createInbox } from "./inbox.ts";
import { createLiveTextStore } from "./live-text.ts";
import { migrate } from "./migrate.ts";
import { createRequestStore } from "./requests.ts";
import { createStateStore } from "./state.ts";
import { createThreadStore } from "./threads.ts";
import { createWriteStore } from "./write-store.ts";

const FINGERPRINT = "secret_key_fingerprint";

/** True when values were sealed in this database before, so that a new key would not do. */
export async function knowsKey(driver: SqlDriver): Promise<boolean> {
  await migrate(driver);
  const [known] = await driver.all("select value from meta where name = $1", [FINGERPRINT]);
  return known !== undefined;
}

export async function openStores(driver: SqlDriver, { keyFingerprint }: { keyFingerprint: string }): Promise<Stores> {
  await migrate(driver);
  await checkKey(driver, keyFingerprint);
  return {
    threads: createThreadStore(driver),
    inbox: createInbox(driver),
    requests: createRequestStore(driver),
    engine: createEngine(driver),
    liveText: createLiveTextStore(driver),
    budgets: createBudgetStore(driver),
    files: createFileStore(driver),
    state: createStateStore(driver),
    writes: createWriteStore(driver),
  };
}

/** Another key could not open what was sealed with this one: that is noticed now, not in the middle of a run. */
async function checkKey(driver: SqlDriver, fingerprint: string): Promise<void> {
  const sql = "insert into meta (name, value) values ($1, $2) on conflict (name) do nothing";
  await attemptBatch(driver, [{ sql, params: [FINGERPRINT, fingerprint] }]);
  const [known] = await driver.all("select value from meta where name = $1", [FINGERPRINT]);
  if (known?.value === fingerprint) return;
  throw holdfastError("secret_key_mismatch", "The values in this database were sealed with another key.");
}
