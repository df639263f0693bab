// What is stored of a person: sealed while it is there, and gone once it was erased.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eachDatabase } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { eventPayload, inShort, openGateway, permanently, plugin, silentPlugin } from "./gateway-world.ts";

const ada = { via: "api", user_id: "user:1" };
const bob = { via: "api", user_id: "user:2" };
const SECRET = "a-private-matter-of-ada";

/** Answers with what it is shown, in every way in which a plugin can say something. */
const mirror = () =>
  plugin("mirror", (request) => {
    const { text, fails } = eventPayload(request);
    if (fails === true) throw permanently(String(text));
    return {
      result: String(text),
      state_updates: { text: String(text) },
      events: [{ type: "said", payload: { text: String(text) } }],
    };
  });
const pipelines = [
  {
    name: "mail",
    on: "mail",
    steps: [
      { uses: "mirror", baggage: { text: "payload.text" } },
      { id: "again", uses: "mirror" },
    ],
  },
];

eachDatabase((newWorld) => {
  it("payloads, contexts, answers, errors and states are sealed in the database", async () => {
    const world = await newWorld();
    const { gateway, untilIdle } = await openGateway({ world, plugins: [mirror()], config: { pipelines } });
    for (const fails of [false, true]) {
      await gateway.emit({ type: "mail", payload: { text: SECRET, fails }, dedupe_key: SECRET }, ada);
      await untilIdle();
    }
    await gateway.emit({ type: "mail", payload: { text: SECRET, fails: true } }, ada);
    await untilIdle();
    const jobs = await gateway.jobs.list({ limit: 9 });
    expect(inShort(jobs).toSorted()).toEqual([
      "mirror failed plugin_retry_false",
      "mirror succeeded",
      "mirror succeeded",
    ]);
    expect(JSON.stringify(jobs)).toContain(SECRET);
    expect(await world.everything()).not.toContain(SECRET);
  });

  it("erasing a person takes what was said in their jobs, and leaves the jobs and those of others", async () => {
    const { gateway, untilIdle, stream } = await openGateway({
      ...{ world: await newWorld(), plugins: [mirror()], config: { pipelines } },
    });
    const own = await gateway.emit({ type: "mail", payload: { text: SECRET } }, ada);
    const failed = await gateway.emit({ type: "mail", payload: { text: SECRET, fails: true } }, ada);
    const other = await gateway.emit({ type: "mail", payload: { text: "Bob's" } }, bob);
    await untilIdle();
    expect(await gateway.eraseUser("user:1")).toBe(3);
    for (const id of [...own.job_ids, ...failed.job_ids]) {
      for (const { id: each } of await gateway.jobs.tree(id)) {
        expect(await gateway.jobs.get(each)).toMatchObject({ payload: null, result: null, last_error: null });
        const { attempts } = await gateway.jobs.details(each);
        expect(attempts).toMatchObject([{ response: null, stderr: null, error: null }]);
      }
    }
    expect(await gateway.jobs.get(other.job_ids[0] ?? "")).toMatchObject({
      payload: { payload: { text: "Bob's" } },
      result: "Bob's",
    });
    const data = (await stream()).filter(({ data: each }) => Object.keys(each).length === 0);
    expect(data.length).toBeGreaterThan(0);
  });

  it("a person without a type is refused: what was recorded for that person would not be found", async () => {
    const tool = mirror();
    const { gateway } = await openGateway({ world: await newWorld(), plugins: [tool], config: { pipelines } });
    const refused = { code: "invalid_argument", message: expect.stringContaining("user:7") };
    for (const id of ["1", "", "user:", ":1", "user", 1, null, undefined]) {
      await expect(gateway.eraseUser(id as string), JSON.stringify(id)).rejects.toMatchObject(refused);
    }
    const by = { via: "shop", user_id: "1" };
    const payload = { text: SECRET };
    await expect(gateway.emit({ type: "mail", payload }, by)).rejects.toMatchObject(refused);
    await expect(gateway.call("mirror", "handle", { payload }, by)).rejects.toMatchObject(refused);
    await expect(gateway.runPipeline("mail", { payload }, by)).rejects.toMatchObject(refused);
    await expect(gateway.runs.start({ goal: SECRET }, by)).rejects.toMatchObject(refused);
    expect(await gateway.jobs.list({ limit: 9 })).toEqual([]);
  });

  it("erasing a person takes their jobs also while the state of an agent cannot be read, and says that it cannot", async () => {
    const world = await newWorld();
    const { gateway, untilIdle } = await openGateway({ world, plugins: [mirror()], config: { pipelines } });
    const own = await gateway.emit({ type: "mail", payload: { text: SECRET } }, ada);
    await untilIdle();
    const state = "plugin, sealed_state, sealed_owners, revision, updated_at";
    await world.sql(`insert into gateway_plugin_state (${state}) values ('foreign', 'x', 'x', 1, 0)`);
    await expect(gateway.eraseUser("user:1")).rejects.toMatchObject({ code: "secret_key_mismatch" });
    expect(await gateway.jobs.get(own.job_ids[0] ?? "")).toMatchObject({ payload: null, result: null });
  });

  it("a job whose payload was erased before it ran fails, and is not executed", async () => {
    const tool = mirror();
    const { gateway, endedTree } = await openGateway({
      world: await newWorld(),
      plugins: [tool],
      config: { pipelines },
    });
    await gateway.pause("test");
    const { job_ids } = await gateway.emit({ type: "mail", payload: { text: SECRET } }, ada);
    expect(await gateway.eraseUser("user:1")).toBe(1);
    await gateway.resume();
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["mirror failed preflight"]);
    expect(tool.requests).toEqual([]);
  });

  it("the agent forgets the runs of a person, with their files", async () => {
    const { gateway, untilIdle, workspaceRoot } = await openGateway({
      ...{ world: await newWorld(), plugins: [plugin("tool")], tools: ["tool"] },
      script: [{ tool: "tool" }, { decision: "done", outcome: "It is written." }],
    });
    const own = await gateway.runs.start({ goal: SECRET, run_id: "R1" }, ada);
    const other = await gateway.runs.start({ goal: "Bob's", run_id: "R2" }, bob);
    await untilIdle();
    await gateway.eraseUser("user:1");
    expect((await gateway.runs.list()).map(({ run_id }) => run_id)).toEqual(["R2"]);
    const folders = [own, other].map(({ job_ids }) => existsSync(join(workspaceRoot, job_ids[0] ?? "")));
    expect(folders).toEqual([false, true]);
  });

  it("the agent forgets them also when nothing of their jobs is left in the queue and in the log", async () => {
    const short = { dedupe_ttl: "1ms", job_queue_retention: "1ms", job_log_retention: "1ms", tick_interval: "100ms" };
    const { gateway, untilIdle, workspaceRoot } = await openGateway({
      ...{ world: await newWorld(), plugins: [plugin("tool")], tools: ["tool"], config: { service: short } },
      script: [{ tool: "tool" }, { decision: "done", outcome: "It is written." }],
    });
    const own = await gateway.runs.start({ goal: SECRET, run_id: "R1" }, ada);
    const other = await gateway.runs.start({ goal: "Bob's", run_id: "R2" }, bob);
    await untilIdle();
    await eventually(async () => expect(await gateway.jobs.log({ limit: 9 })).toEqual([]));
    expect(await gateway.eraseUser("user:1")).toBe(0);
    expect((await gateway.runs.list()).map(({ run_id }) => run_id)).toEqual(["R2"]);
    const folders = [own, other].map(({ job_ids }) => existsSync(join(workspaceRoot, job_ids[0] ?? "")));
    expect(folders).toEqual([false, true]);
    expect(JSON.stringify(await gateway.events.read(0, 100))).not.toContain("R1");
    expect(await gateway.eraseUser("user:2")).toBe(0);
    expect(await gateway.runs.list()).toEqual([]);
  });

  it("what the log keeps of a turn holds no run of another person", async () => {
    const { gateway, untilIdle } = await openGateway({
      ...{ world: await newWorld(), plugins: [plugin("tool")], tools: ["tool"] },
      script: [{ tool: "tool" }, { decision: "done", outcome: "It is written." }],
    });
    await gateway.runs.start({ goal: SECRET, run_id: "R1" }, ada);
    await untilIdle();
    const { job_ids } = await gateway.runs.start({ goal: "Bob's", run_id: "R2" }, bob);
    await untilIdle();
    const responses = async (id = "") => (await gateway.jobs.details(id)).attempts.map(({ response }) => response);
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "done", goal: SECRET });
    for (const { id } of await gateway.jobs.tree(job_ids[0] ?? ""))
      expect(String(await responses(id))).not.toContain("R1");
    expect(JSON.parse(String((await responses(job_ids[0]))[0]))).toMatchObject({
      ...{ status: "ok", state_updates: { runs: { R2: { goal: "Bob's" } } }, events: [{ payload: { run_id: "R2" } }] },
    });
  });

  it("what comes of a turn that another person has caused belongs to the person of its run", async () => {
    const [reader, watcher] = [silentPlugin("reader"), plugin("watcher")];
    const { gateway, untilIdle, stream } = await openGateway({
      ...{ world: await newWorld(), plugins: [reader, watcher], tools: ["reader"], script: [{ tool: "reader" }] },
      config: { pipelines: [{ name: "alarm", on: "agent.escalated", steps: [{ uses: "watcher" }] }] },
    });
    await gateway.runs.start({ goal: SECRET, run_id: "R1" }, ada);
    await eventually(() => expect(reader.requests).toHaveLength(1));
    await gateway.runs.cancel("R1", "user:2");
    await untilIdle();
    const [cancel] = await gateway.jobs.list({ command: "cancel", limit: 9 });
    const [told] = await gateway.jobs.list({ plugin: "watcher", limit: 9 });
    expect(told).toMatchObject({ root_job_id: cancel?.id });
    expect((await gateway.jobs.get(told?.id ?? "")).payload).toMatchObject({ payload: { run_id: "R1" } });
    const [attempt] = (await gateway.jobs.details(cancel?.id ?? "")).attempts;
    expect(attempt?.response).not.toContain(SECRET);
    const escalated = async () => (await stream()).filter(({ type }) => type === "agent.escalated");
    expect(await escalated()).toMatchObject([{ data: { run_id: "R1" } }]);
    await gateway.eraseUser("user:1");
    expect(await gateway.jobs.get(told?.id ?? "")).toMatchObject({ payload: null, result: null });
    expect(await escalated()).toEqual([{ type: "agent.escalated", data: {} }]);
    expect(await gateway.runs.list()).toEqual([]);
  });

  it("a turn that is under way meanwhile is taken again, with the state that is left", async () => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    let turns = 0;
    const { gateway, untilIdle } = await openGateway({
      ...{ world: await newWorld(), plugins: [plugin("tool")], tools: ["tool"] },
      script: [
        { tool: "tool" },
        async ({ run_id }) => {
          if (run_id === "R2") {
            turns++;
            ask();
            await answered;
          }
          return { decision: "done", outcome: "It is written." };
        },
      ],
    });
    await gateway.runs.start({ goal: SECRET, run_id: "R1" }, ada);
    await untilIdle();
    await gateway.runs.start({ goal: "Bob's", run_id: "R2" }, bob);
    await asked;
    await gateway.eraseUser("user:1");
    answer();
    await untilIdle();
    expect((await gateway.runs.list()).map(({ run_id, status }) => [run_id, status])).toEqual([["R2", "done"]]);
    expect(turns).toBe(2);
  });

  it("every job of a tree belongs to the person for whom it began", async () => {
    const world = await newWorld();
    const [tool, watcher] = [plugin("tool"), plugin("watcher")];
    const { gateway, untilIdle } = await openGateway({
      ...{ world, plugins: [tool, watcher], tools: ["tool"] },
      script: [{ tool: "tool" }, { decision: "done", outcome: "It is written." }],
      config: {
        plugins: { "agentic-loop": { notify_on_complete: true } },
        pipelines: [{ name: "hook", "on-hook": "job.completed", steps: [{ uses: "watcher" }] }],
      },
    });
    await gateway.runs.start({ goal: "Go.", run_id: "R1" }, ada);
    await untilIdle();
    expect(await world.sql("select distinct user_id from gateway_jobs")).toEqual([{ user_id: "user:1" }]);
    expect(watcher.requests).toHaveLength(1);
  });
});
