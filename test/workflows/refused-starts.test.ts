// Promise: what a run could not carry out is refused before there is a run, with everything that is wrong, and leaves nothing behind.
import { expect, it } from "vitest";
import { z } from "zod";
import type { JsonMap } from "../../src/contracts/json.ts";
import { says, scriptedModel } from "../../src/models/scripted/scripted-model.ts";
import { agent } from "../../src/threads/agent.ts";
import { run as runs } from "../../src/workflows/builder/call-steps.ts";
import { workflow } from "../../src/workflows/builder/workflow.ts";
import { eachDatabase, type World } from "../databases.ts";

const call = (id: string, more: JsonMap = {}): JsonMap => ({ id, type: "function", function: "fine", ...more });
const spec = (...steps: JsonMap[]): JsonMap => ({ id: "spec", steps });
const inside = (step: JsonMap): JsonMap => ({ id: "each", type: "foreach", items: [1], steps: [step] });

function nested(depth: number): JsonMap {
  let step = call("last");
  for (let level = 0; level < depth; level++) step = { id: "each", type: "foreach", items: [1], steps: [step] };
  return step;
}

const unknownOnes: Readonly<Record<string, readonly [spec: JsonMap, code: string]>> = {
  "an operation": [spec({ id: "a", type: "ability", ability: "shop/none" }), "unknown_ability"],
  "an operation inside a step": [spec(inside({ id: "a", type: "ability", ability: "shop/none" })), "unknown_ability"],
  "an operation that steps cannot call": [
    spec({ id: "a", type: "ability", ability: "holdfast/submit-request" }),
    "unknown_ability",
  ],
  "an operation that undoes": [spec(call("a", { undo: { type: "ability", ability: "shop/none" } })), "unknown_ability"],
  "an operation after a failure": [
    { ...spec(call("a")), on_failure: [{ id: "b", type: "ability", ability: "shop/none" }] },
    "unknown_ability",
  ],
  "a function": [spec({ id: "a", type: "function", function: "none" }), "workflow_function_missing"],
  "a function that every object has": [
    spec({ id: "a", type: "function", function: "toString" }),
    "workflow_function_missing",
  ],
  "an agent": [spec({ id: "a", type: "agent", agent: "none", message: "Hello." }), "agent_not_found"],
  "a workflow": [spec({ id: "a", type: "workflow", workflow: "none" }), "workflow_not_found"],
  "a type of step": [spec({ id: "a", type: "acme/none" }), "unknown_step_type"],
  "a type of step that every object has": [spec({ id: "a", type: "constructor" }), "unknown_step_type"],
};

const wrongOnes: Readonly<Record<string, readonly [spec: JsonMap, code: string]>> = {
  "refers to a step behind it": [
    spec(call("a", { input: "$" + "{steps.b.output}" }), call("b")),
    "unknown_step_reference",
  ],
  "refers to itself": [spec(call("a", { input: "$" + "{steps.a.output}" })), "unknown_step_reference"],
  "runs itself": [spec({ id: "a", type: "workflow", workflow: "spec" }), "nests_itself"],
  "runs one that runs it": [spec({ id: "a", type: "workflow", workflow: "other" }), "nests_itself"],
  "is nested very deep": [spec(nested(10_000)), "too_deep"],
  "has too many steps": [spec(...Array.from({ length: 10_001 }, (_, at) => call(`s${at}`))), "too_many_steps"],
  "goes through too many items": [
    spec({ ...inside(call("a")), items: Array.from({ length: 100_001 }, () => 0) }),
    "too_many_items",
  ],
  "calls a step __proto__": [spec(call("__proto__")), "unsafe_id"],
  "is called __proto__": [{ ...spec(call("a")), id: "__proto__" }, "unsafe_id"],
  "has two steps of one id": [spec(call("a"), call("a")), "duplicate_id"],
  "has no steps": [spec(), "missing_required"],
};

