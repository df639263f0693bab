import { describe, expect, it } from "vitest";
import { createHooks } from "../../contracts/hooks.ts";
import { createMemoryWorkflows } from "../../contracts/workflows/registry.ts";
import { mayUseWorkflows } from "./workflow-permission.ts";
import { describeWorkflow, validateWorkflow } from "./workflow-specs.ts";

const spec = { id: "w", steps: [{ id: "a", type: "shell" }] };

describe("looking at workflow specs", () => {
  it("tells all that is wrong with one, as far as types are known here", async () => {
    expect(await validateWorkflow({ spec }, {})).toMatchObject({
      valid: false,
      errors: [{ path: "steps.0.type", code: "unknown_step_type" }],
    });
    expect(await validateWorkflow({ spec }, { knownStepTypes: ["shell"] })).toEqual({ valid: true, errors: [] });
    expect(await validateWorkflow(null, {})).toMatchObject({ errors: [{ path: "id" }, { path: "steps" }] });
  });

  it("calls none valid that could not be registered", async () => {
    let deep: unknown = 1;
    for (let level = 0; level < 10_000; level++) deep = [deep];
    const answer = await validateWorkflow({ spec: { ...spec, meta: deep } }, { knownStepTypes: ["shell"] });
    expect(answer).toMatchObject({ valid: false, errors: [{ path: "", code: "not_json" }] });
  });

  it("shows one that is registered", async () => {
    const workflows = createMemoryWorkflows({ knownStepTypes: ["shell"] });
    await workflows.register(spec);
    expect(describeWorkflow({ workflow_id: "w" }, workflows)).toEqual({ spec, inputs: {} });
    expect(describeWorkflow("w", workflows)).toEqual({ spec: null, inputs: null });
  });
});

describe("who may use workflows", () => {
  const wishes = ["run", "validate", "describe", "read", "unredacted", "cancel"] as const;
  const allowed = async (host: Parameters<typeof mayUseWorkflows>[2]) => {
    const answers = await Promise.all(wishes.map((wish) => mayUseWorkflows(wish, {}, host)));
    return wishes.filter((_, index) => answers[index]);
  };

  it("is told from what is known of whoever asks", async () => {
    expect(await allowed({})).toEqual([]);
    expect(await allowed({ isSignedIn: true })).toEqual(["validate"]);
    expect(await allowed({ isSignedIn: true, mayRead: true })).toEqual(["validate", "read"]);
    expect(await allowed({ isAdministrator: true })).toEqual(["run", "describe", "unredacted", "cancel"]);
  });

  it("is for the hooks to change, and nobody may when one of them fails", async () => {
    const hooks = createHooks();
    hooks.filter("runWorkflowPermission", (usually, { workflow_id }) => usually || workflow_id === "open");
    expect(await mayUseWorkflows("run", { workflow_id: "open" }, { hooks })).toBe(true);
    expect(await mayUseWorkflows("run", { workflow_id: "w" }, { hooks })).toBe(false);
    hooks.filter("workflowRunReadPermission", () => {
      throw new Error("nobody knows");
    });
    await expect(mayUseWorkflows("read", {}, { hooks, mayRead: true })).rejects.toThrow("nobody knows");
  });
});
