// What duplicates cost: counted in the batches with which jobs are committed, and in what these batches hold.
import { expect, it } from "vitest";
import { withDriver } from "../../../../test/changed-driver.ts";
import { eachDatabase } from "../../../../test/databases.ts";
import { eventually } from "../../../../test/eventually.ts";
import { api, eventPayload, inShort, openGateway, plugin } from "../../../../test/gateway/gateway-world.ts";
import type { Backend, Statement } from "../../../backend/sql-driver.ts";

const listening = { name: "parts", on: "part", steps: [{ uses: "tool" }] };
const part = (n: number, more: object = {}) => ({ type: "part", payload: { n }, dedupe_key: `part ${n}`, ...more });
const parts = (count: number) => Array.from({ length: count }, (_, n) => part(n));

type Committing = {
  readonly backend: Backend;
  /** The batches so far that committed a job. */
  readonly commits: (readonly Statement[])[];
  /** Called before the next of them. */
  before: (() => Promise<void>) | undefined;
};

/** Sees every batch that commits a job. */
function committing(backend: Backend): Committing {
  const commits: (readonly Statement[])[] = [];
  const self: Committing = {
    commits,
    before: undefined,
    backend: withDriver(backend, ({ batch }) => ({
      async batch(statements) {
        if (!statements[0]?.sql.startsWith("update gateway_jobs set status = $4")) return await batch(statements);
        const { before } = self;
        self.before = undefined;
        await before?.();
        commits.push(statements);
        return await batch(statements);
      },
    })),
  };
  return self;
}

/** The sealed payloads that a batch stores, by the ids of their jobs. */
function payloadsIn(batch: readonly Statement[] | undefined): ReadonlyMap<unknown, unknown> {
  const inserts = (batch ?? []).filter(({ sql }) => sql.startsWith("insert into gateway_payloads"));
  return new Map(inserts.map(({ params: [id, sealed] }) => [id, sealed]));
}