eachDatabase((newWorld) => {
  async function open() {
    const world = await newWorld();
    const helper = agent({ slug: "helper", instructions: "Help.", model: scriptedModel([says("Done.")]) });
    const holdfast = await world.open(helper, {
      stepFunctions: { fine: () => null },
      workflows: [oneStep("other", { id: "a", type: "workflow", workflow: "spec" })],
    });
    return { world, holdfast, before: await rows(world) };
  }

  it.each(Object.entries(unknownOnes))("names what it does not know: %s", async (_, [given, code]) => {
    const { world, holdfast, before } = await open();
    await expect(holdfast.workflows.start(given)).rejects.toMatchObject({
      code: "workflow_spec_invalid",
      message: expect.stringContaining(`(${code})`),
    });
    expect(await rows(world)).toEqual(before);
  });

  it.each(Object.entries(wrongOnes))("refuses a spec that %s", async (_, [given, code]) => {
    const { world, holdfast, before } = await open();
    await expect(holdfast.workflows.start(given)).rejects.toMatchObject({
      code: "workflow_spec_invalid",
      message: expect.stringContaining(`(${code})`),
    });
    expect(() => holdfast.workflows.register(given)).toThrow(
      expect.objectContaining({ code: "workflow_spec_invalid" }),
    );
    expect(await rows(world)).toEqual(before);
  });

  it("knows no workflow of a name that there is not, however it is written", async () => {
    const { world, holdfast, before } = await open();
    for (const id of ["none", "", "__proto__", "constructor", "a\u0000b", "x".repeat(100_000)]) {
      await expect(holdfast.workflows.start(id), id.slice(0, 20)).rejects.toMatchObject({ code: "workflow_not_found" });
      await expect(holdfast.workflows.run(id), id.slice(0, 20)).rejects.toMatchObject({
        code: "workflow_run_not_found",
      });
    }
    expect(await rows(world)).toEqual(before);
  });

  it("refuses what is no spec, no input and no option at all", async () => {
    const { world, holdfast, before } = await open();
    const { workflows } = holdfast;
    const loop: Record<string, unknown> = {};
    loop.itself = loop;
    for (const given of [null, 7, [], undefined, loop, () => 1]) {
      await expect(workflows.start(given as never)).rejects.toMatchObject({ code: "workflow_spec_invalid" });
    }
    for (const inputs of [loop, { big: 1n }]) {
      await expect(workflows.start(spec(call("a")), inputs)).rejects.toMatchObject({ code: expect.any(String) });
    }
    const wrong = [
      { key: "" },
      { key: 7 },
      { tags: "a" },
      { tags: [7] },
      { tags: [""] },
      { kee: "a" },
      { metadata: loop },
    ];
    for (const options of wrong) {
      await expect(
        workflows.start(spec(call("a")), {}, options as never),
        JSON.stringify(Object.keys(options)),
      ).rejects.toMatchObject({
        code: expect.any(String),
      });
    }
    expect(await rows(world)).toEqual(before);
  });

  it("refuses inputs that are missing or do not fit", async () => {
    const { world, holdfast, before } = await open();
    const required = { ...spec(call("a")), inputs: { order: { required: true } } };
    await expect(holdfast.workflows.start(required, { other: 1 })).rejects.toMatchObject({
      code: "workflow_inputs_invalid",
      message: expect.stringContaining('"order"'),
    });
    const typed = workflow("typed", { inputs: z.object({ order: z.number() }) }).step("a", () => runs(() => null));
    await expect(holdfast.workflows.start(typed, { order: "seven" as never })).rejects.toMatchObject({
      code: "workflow_inputs_invalid",
    });
    expect(await rows(world)).toEqual(before);
  });

  it("fails a step whose items turn out to be too many, and a run that would nest too deep", async () => {
    const { holdfast } = await open();
    const many = { ...inside(call("a")), items: "$" + "{inputs.items}" };
    const run = await holdfast.workflows.start(spec(many), { items: Array.from({ length: 100_001 }, () => 0) });
    expect(await run.result()).toMatchObject({ status: "failed", error: { code: "workflow_too_many_items" } });
    // Which workflow it runs is known only when it does.
    const recursive = {
      id: "recursive",
      steps: [{ id: "again", type: "workflow", workflow: "$" + "{inputs.of}", inputs: { of: "recursive" } }],
    };
    holdfast.workflows.register(recursive);
    const deep = await holdfast.workflows.start("recursive", { of: "recursive" });
    expect(await deep.result()).toMatchObject({ status: "failed", error: { code: "workflow_too_deep" } });
    expect(await holdfast.workflows.runs({ workflow_id: "recursive" })).toHaveLength(16);
  });
});

function oneStep(id: string, step: JsonMap): JsonMap {
  return { id, steps: [step] };
}

/** Everything that is stored, but for who is alive and which version made the tables. */
async function rows(world: World): Promise<Record<string, string>> {
  const tables = [...(await world.tables())].filter(([name]) => !/^(workers|meta)$/.test(name));
  return Object.fromEntries(tables);
}
