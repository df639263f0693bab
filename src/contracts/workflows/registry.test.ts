import { describe as describeTests, expect, it } from "vitest";
import { createHooks } from "../hooks.ts";
import { createMemoryWorkflows, describe } from "./registry.ts";

const steps = [{ id: "greet", type: "ability", ability: "demo/greet", args: { name: "${inputs.name}" } }];

describeTests("the registry of workflows", () => {
  it("shows a workflow as it was written, with what it takes in", async () => {
    const workflows = createMemoryWorkflows();
    await workflows.register({ id: "greeting", inputs: { name: { required: true } }, steps });
    expect(describe("greeting", workflows)).toEqual({
      spec: { id: "greeting", inputs: { name: { required: true } }, steps },
      inputs: { name: { required: true } },
    });
    expect(describe("another", workflows)).toEqual({ spec: null, inputs: null });
    expect(describe(7, workflows)).toEqual({ spec: null, inputs: null });
  });

  it("puts a workflow in the place of one with its id, and tells every registration", async () => {
    const hooks = createHooks();
    const told: string[] = [];
    hooks.on("workflowRegistered", ({ id, version }) => told.push(`${id} ${version}`));
    const workflows = createMemoryWorkflows({ hooks });
    for (const [id, version] of [
      ["a", 1],
      ["b", 1],
      ["a", 2],
    ])
      await workflows.register({ id, version, steps });
    expect(workflows.all().map(({ id, version }) => `${id} ${version}`)).toEqual(["a 2", "b 1"]);
    expect(told).toEqual(["a 1", "b 1", "a 2"]);
  });

  it("forgets a workflow once, and takes none that is invalid", async () => {
    const workflows = createMemoryWorkflows();
    await workflows.register({ id: "__proto__", steps });
    expect(workflows.unregister("__proto__")).toBe(true);
    expect(workflows.unregister("__proto__")).toMatchObject({ code: "not_registered" });
    expect(await workflows.register({ id: "b" })).toMatchObject({ code: "workflow_spec_invalid" });
    expect(workflows.all()).toEqual([]);
  });

  it("knows the types of the host and of its hooks", async () => {
    const hooks = createHooks();
    const spec = {
      id: "w",
      steps: [
        { id: "a", type: "sleep" },
        { id: "b", type: "shell" },
      ],
      triggers: [{ type: "webhook" }],
    };
    const workflows = createMemoryWorkflows({ hooks, knownStepTypes: ["sleep"] });
    expect(await workflows.register(spec)).toMatchObject({ code: "workflow_spec_invalid" });
    hooks.filter("workflowKnownStepTypes", (types) => [...types, "shell"]);
    hooks.filter("workflowKnownTriggerTypes", () => ["webhook"]);
    expect(await workflows.register(spec)).toMatchObject({ id: "w" });
    expect(await workflows.register({ id: "m", steps, triggers: [{ type: "on_demand" }] })).toMatchObject({ id: "m" });
  });
});
