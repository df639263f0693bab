// The queue of bridges in SQL.
import * as bridgeClient from "../../contracts/channels/bridge-client.ts";
import * as bridgeItem from "../../contracts/channels/bridge-item.ts";
import { bridgeSlug } from "../../contracts/channels/connector-slug.ts";
import { stringList, wholeNumber } from "../../contracts/coerce.ts";
import { holdfastError } from "../../contracts/error.ts";
import { sealParsed } from "../../contracts/json.ts";
import type { BridgeStore } from "../bridge-store.ts";
import type { Scalar, SqlDriver } from "../sql-driver.ts";
import { attemptBatch } from "./attempt-batch.ts";
import * as rows from "./rows.ts";
import { storableText } from "./storable-text.ts";

export function createBridgeStore(driver: SqlDriver): BridgeStore {
  async function now(): Promise<Date> {
    const [row] = await driver.all("select now_us() as now");
    return new Date(rows.number(row?.now) / 1_000);
  }

  return {
    async register(given) {
      const client = bridgeClient.fromArray(given, await now());
      const sql = `insert into bridge_clients (client_id, client) values ($1, $2)
        on conflict (client_id) do update set client = excluded.client`;
      await attemptBatch(driver, [{ sql, params: [client.client_id, JSON.stringify(client)] }]);
      return client;
    },

    async client(clientId) {
      const [row] = await driver.all("select client from bridge_clients where client_id = $1", [bridgeSlug(clientId)]);
      return row && sealParsed(JSON.parse(rows.text(row.client)) as bridgeClient.BridgeClient);
    },

    async enqueue(given) {
      const item = bridgeItem.fromArray(given, await now());
      const { queue_id, client_id, session_id } = item;
      const sql = `insert into bridge_items (queue_id, client_id, session_id, item) values ($1, $2, $3, $4)
        on conflict (queue_id) do update set session_id = excluded.session_id, item = excluded.item
        where bridge_items.client_id = excluded.client_id`;
      const session = session_id === null ? null : storableText(session_id);
      const params = [storableText(queue_id), client_id, session, JSON.stringify(item)];
      const { outcome } = await attemptBatch(driver, [{ sql, params, expect: 1 }]);
      if (outcome === "committed") return item;
      throw holdfastError("bridge_item_foreign", `queue_id "${queue_id}" belongs to another client.`);
    },

    async pending(clientId, { limit, session_ids = [] } = {}) {
      const params: Scalar[] = [bridgeSlug(clientId), limit == null ? 25 : (wholeNumber(limit, 1) ?? 1)];
      const wanted = stringList(session_ids).map((id) => `$${params.push(storableText(id))}`);
      const filter = wanted.length > 0 ? `and session_id in (${wanted.join(", ")})` : "";
      const sql = `select item from bridge_items where client_id = $1 ${filter} order by position limit $2`;
      const found = await driver.all(sql, params);
      return found.map((row) => sealParsed(JSON.parse(rows.text(row.item)) as bridgeItem.BridgeItem));
    },

    async ack(clientId, queueIds) {
      const params: Scalar[] = [bridgeSlug(clientId)];
      const ids = stringList(queueIds).map((id) => `$${params.push(storableText(id))}`);
      if (ids.length === 0) return 0;
      // In one order, so that two who acknowledge the same items never wait for each other.
      const sql = `delete from bridge_items where position in (
          select position from bridge_items where client_id = $1 and queue_id in (${ids.join(", ")})
          order by position /*for update*/
        ) returning queue_id`;
      // When the answer got lost, those count that were left; nobody is told of an item that is still there.
      const done = await attemptBatch(driver, [{ sql, params }]);
      return done.outcome === "committed" ? (done.rows[0]?.length ?? 0) : 0;
    },
  };
}
