// Promise: what a run waits for is seen and answered by whose it is and by who manages workflows, in the lists of what threads wait
// for; no other caller knows of it, and no run decides about what it proposes itself.
import { expect, it } from "vitest";
import type { JsonMap } from "../../src/contracts/json.ts";
import * as principals from "../../src/contracts/trust/principal.ts";
import type { Holdfast } from "../../src/holdfast.ts";
import { says, scriptedModel } from "../../src/models/scripted/scripted-model.ts";
import { agent } from "../../src/threads/agent.ts";
import { eachDatabase, type World } from "../databases.ts";
import { person } from "../shop-desk.ts";

const ANN = person(2);
const BEN = person(3);
/** Manages workflows, and no threads. */
const MEL = person(4);

const held: Readonly<Record<number, readonly string[]>> = {
  2: ["workflows.run"],
  3: ["workflows.run"],
  4: ["workflows.manage"],
};

const specs: readonly JsonMap[] = [
  {
    id: "ship",
    steps: [
      { id: "ask", type: "agent", agent: "helper", message: "May it be shipped?" },
      { id: "ok", type: "wait", approval: { summary: "Ship it?", preview: { to: "Rome" } } },
    ],
  },
  {
    id: "count",
    steps: [{ id: "rows", type: "wait", request: { name: "Rows", schema: { type: "object", required: ["rows"] } } }],
  },
  {
    id: "paid",
    steps: [{ id: "paid", type: "wait", event: "paid", payload: { required: ["cents"] }, retry: tries() }],
  },
];

function tries(): JsonMap {
  return { max_attempts: 3, backoff: "1s" };
}

// biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer
type Answer = any;

async function open(newWorld: () => Promise<World>): Promise<Holdfast> {
  const world = await newWorld();
  const helper = agent({ slug: "helper", instructions: "Help.", model: scriptedModel(Array(9).fill(says("Yes."))) });
  const holdfast = await world.open(helper, {
    workflows: specs,
    trust: { holdsCapability: (user, name) => held[user]?.includes(name) ?? false },
  });
  for (const user_id of [2, 3]) await holdfast.grants.grant({ agent: "helper", user_id, role: "operator" });
  return holdfast;
}

function as(holdfast: Holdfast, principal: principals.Principal) {
  return (name: string, input: object = {}): Promise<Answer> =>
    holdfast.abilities.call(`holdfast/${name}`, input, { principal, door: "http" });
}

/** A run of Ann's that waits for a person, and what it waits for. */
async function waiting(holdfast: Holdfast, workflow_id: string) {
  const { run_id } = await as(holdfast, ANN)("start-workflow", { workflow_id });
  for (;;) {
    const found = await holdfast.requests.list({ thread: run_id, status: "pending" });
    const request = found.find(({ kind }) => kind !== "child");
    if (request) return { run_id: String(run_id), request_id: request.id };
    await new Promise(setImmediate);
  }
}