eachDatabase((newWorld) => {
  it.each([3, 120])("a poll of which %i events are known is committed at once, with what is new", async (count) => {
    const world = await newWorld();
    const { backend, commits } = committing(world.backend);
    let events = parts(count);
    const [source, tool] = [plugin("source", () => ({ events })), plugin("tool")];
    const { gateway, endedTree, logs } = await openGateway({
      ...{ world, plugins: [source, tool], options: { backend }, config: { pipelines: [listening] } },
    });
    const poll = async () => {
      const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
      return await endedTree(job_ids[0]);
    };
    expect(await poll()).toHaveLength(1 + count);
    commits.length = 0;
    events = [...parts(count), part(count)];
    expect(inShort(await poll())).toEqual(["source succeeded", "tool succeeded"]);
    expect(commits.map((batch) => payloadsIn(batch).size)).toEqual([1, 0]);
    expect(logs.filter(({ message }) => message.includes("was not queued"))).toHaveLength(count);
    expect(eventPayload(tool.requests.at(-1))).toMatchObject({ n: count });
  });

  it("jobs that become duplicates while their commit is made are left out together, and none is sealed twice", async () => {
    const world = await newWorld();
    const seen = committing(world.backend);
    const [source, tool] = [plugin("source", () => ({ events: parts(30) })), plugin("tool")];
    const { gateway, endedTree } = await openGateway({
      ...{ world, plugins: [source, tool], options: { backend: seen.backend }, config: { pipelines: [listening] } },
    });
    seen.before = async () => {
      for (const event of parts(20)) await gateway.emit(event, api);
    };
    const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
    expect(await endedTree(job_ids[0])).toHaveLength(1 + 10);
    const [refused, committed, next] = seen.commits.map(payloadsIn);
    expect([refused?.size, committed?.size, next?.size]).toEqual([30, 10, 0]);
    expect([...(committed ?? [])].filter(([id, sealed]) => refused?.get(id) !== sealed)).toEqual([]);
  });

  it("requests of an agent are answered where a job of their key has ended, before or while their commit is made", async () => {
    const world = await newWorld();
    const seen = committing(world.backend);
    const request = (step: number) => ({
      ...{ type: "agentic.tool_request.tool", dedupe_key: `part ${step}` },
      payload: { run_id: "R1", step, tool: "tool" },
    });
    const agent = plugin("asking", (_, call) => ({ events: call === 0 ? [1, 2, 3, 4].map(request) : [] }));
    const taking = { name: "requests", on: "agentic.tool_request.tool", steps: [{ uses: "tool" }] };
    const { gateway, endedTree, logs } = await openGateway({
      ...{ world, plugins: [agent, plugin("tool")], options: { backend: seen.backend } },
      config: { service: { max_workers: 2 }, plugins: { asking: { agent: true } }, pipelines: [listening, taking] },
    });
    const emit = async (n: number) => {
      const { job_ids } = await gateway.emit(part(n), api);
      await eventually(async () => expect((await gateway.jobs.get(job_ids[0] ?? ""))?.status).toBe("succeeded"));
    };
    await emit(1);
    await emit(2);
    seen.before = () => emit(3);
    const { job_ids } = await gateway.call("asking", "handle", { payload: {} }, api);
    const answers = Array(3).fill("asking succeeded");
    expect(inShort(await endedTree(job_ids[0])).toSorted()).toEqual([
      ...["asking succeeded", ...answers, "tool succeeded"],
    ]);
    const asked = agent.requests.slice(1).map((each) => eventPayload(each));
    expect(asked.toSorted((one, other) => Number(one?.step) - Number(other?.step))).toMatchObject(
      [1, 2, 3].map((step) => ({ run_id: "R1", step, reason: "request_dropped", permanent: true })),
    );
    const [refused, committed, ...more] = seen.commits.map(payloadsIn).filter(({ size }) => size > 0);
    expect([refused?.size, committed?.size, more.length]).toEqual([4, 4, 0]);
    const anew = [...(committed ?? [])].filter(([id]) => !refused?.has(id));
    expect(anew).toHaveLength(1);
    expect([...(committed ?? [])].filter(([id, sealed]) => refused?.get(id) === sealed)).toHaveLength(3);
    expect(logs.filter(({ message }) => message.includes("was not queued"))).toHaveLength(3);
  });

  it("known events do not count against the limit of the tree, and what remains does before anything is sealed", async () => {
    const world = await newWorld();
    const { backend, commits } = committing(world.backend);
    let events = parts(4);
    const [source, tool] = [plugin("source", () => ({ events })), plugin("tool")];
    const { gateway, endedTree } = await openGateway({
      ...{ world, plugins: [source, tool], options: { backend } },
      config: { service: { max_tree_jobs: 5 }, pipelines: [listening] },
    });
    const poll = async () => {
      const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
      return inShort(await endedTree(job_ids[0]));
    };
    expect(await poll()).toEqual(["source succeeded", ...Array(4).fill("tool succeeded")]);
    events = parts(8);
    expect(await poll()).toEqual(["source succeeded", ...Array(4).fill("tool succeeded")]);
    commits.length = 0;
    events = parts(200);
    expect(await poll()).toEqual(["source failed apply_failed"]);
    expect(commits.map((batch) => payloadsIn(batch).size)).toEqual([0]);
  });

  it("an event that comes several times in one answer, with one id, reaches each step once", async () => {
    const world = await newWorld();
    const { backend, commits } = committing(world.backend);
    const same = (n: number) => ({ type: "part", payload: { n }, event_id: "same" });
    const source = plugin("source", () => ({ events: [1, 2, 3].map(same) }));
    const tool = plugin("tool");
    const { gateway, endedTree, logs, stream } = await openGateway({
      ...{ world, plugins: [source, tool], options: { backend }, config: { pipelines: [listening] } },
    });
    const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["source succeeded", "tool succeeded"]);
    expect(tool.requests.map(eventPayload)).toMatchObject([{ n: 1 }]);
    expect(commits).toHaveLength(2);
    expect(logs).toMatchObject(Array(2).fill({ level: "warn", message: expect.stringContaining('"same"') }));
    const queued = (await stream()).filter(({ type, data }) => type === "job.enqueued" && data.plugin === "tool");
    expect(queued).toHaveLength(1);
  });
});
