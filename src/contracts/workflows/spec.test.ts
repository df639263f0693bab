import { describe, expect, it } from "vitest";
import { normalize } from "./spec.ts";
import { specHash } from "./spec-hash.ts";

const step = { id: "a", type: "ability", ability: "demo/a" };
const minimal = { id: "greeting", steps: [step] };

describe("a workflow spec", () => {
  it("has every field, and the raw spec as it came", () => {
    expect(normalize(minimal)).toEqual({
      id: "greeting",
      version: "0.0.0",
      inputs: {},
      steps: [step],
      triggers: [],
      meta: {},
      raw: minimal,
    });
    const raw = { ...minimal, version: 2, steps: { first: step }, inputs: ["x"], meta: ["kept"], extra: 1 };
    expect(normalize(raw)).toMatchObject({ version: "2", steps: [step], inputs: {}, meta: ["kept"], raw });
  });

  it("is refused with everything that is wrong, the first error before all", () => {
    expect(normalize({ id: "w", triggers: 1 })).toEqual({
      code: "workflow_spec_invalid",
      message: "The workflow spec is invalid at steps: A step is missing.",
      data: {
        errors: [
          { path: "steps", code: "missing_required", message: "A step is missing." },
          { path: "triggers", code: "invalid_type", message: "The triggers are no list." },
        ],
        path: "steps",
        code: "missing_required",
      },
    });
  });

  it("is refused when it cannot be kept as JSON", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 600; level++) deep = [deep];
    const cycle: Record<string, unknown> = { ...minimal };
    cycle.meta = cycle;
    for (const spec of [{ ...minimal, meta: deep }, cycle]) {
      expect(normalize(spec)).toMatchObject({ code: "workflow_spec_invalid", data: { path: "", code: "not_json" } });
    }
  });

  it("has a hash that does not depend on the order of keys", () => {
    const turned = { steps: [{ ability: "demo/a", type: "ability", id: "a" }], id: "greeting" };
    expect(specHash(turned)).toBe(specHash(minimal));
    expect(specHash({ ...minimal, meta: {} })).toBe(specHash({ ...minimal, meta: [] }));
    expect(specHash({ ...minimal, steps: [step, step] })).not.toBe(specHash(minimal));
  });
});
