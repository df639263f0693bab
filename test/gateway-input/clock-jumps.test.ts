// Clocks that jump: forwards by hours and days, and back. What runs goes on, what is due is done once, and nothing is lost.
import { describe, expect, it } from "vitest";
import type { Clock } from "../../src/backend/clock.ts";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import { scriptedPlanner } from "../../src/gateway/agent/planner/scripted-planner.ts";
import { heldClock } from "../../src/testing/held-clock.ts";
import { eventually } from "../eventually.ts";
import { heldPlugin, permanently, plugin, toolPipeline } from "../gateway/gateway-world.ts";
import { serveGateway } from "../gateway-doors/served-gateway.ts";

const HOUR = 3_600_000;
const via = { via: "api" };

/** A clock that a test sets to whatever it likes. */
function anyClock(start: number): Clock & { set(time: number): Promise<void> } {
  const watchers = new Set<() => Promise<void>>();
  let now = start;
  return {
    now: () => now,
    watch(onMoved) {
      watchers.add(onMoved);
      return () => watchers.delete(onMoved);
    },
    async set(time) {
      now = time;
      await Promise.all([...watchers].map((onMoved) => onMoved()));
    },
  };
}

describe("a clock that jumps forwards", () => {
  it("by hours takes no lease from what runs, and the next job runs", async () => {
    const clock = heldClock();
    const held = heldPlugin("held");
    const served = await serveGateway({
      backend: sqlite(":memory:", { clock }),
      config: { plugins: { held: {} } },
      setup: { plugins: [held, plugin("good")] },
    });
    const { job_ids } = await served.gateway.call("held", "handle", { payload: {} }, via);
    const call = await held.next();
    await clock.advance(7 * HOUR);
    call.answer({ result: "done", state_updates: { a: 1 } });
    expect(await served.ended(job_ids[0] ?? "")).toMatchObject({ status: "succeeded", attempt: 1, result: "done" });
    expect(await served.run("good")).toMatchObject({ status: "succeeded" });
  });

  it("by days makes every retry due, each once, in the order of their creation", async () => {
    const clock = heldClock();
    const order: string[] = [];
    const flaky = plugin("flaky", (request) => {
      const name = String(request.event?.payload.name);
      order.push(name);
      if (order.filter((each) => each === name).length === 1) throw new Error("Not now.");
      return name;
    });
    const served = await serveGateway({
      backend: sqlite(":memory:", { clock }),
      config: { plugins: { flaky: { retry: { max_attempts: 3, backoff_base: "30s" } } } },
      setup: { plugins: [flaky] },
    });
    for (const name of ["a", "b", "c"]) await served.gateway.call("flaky", "handle", { payload: { name } }, via);
    await eventually(() => expect(order).toEqual(["a", "b", "c"]));
    await eventually(async () => expect((await served.gateway.status()).jobs.running).toBe(0));
    await clock.advance(3 * 24 * HOUR);
    await served.untilIdle();
    expect(order).toEqual(["a", "b", "c", "a", "b", "c"]);
  });

  // What was missed while no process was there is another matter.
  it.each(["skip", "run_once", "run_all"])(
    "over ten runs of a schedule queues one, also with catch_up: %s",
    async (catch_up) => {
      const clock = heldClock();
      const poller = plugin("poller", undefined, { commands: ["poll"] });
      const schedules: JsonMap[] = [{ every: "1h", catch_up, if_running: "queue" }];
      const served = await serveGateway({
        backend: sqlite(":memory:", { clock }),
        config: { plugins: { poller: { schedules, max_outstanding_polls: 100 } } },
        setup: { plugins: [poller] },
      });
      await eventually(() => expect(poller.requests).toHaveLength(1));
      await served.untilIdle();
      await clock.advance(11 * HOUR);
      await served.untilIdle();
      expect(poller.requests).toHaveLength(2);
    },
  );

  it("over many runs of a cron schedule queues one", async () => {
    const clock = heldClock();
    const poller = plugin("poller", undefined, { commands: ["poll"] });
    const served = await serveGateway({
      backend: sqlite(":memory:", { clock }),
      config: { plugins: { poller: { schedules: [{ cron: "*/5 * * * *" }] } } },
      setup: { plugins: [poller] },
    });
    await eventually(async () => expect(await served.gateway.schedules.list()).toHaveLength(1));
    await clock.advance(30 * 24 * HOUR);
    await served.untilIdle();
    expect(poller.requests).toHaveLength(1);
    const [schedule] = await served.gateway.schedules.list();
    expect((schedule?.next_run_at ?? 0) / 1_000).toBeGreaterThan(clock.now());
  });

  it("over the end of a key's window lets the event in again, and not before", async () => {
    const clock = heldClock();
    const served = await serveGateway({ backend: sqlite(":memory:", { clock }), setup: { plugins: [plugin("good")] } });
    const call = () => served.gateway.call("good", "handle", { payload: {}, dedupe_key: "k" }, via);
    const first = await call();
    await served.untilIdle();
    await clock.advance(23 * HOUR);
    expect(await call()).toEqual({ job_ids: [], duplicates: first.job_ids });
    await clock.advance(2 * HOUR);
    expect((await call()).job_ids).toHaveLength(1);
    await served.untilIdle();
  });

  it("by years ends every run whose tool has not answered, once", async () => {
    const clock = heldClock();
    const reader = heldPlugin("reader");
    const served = await serveGateway({
      backend: sqlite(":memory:", { clock }),
      config: {
        service: { max_workers: 4 },
        plugins: { "agentic-loop": { config: { allowed_plugins: ["reader"] } } },
        pipelines: [toolPipeline("reader") as JsonMap],
      },
      setup: { plugins: [reader], planner: scriptedPlanner([{ tool: "reader" }, { decision: "done", outcome: "x" }]) },
    });
    await served.gateway.runs.start({ goal: "g", run_id: "R1" }, via);
    const call = await reader.next();
    await clock.advance(3 * 365 * 24 * HOUR);
    await eventually(async () =>
      expect(await served.gateway.runs.get("R1")).toMatchObject({ status: "escalated", reason: "pending_timeout" }),
    );
    await clock.advance(HOUR);
    call.answer("too late");
    await served.untilIdle();
    expect(await served.gateway.runs.get("R1")).toMatchObject({ status: "escalated", reason: "pending_timeout" });
    const ends = (await served.gateway.events.read(0, 1_000)).filter(({ type }) => type === "agent.escalated");
    expect(ends).toHaveLength(1);
  });
});

