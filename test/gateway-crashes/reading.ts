// A database as the checks read it: past every gateway, with the key that opens what is sealed.
import type { GatewayStores } from "../../src/backend/gateway/gateway-stores.ts";
import { createGatewayStores } from "../../src/backend/sql/gateway/gateway-stores.ts";
import type { Row } from "../../src/backend/sql-driver.ts";
import { isMap, type JsonMap } from "../../src/contracts/json.ts";
import { createSealedJson, type SealedJson } from "../../src/gateway/dispatch/commit/sealed-json.ts";
import { createSealing } from "../../src/threads/secrets/sealing.ts";
import { backendOf, type Database, SECRET_KEY } from "../survives-a-crash/database.ts";

export type StreamLine = { readonly id: number; readonly type: string; readonly data: JsonMap };

export type Reading = {
  readonly stores: GatewayStores;
  readonly sealed: SealedJson;
  rows(sql: string): Promise<readonly Row[]>;
  stream(): Promise<readonly StreamLine[]>;
  /** The state of a plugin; empty when it has none. */
  state(plugin: string): Promise<JsonMap>;
  /** The types of the events that a job has emitted. */
  emitted(jobId: string): Promise<readonly string[]>;
};

/** On SQLite no other process may have the file open meanwhile. */
export async function readDatabase<Value>(database: Database, read: (reading: Reading) => Promise<Value>) {
  const driver = await backendOf(database).open();
  const stores = createGatewayStores(driver);
  const sealed = createSealedJson(createSealing(Buffer.from(SECRET_KEY, "hex")));
  try {
    return await read({
      ...{ stores, sealed },
      rows: (sql) => driver.all(sql),

      async stream() {
        const entries = await stores.events.read({ after: 0, limit: 100_000 });
        return entries.map(({ id, type, data }) => ({ id, type, data: JSON.parse(data) as JsonMap }));
      },

      async state(plugin) {
        const stored = await stores.pluginState.get(plugin);
        return stored ? sealed.open("state", plugin, stored.sealed_state) : {};
      },

      async emitted(jobId) {
        const succeeded = (await stores.jobs.attempts(jobId)).find(({ status }) => status === "succeeded");
        if (!succeeded?.sealed_response) return [];
        const response: unknown = JSON.parse(sealed.openText("response", jobId, succeeded.sealed_response));
        const events: unknown = isMap(response) ? response.events : undefined;
        return Array.isArray(events) ? events.map(({ type }: { type: unknown }) => String(type)) : [];
      },
    });
  } finally {
    await driver.close();
  }
}
