// Promise: what keeps the gateway from going on is found, in a sentence, with what to type about it.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { heldClock } from "../../src/testing/held-clock.ts";
import { sqliteWorld } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { api, heldPlugin, newFolder, openGateway, plugin, silentPlugin, type TestGateway } from "./gateway-world.ts";

const pipelines = [{ name: "mail", on: "mail", steps: [{ uses: "tool" }] }];
const mail = { type: "mail", payload: {} };

const found = async ({ holdfast }: Pick<TestGateway, "holdfast">) => {
  const { healthy, findings } = await holdfast.diagnose();
  return { healthy, findings: findings.map(({ cause, sentence, command }) => ({ cause, sentence, command })) };
};

describe("a gateway", () => {
  it("of which nothing is amiss is healthy, also when a job was cancelled", async () => {
    const tool = silentPlugin("tool");
    const world = await openGateway({ plugins: [tool], config: { pipelines } });
    const { job_ids } = await world.gateway.emit(mail, api);
    await eventually(() => expect(tool.requests).toHaveLength(1));
    await world.gateway.jobs.cancel(job_ids[0] ?? "", "user:1");
    await world.untilIdle();
    expect(await world.gateway.jobs.list({ limit: 9 })).toMatchObject([{ status: "dead", reason: "cancelled" }]);
    expect(await found(world)).toEqual({ healthy: true, findings: [] });
  });

  it("that is paused starts no job", async () => {
    const world = await openGateway({});
    await world.gateway.pause("user:7");
    expect(await found(world)).toEqual({
      healthy: false,
      findings: [
        {
          cause: "gateway_paused",
          sentence: expect.stringMatching(/^The gateway was paused by user:7 at 20\S+Z: no job is started\.$/),
          command: "holdfast gateway resume",
        },
      ],
    });
    await world.gateway.resume();
    expect(await found(world)).toEqual({ healthy: true, findings: [] });
  });

  it("has a circuit breaker that is open", async () => {
    const failing = plugin(
      "failing",
      () => {
        throw new Error("It is down.");
      },
      { commands: ["poll"] },
    );
    const schedules = [{ every: "1h" }];
    const settings = { retry: { max_attempts: 1 }, circuit_breaker: { threshold: 1, reset_after: "1h" }, schedules };
    const world = await openGateway({ plugins: [failing], config: { plugins: { failing: settings } } });
    await eventually(async () => expect(await world.gateway.breakers.list()).toMatchObject([{ state: "open" }]));
    expect(await found(world)).toEqual({
      healthy: false,
      findings: [
        {
          cause: "gateway_circuit_open",
          sentence: expect.stringMatching(
            /^The circuit breaker of failing\.poll is open after 1 failure, since 20\S+Z: /,
          ),
          command: "holdfast gateway jobs --plugin failing",
        },
      ],
    });
    await world.gateway.breakers.reset("failing", "poll");
    expect(await found(world)).toEqual({ healthy: true, findings: [] });
  });

  it("has dead jobs, whose workers died again and again; those that were cancelled are none", async () => {
    const world = await sqliteWorld();
    const parts = { world, plugins: [plugin("tool")], config: { pipelines }, options: { runs: false } };
    const opened = await openGateway(parts);
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.push(...(await opened.gateway.emit(mail, api)).job_ids);
    await opened.gateway.jobs.cancel(ids[2] ?? "", "user:1");
    const die = (id = "") =>
      world.sql(
        `update gateway_jobs set status = 'dead', reason = 'attempts_exhausted', due_at = null where id = '${id}'`,
      );
    await die(ids[0]);
    const one = await found(opened);
    expect(one).toMatchObject({
      ...{ healthy: false, findings: [{ cause: "gateway_jobs_dead", command: `holdfast gateway jobs ${ids[0]}` }] },
    });
    expect(one.findings[0]?.sentence).toMatch(/^The job \S+ of tool\.handle is dead: /);
    await die(ids[1]);
    const two = await found(opened);
    expect(two).toMatchObject({
      ...{ healthy: false, findings: [{ cause: "gateway_jobs_dead", command: "holdfast gateway jobs --status dead" }] },
    });
    expect(two.findings[0]?.sentence).toMatch(/^2 jobs are dead: /);
  });

  it("has a job that no process takes; one that waits behind others is only listed", async () => {
    const [clock, tool] = [heldClock(), heldPlugin("tool")];
    const parts = { clock, path: join(newFolder(), "gateway.db"), plugins: [tool], config: { pipelines } };
    const idle = await openGateway({ ...parts, options: { runs: false } });
    for (let count = 0; count < 2; count++) await idle.gateway.emit(mail, api);
    await clock.advance(9_000);
    expect(await found(idle)).toEqual({ healthy: true, findings: [] });
    await clock.advance(1_001);
    expect(await found(idle)).toEqual({
      healthy: false,
      findings: [
        {
          cause: "gateway_job_due",
          sentence: expect.stringMatching(/^A job has been due for 10 s, and none is started: /),
          command: "holdfast serve",
        },
      ],
    });
    await idle.holdfast.close();

    const running = await openGateway(parts);
    const first = await tool.next();
    const behind = {
      cause: "gateway_job_due",
      sentence: expect.stringMatching(/^The job that is due the longest has waited for 10 s behind others/),
      command: "holdfast gateway jobs --status queued",
    };
    expect(await found(running)).toEqual({ healthy: true, findings: [behind] });
    // While the gateway is paused, the job waits for that.
    await running.gateway.pause("test");
    expect((await found(running)).findings.map(({ cause }) => cause)).toEqual(["gateway_paused"]);
    first.answer("Done.");
    await eventually(async () => expect((await running.gateway.status()).jobs).toMatchObject({ running: 0 }));
    await running.holdfast.close();

    const again = await openGateway({ ...parts, options: { runs: false } });
    await again.gateway.resume();
    // A job was started a moment ago: this may be the moment between two of them.
    expect(await found(again)).toEqual({ healthy: true, findings: [behind] });
    await clock.advance(10_001);
    expect(await found(again)).toMatchObject({ healthy: false, findings: [{ cause: "gateway_job_due" }] });
  });
});