eachDatabase((newWorld) => {
  it("is listed and decided by whose run it is", async () => {
    const holdfast = await open(newWorld);
    const { run_id, request_id } = await waiting(holdfast, "ship");
    const ann = as(holdfast, ANN);
    const { approvals } = await ann("list-approvals");
    expect(approvals).toMatchObject([{ request_id, thread_id: run_id, summary: "Ship it?", preview: { to: "Rome" } }]);
    expect((await ann("list-requests", { thread_id: run_id, status: "pending" })).requests).toMatchObject([
      { id: request_id, kind: "approval" },
    ]);
    const edited = { request_id, decision: "accepted", parameters: { to: "Paris" } };
    expect(await ann("decide-approval", edited)).toMatchObject({ code: "invalid_answer" });
    const remembered = { request_id, decision: "accepted", remember: true };
    const refused = await ann("decide-approval", remembered);
    expect(refused).toMatchObject({ code: "invalid_answer", message: expect.stringContaining("asks each time") });
    const decided = await ann("decide-approval", { request_id, decision: "accepted" });
    expect(decided).toMatchObject({ outcome: "submitted", approval: { status: "accepted", resolver: "user:2" } });
    expect(await (await holdfast.workflows.run(run_id)).result()).toMatchObject({
      status: "succeeded",
      output: { last: { decision: "accepted", by: "user:2" } },
    });
  });

  it("is not there for others, but for who manages workflows", async () => {
    const holdfast = await open(newWorld);
    const { run_id, request_id } = await waiting(holdfast, "ship");
    const ben = as(holdfast, BEN);
    expect((await ben("list-approvals")).approvals).toEqual([]);
    expect(await ben("list-requests", { thread_id: run_id })).toMatchObject({ code: "thread_not_found" });
    for (const name of ["get-request", "get-approval"]) {
      expect(await ben(name, { request_id })).toMatchObject({ code: "request_not_found" });
    }
    const answer = { request_id, decision: "accepted" };
    expect(await ben("decide-approval", answer)).toMatchObject({ code: "request_not_found" });
    const elsewhere = as(holdfast, person(4, { workspace_id: "rome" }));
    expect((await elsewhere("list-approvals")).approvals).toEqual([]);
    expect(await elsewhere("decide-approval", answer)).toMatchObject({ code: "request_not_found" });
    const mel = as(holdfast, MEL);
    expect((await mel("list-approvals")).approvals).toMatchObject([{ request_id }]);
    expect(await mel("decide-approval", answer)).toMatchObject({ outcome: "submitted" });
  });

  it("is not decided by the run itself, nor by an agent that it has asked", async () => {
    const holdfast = await open(newWorld);
    const own = await holdfast.workflows.start("ship");
    const ofProgram = await until(async () => (await holdfast.requests.list({ thread: own.id, kind: "approval" }))[0]);
    const { request_id } = await waiting(holdfast, "ship");
    const decide = (id: string, principal: principals.Principal) =>
      holdfast.requests.submit(id, { decision: "accepted" }, { principal });
    for (const [id, slug] of [
      [ofProgram.id, "workflow"],
      [ofProgram.id, "helper"],
      [request_id, "helper"],
    ] as const) {
      await expect(decide(id, principals.system(slug)), slug).rejects.toMatchObject({ code: "approval_forbidden" });
    }
    expect(await decide(request_id, principals.system("another"))).toMatchObject({ outcome: "submitted" });
  });

  it("takes a result that fits its schema", async () => {
    const holdfast = await open(newWorld);
    const { run_id, request_id } = await waiting(holdfast, "count");
    const ann = as(holdfast, ANN);
    const runtimeTools = await holdfast.abilities.call(
      "agents/list-runtime-tool-requests",
      {},
      {
        ...{ principal: ANN, door: "http" as const },
      },
    );
    expect(runtimeTools).toMatchObject({ requests: [], count: 0 });
    expect(await ann("submit-request", { request_id, result: { lines: 2 } })).toMatchObject({
      code: "invalid_answer",
      message: expect.stringContaining("rows"),
    });
    expect(await ann("submit-request", { request_id, result: { rows: 2 } })).toMatchObject({ outcome: "submitted" });
    expect(await ann("submit-request", { request_id, result: { rows: 2 } })).toMatchObject({ outcome: "repeated" });
    const record = await (await holdfast.workflows.run(run_id)).result();
    expect(record).toMatchObject({ status: "succeeded", output: { last: { rows: 2 } } });
  });

  it("takes no event that does not fit, whenever that was sent", async () => {
    const holdfast = await open(newWorld);
    const ann = as(holdfast, ANN);
    for (const isEarly of [true, false]) {
      const { run_id } = await ann("start-workflow", { workflow_id: "paid" });
      const run = await holdfast.workflows.run(run_id);
      if (!isEarly) await until(async () => ((await run.summary()).status === "suspended" ? true : undefined));
      for (const payload of [{ euros: 3 }, { cents: 300 }]) {
        expect(await ann("send-workflow-event", { run_id, event: "paid", payload })).toMatchObject({ status: "sent" });
      }
      expect(await run.result()).toMatchObject({ status: "succeeded", output: { last: { cents: 300 } } });
    }
  });
});

async function until<Found>(look: () => Promise<Found | undefined>): Promise<Found> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise(setImmediate);
  }
}
