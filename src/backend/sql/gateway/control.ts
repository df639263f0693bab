// Pausing the dispatcher, in SQL.
import type { GatewayControlStore } from "../../gateway/gateway-control-store.ts";
import type { SqlDriver } from "../../sql-driver.ts";
import { attemptBatch, COMMITTED } from "../attempt-batch.ts";
import * as rows from "../rows.ts";
import { storableText } from "../storable-text.ts";
import { signalDue } from "./add-jobs.ts";

export function createGatewayControlStore(driver: SqlDriver): GatewayControlStore {
  async function currentPause() {
    const sql = `select gateway_pauses.id, paused_by, started_at from gateway_control
        join gateway_pauses on gateway_pauses.id = gateway_control.pause_id
      where gateway_control.id = 1`;
    const [row] = await driver.all(sql);
    return row && { id: rows.text(row.id), by: rows.text(row.paused_by), from: rows.number(row.started_at) };
  }

  async function end(pauseId: string): Promise<boolean> {
    const lift = "update gateway_control set pause_id = null where id = 1 and pause_id = $1";
    const keep = "update gateway_pauses set ended_at = now_us() where id = $1 and ended_at is null";
    const statements = [{ sql: lift, params: [pauseId], expect: 1 }, { sql: keep, params: [pauseId] }, signalDue];
    const { outcome } = await attemptBatch(driver, statements, async () => {
      const ended = "select 1 from gateway_pauses where id = $1 and ended_at is not null";
      return (await driver.all(ended, [pauseId])).length > 0 ? COMMITTED : undefined;
    });
    return outcome === "committed";
  }

  return {
    async pause(by) {
      const id = crypto.randomUUID();
      const pause = `insert into gateway_control (id, job_seq, fact_seq, stream_id, stamped_at, pause_id)
        values (1, 0, 0, 0, now_us(), $1)
        on conflict (id) do update set pause_id = excluded.pause_id where gateway_control.pause_id is null`;
      const keep = "insert into gateway_pauses (id, paused_by, started_at) values ($1, $2, now_us())";
      const paused = async () => {
        const found = await driver.all("select 1 from gateway_pauses where id = $1", [id]);
        return found.length > 0 ? COMMITTED : undefined;
      };
      const statements = [
        { sql: pause, params: [id], expect: 1 },
        { sql: keep, params: [id, storableText(by)] },
      ];
      const { outcome } = await attemptBatch(driver, statements, paused);
      return outcome === "committed";
    },

    async resume() {
      const pause = await currentPause();
      return pause !== undefined && (await end(pause.id));
    },

    async isPaused() {
      return (await currentPause()) !== undefined;
    },

    async currentPause() {
      const pause = await currentPause();
      return pause && { from: pause.from, by: pause.by };
    },

    async pausedSince(time) {
      const sql = `select coalesce(sum(
          coalesce(ended_at, (select now_us())) - case when started_at > $1 then started_at else $1 end
        ), 0) as paused
        from gateway_pauses where coalesce(ended_at, (select now_us())) > $1`;
      const [row] = await driver.all(sql, [time]);
      return rows.number(row?.paused ?? 0);
    },

    async now() {
      const [row] = await driver.all("select now_us() as now");
      return rows.number(row?.now);
    },
  };
}
