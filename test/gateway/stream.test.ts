// The event stream of the gateway: what becomes of jobs and runs, in the order of the commits.
import { expect, it } from "vitest";
import { eachDatabase, onPostgres } from "../databases.ts";
import { api, openGateway, permanently, plugin, silentPlugin } from "./gateway-world.ts";

const done = { decision: "done", outcome: "It is written." } as const;

/** Reads so many entries behind an id. */
async function take(entries: AsyncIterable<{ readonly id: number; readonly type: string }>, count: number) {
  const taken: { id: number; type: string }[] = [];
  for await (const { id, type } of entries) {
    taken.push({ id, type });
    if (taken.length === count) break;
  }
  return taken;
}

eachDatabase((newWorld) => {
  it("is followed from any id on: what is stored first, then what is committed", async () => {
    const { gateway, untilIdle } = await openGateway({ world: await newWorld(), plugins: [plugin("tool")] });
    const call = () => gateway.call("tool", "handle", { payload: {} }, api);
    await call();
    await untilIdle();
    const following = take(gateway.events.follow(1), 5);
    await call();
    expect(await following).toEqual([
      { id: 2, type: "job.started" },
      { id: 3, type: "job.completed" },
      { id: 4, type: "job.enqueued" },
      { id: 5, type: "job.started" },
      { id: 6, type: "job.completed" },
    ]);
    const leaving = new AbortController();
    const left = take(gateway.events.follow(6, leaving.signal), 1);
    leaving.abort();
    expect(await left).toEqual([]);
  });

  it("gives rising ids, also over a restart", async () => {
    const world = await newWorld();
    const before = await openGateway({ world, plugins: [plugin("tool")] });
    await before.gateway.call("tool", "handle", { payload: {} }, api);
    await before.untilIdle();
    const last = await before.gateway.events.last();
    await before.holdfast.close();
    const { gateway, untilIdle } = await openGateway({ world, plugins: [plugin("tool")] });
    await gateway.call("tool", "handle", { payload: {} }, api);
    await untilIdle();
    expect((await gateway.events.read(last, 9)).map(({ id }) => id)).toEqual([1, 2, 3].map((more) => last + more));
  });
});

onPostgres((newWorld) => {
  it("shows every process what any of them commits", async () => {
    const world = await newWorld();
    const spec = { world, plugins: [plugin("tool")] };
    const [one, other] = [await openGateway(spec), await openGateway(spec)];
    const following = take(other.gateway.events.follow(0), 3);
    await one.gateway.call("tool", "handle", { payload: {} }, api);
    expect((await following).map(({ type }) => type)).toEqual(["job.enqueued", "job.started", "job.completed"]);
  });
});

it("says how each job came out, and never what it was about", async () => {
  const broken = plugin("broken", () => {
    throw permanently("a-private-matter");
  });
  const flaky = plugin("flaky", () => {
    throw new Error("a-private-matter");
  });
  const { gateway, untilIdle, stream } = await openGateway({
    plugins: [plugin("good", () => "a-private-matter"), broken, flaky, silentPlugin("slow")],
    config: {
      plugins: {
        flaky: { retry: { max_attempts: 2, backoff_base: "1ms" } },
        slow: { timeouts: { handle: "5ms" }, retry: { max_attempts: 1 } },
      },
    },
  });
  for (const name of ["good", "broken", "flaky", "slow"]) {
    await gateway.call(name, "handle", { payload: { text: "a-private-matter" } }, api);
  }
  await untilIdle();
  const entries = await stream();
  const typesOf = (name: string) => entries.filter(({ data }) => data.plugin === name).map(({ type }) => type);
  expect(typesOf("good")).toEqual(["job.enqueued", "job.started", "job.completed"]);
  expect(typesOf("broken")).toEqual(["job.enqueued", "job.started", "job.failed"]);
  const twice = ["job.started", "job.retry_scheduled", "job.started", "job.retry_exhausted", "job.failed"];
  expect(typesOf("flaky")).toEqual(["job.enqueued", ...twice]);
  expect(typesOf("slow")).toEqual(["job.enqueued", "job.started", "job.retry_exhausted", "job.timed_out"]);
  expect(JSON.stringify(entries)).not.toContain("a-private-matter");
});

it("says of a run: its start, then each step resumed before the next one is requested, then its end", async () => {
  const { run, stream } = await openGateway({
    ...{ plugins: [plugin("tool")], tools: ["tool"], script: [{ tool: "tool" }, { tool: "tool" }, done] },
  });
  await run();
  const entries = (await stream()).filter(({ type }) => type.startsWith("agent."));
  expect(entries.map(({ type, data }) => [type, data.step ?? data.steps_taken])).toEqual([
    ["agent.run_started", undefined],
    ["agent.step_requested", 1],
    ["agent.step_resumed", 1],
    ["agent.step_requested", 2],
    ["agent.step_resumed", 2],
    ["agent.completed", 2],
  ]);
});
