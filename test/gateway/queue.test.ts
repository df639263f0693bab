// The queue: the order of its jobs, how many of them run at once, and which of them are dropped as duplicates.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CLAIMED_AT } from "../../src/backend/sql/gateway/claim-job.ts";
import type { Statement } from "../../src/backend/sql-driver.ts";
import type { BuiltInPlugin } from "../../src/gateway/plugins/resolve-plugins.ts";
import { heldClock } from "../../src/testing/held-clock.ts";
import { startProcess } from "../another-process.ts";
import { withDriver } from "../changed-driver.ts";
import { eachDatabase, onPostgres } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { pluginRoot, shell, writePlugin, writtenPids } from "../plugin-folders.ts";
import {
  api,
  eventPayload,
  heldPlugin,
  inShort,
  newFolder,
  openGateway,
  permanently,
  plugin,
  type TestGateway,
} from "./gateway-world.ts";

const ANSWER = `echo '{"status":"ok","result":"Well."}'`;
const isClaim = ({ sql }: Statement) => sql.startsWith("update gateway_jobs") && sql.includes("claims = claims + 1");
const PROGRAM = import.meta.resolve("./parallel-gateways.ts");

describe("jobs run in the order in which they were queued", () => {
  it("first in, first out, and one at a time unless the configuration says more", async () => {
    const order: unknown[] = [];
    const note = (name: string) =>
      plugin(name, (request) => {
        order.push(eventPayload(request).n);
        return "ok";
      });
    const { gateway, untilIdle } = await openGateway({ plugins: [note("one"), note("two")] });
    await gateway.pause("test");
    for (let n = 0; n < 6; n++) await gateway.call(n % 2 === 0 ? "one" : "two", "handle", { payload: { n } }, api);
    await gateway.resume();
    await untilIdle();
    expect(order).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("a retry keeps its place: once it is due, it goes before what was queued later", async () => {
    const clock = heldClock();
    const order: unknown[] = [];
    const flaky = plugin("flaky", (_, call) => {
      order.push(`flaky ${call}`);
      if (call === 0) throw new Error("Not yet.");
      return "ok";
    });
    const slow = heldPlugin("slow");
    const late = plugin("late", () => {
      order.push("late");
      return "ok";
    });
    const config = { plugins: { flaky: { retry: {} } } };
    const { gateway, untilIdle } = await openGateway({ plugins: [flaky, slow, late], config, clock });
    for (const name of ["flaky", "slow", "late"]) await gateway.call(name, "handle", { payload: {} }, api);
    const running = await slow.next();
    expect(order).toEqual(["flaky 0"]);
    await clock.advance(40_000);
    running.answer("ok");
    await untilIdle();
    expect(order).toEqual(["flaky 0", "flaky 1", "late"]);
  });

  it("what is not due yet holds up nothing behind it", async () => {
    const clock = heldClock();
    const flaky = plugin("flaky", () => {
      throw new Error("Not yet.");
    });
    const late = plugin("late");
    const config = { plugins: { flaky: { retry: {} } } };
    const { gateway } = await openGateway({ plugins: [flaky, late], config, clock });
    const first = await gateway.call("flaky", "handle", { payload: {} }, api);
    const second = await gateway.call("late", "handle", { payload: {} }, api);
    await eventually(async () => expect((await gateway.jobs.get(second.job_ids[0] ?? "")).status).toBe("succeeded"));
    expect(await gateway.jobs.get(first.job_ids[0] ?? "")).toMatchObject({ status: "queued", attempt: 2 });
  });

  it("none runs while the dispatcher is paused; those that were queued run once it goes on", async () => {
    const tool = plugin("tool");
    const { gateway, untilIdle } = await openGateway({ plugins: [tool] });
    expect(await gateway.pause("user:1")).toBe(true);
    await gateway.call("tool", "handle", { payload: {} }, api);
    expect(await gateway.status()).toMatchObject({ is_paused: true, queue_depth: 1 });
    expect(tool.requests).toEqual([]);
    expect(await gateway.resume()).toBe(true);
    await untilIdle();
    expect(tool.requests).toHaveLength(1);
  });
});

describe("parallelism", () => {
  it("is one for each plugin unless it may have more; others overtake a plugin that is full", async () => {
    const [wide, narrow] = [heldPlugin("wide"), heldPlugin("narrow")];
    const { gateway, untilIdle } = await openGateway({
      plugins: [wide, narrow],
      config: { service: { max_workers: 3 }, plugins: { wide: { parallelism: 2 } } },
    });
    for (const name of ["narrow", "narrow", "wide", "wide", "wide"]) {
      await gateway.call(name, "handle", { payload: {} }, api);
    }
    const [first, ...others] = [await narrow.next(), await wide.next(), await wide.next()];
    expect(inShort(await gateway.jobs.list({ statuses: ["queued"], limit: 9 })).toSorted()).toEqual([
      ...["narrow queued", "wide queued"],
    ]);
    first?.answer("ok");
    (await narrow.next()).answer("ok");
    for (const each of others) each.answer("ok");
    (await wide.next()).answer("ok");
    await untilIdle();
  });

  it("of an agent is one, whatever is configured", async () => {
    const config = { service: { max_workers: 4 }, plugins: { "agentic-loop": { parallelism: 4 } } };
    const { gateway } = await openGateway({ config });
    expect(gateway.plugins().find(({ name }) => name === "agentic-loop")?.parallelism).toBe(1);
    expect(gateway.warnings().map(({ message }) => message)).toContainEqual(expect.stringContaining("parallelism"));
  });
});

onPostgres((newWorld) => {
  it.each([
    ["a max_workers of 1", { service: { max_workers: 1 } }, ["a", "b", "c", "d"], 1],
    ["a max_workers of 2", { service: { max_workers: 2 } }, ["a", "b", "c", "d"], 2],
    ["a parallelism of 1", { service: { max_workers: 4 } }, ["a"], 1],
    ["a parallelism of 2", { service: { max_workers: 4 }, plugins: { a: { parallelism: 2 } } }, ["a"], 2],
  ])("%s holds for four runtimes on one database together", async (_what, config, names, limit) => {
    const world = await newWorld();
    let running = 0;
    let most = 0;
    const opened: TestGateway[] = [];
    const plugins = names.map((name) =>
      plugin(name, async () => {
        running++;
        most = Math.max(most, running);
        // As long as others need to see that there is more to do.
        for (const { gateway } of opened) await gateway.status();
        running--;
        return "ok";
      }),
    );
    for (let count = 0; count < 4; count++) opened.push(await openGateway({ plugins, config, world }));
    const calls = Array.from({ length: 16 }, (_, n) =>
      opened[n % 4]?.gateway.call(names[n % names.length] ?? "", "handle", { payload: { n } }, api),
    );
    await Promise.all(calls);
    await opened[0]?.untilIdle();
    expect(plugins.flatMap(({ requests }) => requests)).toHaveLength(16);
    expect(most).toBeLessThanOrEqual(limit);
  });
});

onPostgres((newWorld) => {
  it("a max_workers of 1 holds for four processes together, and each job is run once", async () => {
    const world = await newWorld();
    const root = pluginRoot();
    const began = join(newFolder(), "began");
    const names = ["one", "two", "three"];
    for (const name of names) writePlugin(root, name, { script: shell(`echo $$ >> ${began}`, ANSWER) });
    const config = { plugin_roots: [root] };
    const others = Array.from({ length: 4 }, () => startProcess(world, PROGRAM, { config }));
    for (const { says } of others) expect(await says()).toBe("ready");
    const { gateway, untilIdle } = await openGateway({ world, config, options: { runs: false } });
    for (let n = 0; n < 12; n++) await gateway.call(names[n % 3] ?? "", "handle", { payload: { n } }, api);
    await untilIdle();
    const jobs = (await gateway.jobs.list({ limit: 20 })).toReversed();
    expect(jobs.map(({ status, attempt }) => `${status} ${attempt}`)).toEqual(Array(12).fill("succeeded 1"));
    expect(writtenPids(began)).toHaveLength(12);
    for (const [index, { started_at }] of jobs.entries()) {
      expect(started_at).toBeGreaterThanOrEqual(jobs[index - 1]?.completed_at ?? 0);
    }
  });
});

eachDatabase((newWorld) => {
  describe("a job under a dedupe key", () => {
    const listening = (name: string, uses: string) => ({ name, on: "mail", steps: [{ uses }] });

    it("scenario 35: is one for each plugin that its event reaches", async () => {
      const { gateway, untilIdle } = await openGateway({
        world: await newWorld(),
        plugins: [plugin("one"), plugin("two")],
        config: { pipelines: [listening("first", "one"), listening("second", "two")] },
      });
      const { job_ids, duplicates } = await gateway.emit({ type: "mail", payload: {}, dedupe_key: "mail-1" }, api);
      expect([job_ids.length, duplicates]).toEqual([2, []]);
      await untilIdle();
      expect(inShort(await gateway.jobs.list({ limit: 9 })).toSorted()).toEqual(["one succeeded", "two succeeded"]);
    });

    it("has the same key whatever surrounds it, on every way in, and none where the key is blank", async () => {
      const { gateway, untilIdle } = await openGateway({
        ...{ world: await newWorld(), plugins: [plugin("tool")], config: { pipelines: [listening("first", "tool")] } },
      });
      await gateway.pause("test");
      for (const dedupe_key of ["", "  ", "  "]) {
        expect((await gateway.call("tool", "handle", { payload: {}, dedupe_key }, api)).duplicates).toEqual([]);
        expect((await gateway.emit({ type: "mail", payload: {}, dedupe_key }, api)).duplicates).toEqual([]);
      }
      const first = await gateway.call("tool", "handle", { payload: {}, dedupe_key: " mail-1\n" }, api);
      const again = { job_ids: [], duplicates: first.job_ids };
      expect(await gateway.call("tool", "handle", { payload: {}, dedupe_key: "mail-1" }, api)).toEqual(again);
      expect(await gateway.emit({ type: "mail", payload: {}, dedupe_key: "mail-1 " }, api)).toEqual(again);
      await gateway.resume();
      await untilIdle();
    });

    it("scenario 36: is dropped while its twin is outstanding, and queued again after that has failed", async () => {
      const tool = plugin("tool", (_, call) => {
        if (call === 0) throw permanently("no");
        return "ok";
      });
      const { gateway, untilIdle } = await openGateway({
        ...{ world: await newWorld(), plugins: [tool], config: { pipelines: [listening("first", "tool")] } },
      });
      const mail = { type: "mail", payload: {}, dedupe_key: "mail-1" };
      await gateway.pause("test");
      const first = await gateway.emit(mail, api);
      expect(await gateway.emit(mail, api)).toEqual({ job_ids: [], duplicates: first.job_ids });
      await gateway.resume();
      await untilIdle();
      expect((await gateway.emit(mail, api)).job_ids).toHaveLength(1);
      await untilIdle();
      // Now that it has succeeded, its window counts.
      expect((await gateway.emit(mail, api)).job_ids).toEqual([]);
      expect(inShort(await gateway.jobs.list({ limit: 9 })).toSorted()).toEqual([
        ...["tool failed plugin_retry_false", "tool succeeded"],
      ]);
    });

    it("of an event that a plugin emits is dropped too, and the others of the same answer are not", async () => {
      const events = [
        { type: "mail", payload: { n: 1 }, dedupe_key: " mail-1 " },
        { type: "mail", payload: { n: 2 } },
      ];
      const [source, tool] = [plugin("source", () => ({ events })), plugin("tool")];
      const { gateway, endedTree, logs } = await openGateway({
        ...{ world: await newWorld(), plugins: [source, tool], config: { pipelines: [listening("first", "tool")] } },
      });
      const known = await gateway.emit({ type: "mail", payload: {}, dedupe_key: "mail-1" }, api);
      await endedTree(known.job_ids[0]);
      const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
      expect(inShort(await endedTree(job_ids[0]))).toEqual(["source succeeded", "tool succeeded"]);
      expect(tool.requests.map(eventPayload)).toMatchObject([{}, { n: 2 }]);
      const dropped = logs.filter(({ message }) => message.includes("was not queued"));
      expect(dropped).toMatchObject([{ level: "info", message: expect.stringContaining(known.job_ids[0] ?? "") }]);
      expect(dropped[0]?.message).toContain('"mail-1"');
    });
  });

  it("a job that cannot run for a reason that was not planned for holds up no other, and runs once it can", async () => {
    const world = await newWorld();
    let isBroken = true;
    const good = plugin("good");
    const { run, ...rest } = plugin("odd");
    const odd: BuiltInPlugin = {
      ...rest,
      run(request, options) {
        if (isBroken) throw new Error("This never happens.");
        return run(request, options);
      },
    };
    const { gateway, endedTree } = await openGateway({ world, plugins: [odd, good] });
    const first = await gateway.call("odd", "handle", { payload: {} }, api);
    await gateway.call("good", "handle", { payload: {} }, api);
    await eventually(() => expect(good.requests).toHaveLength(1));
    isBroken = false;
    expect(inShort(await endedTree(first.job_ids[0]))).toEqual(["odd succeeded"]);
    expect(world.takeErrors()[0]).toMatchObject({ message: "This never happens." });
  });

  it("a job that was claimed is run, although the database is away when the next one is claimed", async () => {
    const world = await newWorld();
    const [one, other] = [plugin("one"), plugin("other")];
    let fate: "none is claimed" | "one is claimed" | "the next was refused" = "none is claimed";
    const backend = withDriver(world.backend, ({ batch }) => ({
      async batch(statements) {
        if (!statements.some(isClaim)) return await batch(statements);
        if (fate === "one is claimed") {
          fate = "the next was refused";
          throw new Error("The database is away.");
        }
        const outcome = await batch(statements);
        const hasClaimed = outcome.outcome === "committed" && outcome.rows[CLAIMED_AT]?.length === 1;
        if (hasClaimed && fate === "none is claimed") fate = "one is claimed";
        return outcome;
      },
    }));
    const { gateway, endedTree } = await openGateway({
      ...{ world, plugins: [one, other], options: { backend } },
      config: { service: { max_workers: 2 }, plugins: { one: { retry: { max_attempts: 1 } } } },
    });
    await gateway.pause("test");
    const { job_ids } = await gateway.call("one", "handle", { payload: {} }, api);
    await gateway.call("other", "handle", { payload: {} }, api);
    await gateway.resume();
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["one succeeded"]);
    expect([fate, one.requests.length, other.requests.length]).toEqual(["the next was refused", 1, 1]);
  });

  it("a job of a plugin whose state cannot be read fails, and the queue goes on", async () => {
    const world = await newWorld();
    const tool = plugin("tool", () => ({ state_updates: { a: 1 } }));
    const { gateway, untilIdle } = await openGateway({ world, plugins: [tool, plugin("other")] });
    await gateway.call("tool", "handle", { payload: {} }, api);
    await untilIdle();
    await world.sql("update gateway_plugin_state set sealed_state = 'unreadable'");
    for (const name of ["tool", "other"]) await gateway.call(name, "handle", { payload: {} }, api);
    await untilIdle();
    expect(inShort(await gateway.jobs.list({ limit: 9 })).toSorted()).toEqual([
      ...["other succeeded", "tool failed preflight", "tool succeeded"],
    ]);
    expect(tool.requests).toHaveLength(1);
  });

  it("a job that was queued stays queued when its process ends, and is run by the next", async () => {
    const world = await newWorld();
    const before = await openGateway({ world, plugins: [plugin("tool")] });
    await before.gateway.pause("test");
    const { job_ids } = await before.gateway.call("tool", "handle", { payload: { n: 1 } }, api);
    await before.holdfast.close();
    const tool = plugin("tool");
    const { gateway, endedTree } = await openGateway({ world, plugins: [tool] });
    await gateway.resume();
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["tool succeeded"]);
    expect(tool.requests.map(eventPayload)).toMatchObject([{ n: 1 }]);
  });

  it("a job that runs when its process ends is run again by the next, and costs no attempt", async () => {
    const world = await newWorld();
    const slow = heldPlugin("tool");
    const before = await openGateway({ world, plugins: [slow], options: { drainMs: 1 } });
    const { job_ids } = await before.gateway.call("tool", "handle", { payload: {} }, api);
    await slow.next();
    await before.holdfast.close();
    const tool = plugin("tool");
    const { endedTree } = await openGateway({ world, plugins: [tool] });
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["tool succeeded"]);
    expect(tool.requests).toHaveLength(1);
  });

  it("an agent's state survives: the next process takes up the run where it was", async () => {
    const world = await newWorld();
    const script = [{ tool: "tool" }, { tool: "tool" }, { decision: "done", outcome: "It is written." }] as const;
    const slow = heldPlugin("tool");
    const spec = { world, tools: ["tool"], script };
    const before = await openGateway({ ...spec, plugins: [slow], options: { drainMs: 1 } });
    const { job_ids } = await before.gateway.runs.start({ goal: "Twice.", run_id: "R1" }, api);
    (await slow.next()).answer("once");
    await slow.next();
    const pending = await before.gateway.runs.get("R1");
    expect(pending).toMatchObject({ status: "running", step: 2, completed_steps: [1] });
    await before.holdfast.close();

    const { gateway, endedTree } = await openGateway({ ...spec, plugins: [plugin("tool")] });
    const tree = await endedTree(job_ids[0]);
    expect(tree).toHaveLength(5);
    expect(await gateway.runs.get("R1")).toMatchObject({
      ...{ status: "done", completed_steps: [1, 2], created_at: pending.created_at, job_id: job_ids[0] },
    });
  });
});