describe("a clock that is set back", () => {
  it("by hours holds no job: those that were queued before it run first, then the others, each once", async () => {
    const start = Date.UTC(2030, 5, 1);
    const clock = anyClock(start);
    const held = heldPlugin("held");
    const order: unknown[] = [];
    const good = plugin("good", (request) => {
      order.push(request.event?.payload.n);
      return "ok";
    });
    const served = await serveGateway({
      backend: sqlite(":memory:", { clock }),
      config: { plugins: { held: {} } },
      setup: { plugins: [held, good] },
    });
    const { gateway } = served;
    const running = await gateway.call("held", "handle", { payload: {} }, via);
    const call = await held.next();
    const waiting = await gateway.call("good", "handle", { payload: { n: 1 } }, via);
    await clock.set(start - 5 * HOUR);
    const later = await gateway.call("good", "handle", { payload: { n: 2 } }, via);
    expect((await gateway.status()).oldest_due_ms).toBe(0);
    call.answer({ result: "done", state_updates: { a: 1 }, events: [] });
    await served.untilIdle();
    for (const { job_ids } of [running, waiting, later]) {
      expect(await gateway.jobs.get(job_ids[0] ?? "")).toMatchObject({ status: "succeeded", attempt: 1 });
    }
    expect(order).toEqual([1, 2]);
    const ids = (await gateway.events.read(0, 100)).map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((one, other) => one - other));
  });

  it("by hours holds a retry until its time comes, and lets the others pass", async () => {
    const start = Date.UTC(2030, 5, 1);
    const clock = anyClock(start);
    const flaky = plugin("flaky", (_, number) => {
      if (number === 0) throw new Error("Not now.");
      return "ok";
    });
    const served = await serveGateway({
      backend: sqlite(":memory:", { clock }),
      config: { plugins: { flaky: { retry: { backoff_base: "30s" } } } },
      setup: { plugins: [flaky, plugin("good")] },
    });
    const { gateway } = served;
    const { job_ids } = await gateway.call("flaky", "handle", { payload: {} }, via);
    await eventually(async () => expect((await gateway.jobs.get(job_ids[0] ?? "")).attempt).toBe(2));
    await clock.set(start - 5 * HOUR);
    const other = await gateway.call("good", "handle", { payload: {} }, via);
    await eventually(async () => expect((await gateway.jobs.get(other.job_ids[0] ?? "")).status).toBe("succeeded"));
    expect(await gateway.jobs.get(job_ids[0] ?? "")).toMatchObject({ status: "queued", attempt: 2 });
    await clock.set(start + HOUR);
    expect(await served.ended(job_ids[0] ?? "")).toMatchObject({ status: "succeeded", attempt: 2 });
  });

  it("by hours ends no run, whose waiting seems to begin in the future, and makes no schedule run twice", async () => {
    const start = Date.UTC(2030, 5, 1);
    const clock = anyClock(start);
    const reader = heldPlugin("reader");
    const poller = plugin("poller", undefined, { commands: ["poll"] });
    const served = await serveGateway({
      backend: sqlite(":memory:", { clock }),
      config: {
        service: { max_workers: 4 },
        plugins: {
          "agentic-loop": { config: { allowed_plugins: ["reader"] } },
          poller: { schedules: [{ every: "1h" }] },
        },
        pipelines: [toolPipeline("reader") as JsonMap],
      },
      setup: {
        plugins: [reader, poller],
        planner: scriptedPlanner([{ tool: "reader" }, { decision: "done", outcome: "x" }]),
      },
    });
    await served.gateway.runs.start({ goal: "g", run_id: "R1" }, via);
    const call = await reader.next();
    await eventually(() => expect(poller.requests).toHaveLength(1));
    await clock.set(start - 5 * HOUR);
    call.answer("read");
    await served.untilIdle();
    expect(await served.gateway.runs.get("R1")).toMatchObject({ status: "done" });
    expect(poller.requests).toHaveLength(1);
    await clock.set(start + 2 * HOUR);
    await served.untilIdle();
    expect(poller.requests).toHaveLength(2);
  });

  it.each([
    ["an interval", { every: "12h" }, 1],
    ["a cron expression", { cron: "0 12 * * *" }, 0],
    ["a while that it waits", { after: "12h" }, 0],
  ])("by years holds no schedule with %s: it runs by the right time", async (_what, when, atOnce) => {
    const [wrong, right] = [Date.UTC(2040, 5, 1), Date.UTC(2030, 5, 1)];
    const clock = anyClock(wrong);
    const poller = plugin("poller", undefined, { commands: ["poll"] });
    const served = await serveGateway({
      backend: sqlite(":memory:", { clock }),
      config: { plugins: { poller: { schedules: [when] } } },
      setup: { plugins: [poller] },
    });
    await eventually(async () => expect(await served.gateway.schedules.list()).toHaveLength(1));
    await eventually(() => expect(poller.requests).toHaveLength(atOnce));
    await served.untilIdle();
    await clock.set(right);
    await served.untilIdle();
    expect(poller.requests).toHaveLength(atOnce);
    await clock.set(right + 13 * HOUR);
    await served.untilIdle();
    expect(poller.requests).toHaveLength(atOnce + 1);
  });

  it("by years keeps no circuit breaker open", async () => {
    const [wrong, right] = [Date.UTC(2040, 5, 1), Date.UTC(2030, 5, 1)];
    const clock = anyClock(wrong);
    const poller = plugin(
      "poller",
      (_, call) => {
        if (call === 0) throw permanently("It is broken.");
        return "ok";
      },
      { commands: ["poll"] },
    );
    const settings = { schedules: [{ every: "1m" }], circuit_breaker: { threshold: 1 } };
    const served = await serveGateway({
      backend: sqlite(":memory:", { clock }),
      config: { plugins: { poller: settings } },
      setup: { plugins: [poller] },
    });
    await eventually(async () => expect(await served.gateway.breakers.list()).toMatchObject([{ state: "open" }]));
    await clock.set(right);
    await clock.set(right + HOUR);
    await eventually(async () => expect(await served.gateway.breakers.list()).toMatchObject([{ state: "closed" }]));
    expect(poller.requests).toHaveLength(2);
  });

  it("by years after a cron schedule has run waits for its next match, and by a second for the one after that", async () => {
    const wrong = Date.UTC(2040, 5, 1);
    const clock = anyClock(wrong);
    const poller = plugin("poller", undefined, { commands: ["poll"] });
    const served = await serveGateway({
      backend: sqlite(":memory:", { clock }),
      config: { plugins: { poller: { schedules: [{ cron: "0 12 * * *" }] } } },
      setup: { plugins: [poller] },
    });
    const runsAt = async (time: number) => {
      await clock.set(time);
      await served.untilIdle();
      return poller.requests.length;
    };
    await eventually(async () => expect(await served.gateway.schedules.list()).toHaveLength(1));
    expect(await runsAt(wrong + 12 * HOUR)).toBe(1);
    expect(await runsAt(wrong + 12 * HOUR - 1_000)).toBe(1);
    expect(await runsAt(wrong + 12 * HOUR)).toBe(1);
    const right = Date.UTC(2030, 5, 1);
    expect(await runsAt(right)).toBe(1);
    expect(await runsAt(right + 12 * HOUR)).toBe(2);
  });
});
