// A process that is cut off from the database while it runs a job: what runs there is ended when another process has the job, or
// may have it, so that it never goes on beside its successor.
import { expect, it, onTestFinished } from "vitest";
import { postgres } from "../../src/backend/postgres/postgres.ts";
import { withDriver } from "../changed-driver.ts";
import { onPostgres, type World } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { api, heldPlugin, openGateway } from "../gateway/gateway-world.ts";
import { query } from "../postgres.ts";

const AN_HOUR_MS = 3_600_000;

async function leaseUntil(world: World): Promise<number> {
  const [row] = await world.sql("select lease_until from gateway_jobs");
  return Number(row?.lease_until);
}

onPostgres((newWorld) => {
  it("ends what it runs by its own clock, when its lease is about to run out", async () => {
    const world = await newWorld();
    let away: Promise<void> | undefined;
    // Nothing arrives any more, and nothing says so.
    const backend = withDriver(world.backend, ({ all, batch }) => ({
      async all(sql, params) {
        await away;
        return await all(sql, params);
      },
      async batch(statements) {
        await away;
        return await batch(statements);
      },
    }));
    const [slow, tool] = [heldPlugin("tool"), heldPlugin("tool")];
    const first = await openGateway({ world, plugins: [slow], options: { backend, leaseMs: 1_000 } });
    const { job_ids } = await first.gateway.call("tool", "handle", { payload: {} }, api);
    const cut = await slow.next();
    const { promise, resolve } = Promise.withResolvers<void>();
    onTestFinished(() => resolve());
    away = promise;

    const second = await openGateway({ world, plugins: [tool], options: { pollMs: 50 } });
    const successor = await tool.next();
    await eventually(() => expect(cut.signal.aborted).toBe(true));
    successor.answer("ok");
    expect(await second.endedTree(job_ids[0])).toMatchObject([{ status: "succeeded", attempt: 2 }]);
    expect(successor.signal.aborted).toBe(false);

    away = undefined;
    resolve();
    expect(first.logs).toContainEqual(
      expect.objectContaining({ level: "warn", id: job_ids[0], message: expect.stringContaining("lease") }),
    );
  });

  it("looks at its leases as soon as it is connected again, and ends what another process has taken", async () => {
    const world = await newWorld();
    if (!("url" in world.address)) throw new Error("This is about PostgreSQL.");
    const { url, schema } = world.address;
    const name = `cut off ${crypto.randomUUID()}`;
    const named = new URL(url);
    named.searchParams.set("application_name", name);
    const [slow, tool] = [heldPlugin("tool"), heldPlugin("tool")];
    const first = await openGateway({
      ...{ world, plugins: [slow] },
      options: { backend: postgres(named.href, { schema }), leaseMs: AN_HOUR_MS },
    });
    const { job_ids } = await first.gateway.call("tool", "handle", { payload: {} }, api);
    const cut = await slow.next();
    // Its next renewal would be due in a quarter of an hour.
    const claimed = await leaseUntil(world);
    await eventually(async () => expect(await leaseUntil(world)).toBeGreaterThan(claimed));

    // This one finds that the session of the first is not held any more.
    const blind = withDriver(world.backend, () => ({ isSessionHeld: async () => false }));
    const second = await openGateway({ world, plugins: [tool], options: { backend: blind } });
    const successor = await tool.next();
    const connections = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1";
    await query(url, connections, [name]);
    await eventually(() => expect(cut.signal.aborted).toBe(true));
    successor.answer("ok");
    expect(await second.endedTree(job_ids[0])).toMatchObject([{ status: "succeeded", attempt: 2 }]);
  });
});
