// What channels remember, in SQL.
import * as inboundMessage from "../../contracts/channels/inbound-message.ts";
import * as sessionMap from "../../contracts/channels/session-map.ts";
import type { ChannelStore } from "../channel-store.ts";
import type { SqlDriver, Statement } from "../sql-driver.ts";
import { attemptBatch, COMMITTED } from "./attempt-batch.ts";
import * as rows from "./rows.ts";
import { storableText } from "./storable-text.ts";

const SECOND = 1_000_000;

export function createChannelStore(driver: SqlDriver): ChannelStore {
  const known = async (sql: string, params: readonly string[]) => (await driver.all(sql, params)).length > 0;

  const isSeen = (key: string) =>
    known("select 1 from inbound_messages where storage_key = $1 and expires_at > now_us()", [key]);

  return {
    async session(conversation) {
      const key = sessionMap.storageKey(conversation);
      const [row] = await driver.all("select session_id from channel_sessions where storage_key = $1", [key]);
      return rows.text(row?.session_id) || undefined;
    },

    async setSession(conversation, sessionId) {
      const sql = `insert into channel_sessions (storage_key, session_id, updated_at) values ($1, $2, now_us())
        on conflict (storage_key) do update set session_id = excluded.session_id, updated_at = excluded.updated_at`;
      await attemptBatch(driver, [{ sql, params: [sessionMap.storageKey(conversation), storableText(sessionId)] }]);
    },

    async deleteSession(conversation) {
      const params = [sessionMap.storageKey(conversation)];
      await attemptBatch(driver, [{ sql: "delete from channel_sessions where storage_key = $1", params }]);
    },

    async seen(provider, messageId) {
      const key = inboundMessage.storageKey(provider, messageId);
      return key !== null && (await isSeen(key));
    },

    async markSeen(provider, messageId, ttlSeconds) {
      const key = inboundMessage.storageKey(provider, messageId);
      const ttl = Math.trunc(ttlSeconds);
      if (key === null || !(ttl >= 1)) return;
      await attemptBatch(driver, [keep(key, ttl), sweep]);
    },

    async forget(provider, messageId) {
      const key = inboundMessage.storageKey(provider, messageId);
      if (key === null) return;
      await attemptBatch(driver, [{ sql: "delete from inbound_messages where storage_key = $1", params: [key] }]);
    },

    async claim(provider, messageId, ttlSeconds) {
      const key = inboundMessage.storageKey(provider, messageId);
      const ttl = Math.trunc(ttlSeconds);
      if (key === null) return true;
      if (!(ttl >= 1)) return !(await isSeen(key));
      const claimId = crypto.randomUUID();
      const take = keep(key, ttl, { claimId, unlessKnown: true });
      const { outcome } = await attemptBatch(driver, [take, sweep], async () => {
        const ours = "select 1 from inbound_messages where storage_key = $1 and claim_id = $2";
        return (await known(ours, [key, claimId])) ? COMMITTED : undefined;
      });
      return outcome === "committed";
    },
  };
}

function keep(key: string, ttlSeconds: number, { claimId = "", unlessKnown = false } = {}): Statement {
  const sql = `insert into inbound_messages (storage_key, claim_id, expires_at) values ($1, $2, now_us() + $3)
    on conflict (storage_key) do update set claim_id = excluded.claim_id, expires_at = excluded.expires_at
    ${unlessKnown ? "where inbound_messages.expires_at <= now_us()" : ""}`;
  return { sql, params: [key, claimId, ttlSeconds * SECOND], ...(unlessKnown && { expect: 1 }) };
}

/** A few of those that nobody needs to know any more: each message that comes makes up for more than itself. */
const sweep: Statement = {
  sql: `delete from inbound_messages where storage_key in (
      select storage_key from inbound_messages where expires_at <= (select now_us()) order by expires_at, storage_key
      limit 10 /*skip locked*/
    )`,
  params: [],
};
