// Promise: runs are reached by the rules of threads: by their owner where the caller is, by who manages workflows there, and never
// by a caller with less than the run acts with.
import { expect, it } from "vitest";
import type { Principal } from "../../src/contracts/trust/principal.ts";
import { deskWorld } from "../desk-world.ts";
import { limited, person } from "../shop-desk.ts";

const waits = { id: "waits", steps: [{ id: "go", type: "wait", event: "go" }] };
const held: Readonly<Record<number, readonly string[]>> = { 2: ["workflows.run"], 4: ["workflows.manage"] };
const notFound = { code: "workflow_run_not_found" };

// biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer
type Answer = any;

async function open() {
  const { holdfast } = await deskWorld({
    ...{ agents: [], workflows: [waits] },
    trust: { holdsCapability: (user, name) => held[user]?.includes(name) ?? false },
  });
  const call = (principal: Principal, name: string, input: object = {}, key?: string): Promise<Answer> =>
    holdfast.abilities.call(`holdfast/${name}`, input, { principal, door: "http", ...(key !== undefined && { key }) });
  const start = async (principal: Principal): Promise<string> =>
    (await call(principal, "start-workflow", { workflow_id: "waits" })).run_id;
  return { holdfast, call, start };
}

it("keeps runs of one workspace from callers of another", async () => {
  const { call, start } = await open();
  const [rome, oslo] = [person(2, { workspace_id: "rome" }), person(2, { workspace_id: "oslo" })];
  const run_id = await start(rome);
  const anywhere = await start(person(2));
  expect(await call(rome, "get-workflow-run", { run_id })).toMatchObject({ run_id });
  expect(await call(person(2), "get-workflow-run", { run_id })).toMatchObject({ run_id });
  for (const principal of [oslo, person(4, { workspace_id: "oslo" })]) {
    for (const name of ["get-workflow-run", "cancel-workflow-run", "delete-workflow-run"]) {
      expect(await call(principal, name, { run_id }), name).toMatchObject(notFound);
    }
    expect((await call(principal, "list-workflow-runs")).runs).toEqual([]);
  }
  const listed = async (principal: Principal) =>
    (await call(principal, "list-workflow-runs")).runs.map((each: Answer) => each.run_id);
  expect(await listed(rome)).toEqual([run_id]);
  expect(await listed(person(4, { workspace_id: "rome" }))).toEqual([run_id]);
  expect(await listed(person(4))).toEqual([anywhere, run_id]);
});

it("has the same person with less do no more than look and stop", async () => {
  const { call, start } = await open();
  const run_id = await start(person(2));
  const less = limited(2, "workflows.read", "workflows.run", "requests.answer");
  expect(await call(less, "get-workflow-run", { run_id })).toMatchObject({ run_id });
  const event = { run_id, event: "go" };
  expect(await call(less, "send-workflow-event", event)).toMatchObject({ code: "workflow_run_acts_with_more" });
  expect(await call(less, "rerun-workflow-run", { run_id })).toMatchObject({ code: "workflow_run_acts_with_more" });
  expect(await call(less, "cancel-workflow-run", { run_id })).toMatchObject({ status: "cancelled" });
});

it("begins one run for each key of each caller", async () => {
  const { holdfast, call, start } = await open();
  const begin = async (principal: Principal) =>
    (await call(principal, "start-workflow", { workflow_id: "waits", key: "one" })).run_id;
  const first = await begin(person(2));
  expect(await begin(person(2))).toBe(first);
  expect(await begin(limited(2, "workflows.read", "workflows.run"))).not.toBe(first);
  const run = await holdfast.workflows.run(await start(person(2)));
  const again = await run.rerun({ key: "again" });
  expect((await run.rerun({ key: "again" })).id).toBe(again.id);
  await expect(run.rerun({ key: "again", inputs: { other: 1 } })).rejects.toMatchObject({ code: "workflow_key_taken" });
  expect((await run.rerun({})).id).not.toBe(again.id);
});
