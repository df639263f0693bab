// A lease that is lost while its job runs: the processes of the job are killed, nothing of it is committed, and whoever has the
// lease then does it again.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eachDatabase, type World } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { heldPlugin } from "../gateway/gateway-world.ts";
import { newFolder, serveGateway } from "../gateway-doors/served-gateway.ts";
import { isRunning, shell, writtenPids } from "../plugin-folders.ts";

const HOUR_US = 3_600_000_000;

/** Another worker takes the job over, for an hour. */
const steal = (world: World, id: string) =>
  world.sql(`update gateway_jobs set lease_by = 'another worker', epoch = epoch + 1, claims = claims + 1,
    lease_until = lease_until + ${HOUR_US} where id = '${id}' and status = 'running' returning id`);

/** The other worker has died, and its lease is over. */
const giveUp = (world: World, id: string) =>
  world.sql(`update gateway_jobs set lease_until = 0 where id = '${id}' and lease_by = 'another worker' returning id`);

eachDatabase((newWorld) => {
  describe("a lease that another worker has taken", () => {
    it("ends the processes of the job, which are started again by whoever has the lease", async () => {
      const world = await newWorld();
      const folder = newFolder();
      const pids = join(folder, "pids");
      // The first time it hangs together with a child; afterwards it answers.
      const script = shell(
        `if [ -e ${pids} ]; then echo '{"status":"ok","result":"again","state_updates":{"runs":1},"events":[{"type":"x.y"}]}'; exit; fi`,
        "trap '' TERM",
        "sleep 1000 & child=$!",
        `echo "$$ $child" > ${pids}.new; mv ${pids}.new ${pids}`,
        "wait",
      );
      const served = await serveGateway({
        plugins: { slow: { script }, good: {} },
        config: {
          service: { max_workers: 2 },
          plugins: { slow: { retry: { max_attempts: 3 } } },
          pipelines: [{ name: "p", on: "x.y", steps: [{ uses: "good" }] }],
        },
        backend: world.backend,
        options: { leaseMs: 1_000 },
      });
      const { gateway } = served;
      const { job_ids } = await gateway.call("slow", "handle", { payload: {} }, { via: "api" });
      const id = job_ids[0] ?? "";
      const running = await eventually(() => {
        const written = existsSync(pids) ? writtenPids(pids) : [];
        expect(written).toHaveLength(2);
        return written;
      });
      expect(await steal(world, id)).toHaveLength(1);
      await eventually(() => expect(running.filter(isRunning)).toEqual([]));
      // Nothing of it was committed, and another job runs meanwhile.
      expect(await gateway.jobs.get(id)).toMatchObject({ status: "running", attempt: 1 });
      expect((await gateway.jobs.details(id)).attempts).toEqual([]);
      const good = await gateway.call("good", "handle", { payload: {} }, { via: "api" });
      await eventually(async () => expect((await gateway.jobs.get(good.job_ids[0] ?? "")).status).toBe("succeeded"));
      expect(await giveUp(world, id)).toHaveLength(1);
      await gateway.resume();
      expect(await served.ended(id)).toMatchObject({ status: "succeeded", result: "again", attempt: 2 });
      const { attempts } = await gateway.jobs.details(id);
      expect(attempts.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
        [1, "orphaned"],
        [2, "succeeded"],
      ]);
      expect(await gateway.jobs.tree(id)).toHaveLength(2);
    });

    it("makes the answer that comes too late worth nothing: no state, no events, no end", async () => {
      const world = await newWorld();
      const held = heldPlugin("held");
      const served = await serveGateway({
        plugins: { good: {} },
        config: {
          service: { max_workers: 2 },
          plugins: { held: { retry: { max_attempts: 3 } } },
          pipelines: [{ name: "p", on: "x.y", steps: [{ uses: "good" }] }],
        },
        setup: { plugins: [held] },
        backend: world.backend,
      });
      const { gateway } = served;
      const { job_ids } = await gateway.call("held", "handle", { payload: {} }, { via: "api" });
      const id = job_ids[0] ?? "";
      const first = await held.next();
      await steal(world, id);
      first.answer({ result: "too late", state_updates: { by: "first" }, events: [{ type: "x.y", payload: {} }] });
      const behind = await gateway.call("good", "handle", { payload: {} }, { via: "api" });
      await eventually(async () => expect((await gateway.jobs.get(behind.job_ids[0] ?? "")).status).toBe("succeeded"));
      expect(await gateway.jobs.get(id)).toMatchObject({ status: "running", attempt: 1 });
      expect(await gateway.jobs.tree(id)).toHaveLength(1);
      expect(await world.sql("select plugin from gateway_plugin_state")).toEqual([]);
      await giveUp(world, id);
      await gateway.resume();
      const second = await held.next();
      expect(second.request).toMatchObject({ job_id: id, state: {} });
      second.answer({ result: "in time", state_updates: { by: "second" }, events: [{ type: "x.y", payload: {} }] });
      expect(await served.ended(id)).toMatchObject({ status: "succeeded", result: "in time", attempt: 2 });
      expect(await gateway.jobs.tree(id)).toHaveLength(2);
    });
  });
});
