// Promise: a start under a key is one run; as whom and where it acts keeps it apart from others. A run has the code and the person
// that it was started with.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: bindings of workflows
import { expect, it } from "vitest";
import * as principals from "../../src/contracts/trust/principal.ts";
import { run as call } from "../../src/workflows/builder/call-steps.ts";
import { workflow } from "../../src/workflows/builder/workflow.ts";
import { eachDatabase } from "../databases.ts";
import { limited, person } from "../shop-desk.ts";
import { clockedWorld, until } from "./runs-in-test.ts";

const WAITS = { id: "waits", steps: [{ id: "w", type: "wait", event: "go" }] };

it("is one run for the same start under the same key", async () => {
  const { open } = await clockedWorld();
  const { workflows } = await open();
  const options = { key: "mail 12", principal: person(2), tags: ["mail"] };
  const first = await workflows.start(WAITS, { page: 1 }, options);
  const again = await workflows.start(WAITS, { page: 1 }, options);
  expect([first.outcome, again.outcome]).toEqual(["started", "repeated"]);
  expect(again.id).toBe(first.id);
});

const team = (workspace_id: string) => ({ workspace: { workspace_type: "team", workspace_id } });

it.each([
  { what: "another workspace", one: team("1"), other: team("2") },
  { what: "a run that stops at a failure", one: { continueOnError: false }, other: { continueOnError: true } },
  { what: "other notes of the program", one: { metadata: { for: "Ann" } }, other: { metadata: { for: "Ben" } } },
  { what: "other evidence", one: { evidenceRefs: [{ id: 1 }] }, other: { evidenceRefs: [{ id: 2 }] } },
])("refuses a start under a key that was used for $what", async ({ one, other }) => {
  const { open } = await clockedWorld();
  const { workflows } = await open();
  await workflows.start(WAITS, {}, { key: "mail 12", ...one });
  await expect(workflows.start(WAITS, {}, { key: "mail 12", ...other })).rejects.toMatchObject({
    code: "workflow_key_taken",
  });
});

it.each([
  { what: "another person", one: person(2), other: person(3) },
  { what: "a person and the program itself", one: person(2), other: principals.system("workflow") },
  { what: "tokens of one person", one: principals.agentToken(2, "a", 1), other: principals.agentToken(2, "a", 2) },
  { what: "audiences", one: principals.audience("guests", "a"), other: principals.audience("members", "a") },
])("keeps the keys of $what apart", async ({ one, other }) => {
  const { open } = await clockedWorld();
  const { workflows } = await open();
  const start = (principal: principals.Principal) => workflows.start(WAITS, {}, { key: "mail 12", principal });
  const [first, second] = [await start(one), await start(other)];
  expect([first.outcome, second.outcome]).toEqual(["started", "started"]);
  expect(second.id).not.toBe(first.id);
});

it("does not take a run that may do less for one that may do more", async () => {
  const { open } = await clockedWorld();
  const { workflows } = await open();
  const full = await workflows.start(WAITS, {}, { key: "mail 12", principal: person(2) });
  const less = await workflows.start(WAITS, {}, { key: "mail 12", principal: limited(2, "nothing") });
  expect(less.outcome).toBe("started");
  expect(less.id).not.toBe(full.id);
});

it("runs the code that comes with the start, and not that of a workflow with the same name", async () => {
  const version = (v: number) => workflow("same").step("s", () => call(() => ({ v }), { from: "start" }));
  const { open } = await clockedWorld();
  const { workflows } = await open({ workflows: [version(1)] });
  expect(await (await workflows.start("same")).result()).toMatchObject({ output: { last: { v: 1 } } });
  expect(await (await workflows.start(version(2))).result()).toMatchObject({ output: { last: { v: 2 } } });
  expect(await (await workflows.start("same")).result()).toMatchObject({ output: { last: { v: 2 } } });
});

it("fails a step whose nested workflow cannot check its inputs", async () => {
  const { open } = await clockedWorld();
  const inner = {
    ...workflow("inner").step("s", () => call(() => ({}), {})),
    inputs: {
      json: {},
      validate: async () => {
        throw new Error("the schema broke");
      },
    },
  };
  const outer = { id: "outer", steps: [{ id: "nest", type: "workflow", workflow: "inner" }] };
  const { workflows } = await open({ workflows: [inner, outer] });
  expect(await (await workflows.start("outer")).result()).toMatchObject({
    status: "failed",
    error: { code: "workflow_inputs_invalid" },
  });
  await expect(workflows.start("inner")).rejects.toMatchObject({ code: "workflow_inputs_invalid" });
});

it("ends a workflow that starts itself over and over, detached", async () => {
  const { open } = await clockedWorld();
  const { workflows } = await open({
    // Which workflow it runs is known only when the step is: otherwise it would have been refused.
    workflows: [
      {
        id: "again",
        steps: [
          {
            ...{ id: "self", type: "workflow", workflow: "${inputs.which}", detached: true },
            inputs: { which: "${inputs.which}" },
          },
        ],
      },
    ],
  });
  await workflows.start("again", { which: "again" });
  const last = await until(async () => (await workflows.runs({ status: "failed" }))[0]);
  expect(await (await workflows.run(last.run_id)).record()).toMatchObject({ error: { code: "workflow_too_deep" } });
  const all = await workflows.runs({ workflow_id: "again" });
  expect(all).toHaveLength(16);
});

eachDatabase((newWorld) => {
  it("belongs to the same person when it is run again", async () => {
    const world = await newWorld();
    const holdfast = await world.open([], { stepFunctions: { work: () => ({}) } });
    const spec = { id: "works", steps: [{ id: "work", type: "function", function: "work" }] };
    const run = await holdfast.workflows.start(spec, {}, { principal: person(7) });
    await run.result();
    const again = await run.rerun({});
    await again.result();
    expect(await world.sql("select user_id from threads")).toEqual([{ user_id: "7" }, { user_id: "7" }]);
  });
});
