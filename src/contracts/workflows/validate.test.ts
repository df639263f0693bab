import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { validate } from "./validate.ts";

const call = { id: "a", type: "ability", ability: "demo/a" };
const errorsOf = (...given: Parameters<typeof validate>) =>
  validate(...given).map(({ path, code }) => `${path} ${code}`);

describe("validating a workflow", () => {
  it("tells id, inputs, steps with those inside them, triggers, then references, in this order", () => {
    const spec = {
      id: "0",
      inputs: 3,
      steps: [
        { ...call, args: "${steps.late.output} ${steps.late}" },
        {
          id: "p",
          type: "parallel",
          items: [],
          branches: [{ role: "0", steps: [{ ...call, ability: "" }, call], is_aggregator: true }, { is_aggregator: 1 }],
        },
        { id: "late", type: "foreach", steps: [[]] },
      ],
      triggers: [{ type: "cron", expression: "0" }],
    };
    expect(errorsOf(spec)).toEqual([
      "id missing_required",
      "inputs invalid_type",
      "steps.1 invalid_parallel_shape",
      "steps.1.branches.0.role missing_required",
      "steps.1.branches.0.steps.0.ability missing_required",
      "steps.1.branches.0.steps.1.id duplicate_id",
      "steps.1.branches.1.role missing_required",
      "steps.1.branches.1.steps missing_required",
      "steps.1.branches invalid_parallel_aggregator",
      "steps.1.steps missing_required",
      "steps.2.items missing_required",
      "steps.2.steps.0.id missing_required",
      "steps.2.steps.0.type missing_required",
      "triggers.0 missing_required",
      "steps.0 unknown_step_reference",
    ]);
  });

  it("knows the types that a host adds, and no others", () => {
    const spec = { id: "w", steps: [{ id: "a", type: "sleep" }], triggers: [{ type: "webhook" }] };
    expect(errorsOf(spec)).toEqual(["steps.0.type unknown_step_type", "triggers.0.type unknown_trigger_type"]);
    expect(errorsOf(spec, { knownStepTypes: ["sleep"], knownTriggerTypes: ["webhook"] })).toEqual([]);
    for (const type of ["branch", "sleep", "constructor", "__proto__"]) {
      expect(errorsOf({ id: "w", steps: [{ id: "a", type }] })).toEqual(["steps.0.type unknown_step_type"]);
    }
  });

  it("takes names that every object has for names like others", () => {
    const steps = ["__proto__", "constructor", "toString"].map((id) => ({ ...call, id }));
    expect(errorsOf({ id: "__proto__", steps })).toEqual([]);
    expect(errorsOf({ id: "w", steps: [...steps, ...steps.slice(0, 1)] })).toEqual(["steps.3.id duplicate_id"]);
    const refers = (id: string) => ({ id: "w", steps: [{ ...call, args: `\${steps.${id}.output}` }] });
    expect(errorsOf(refers("__proto__"))).toEqual(["steps.0 unknown_step_reference"]);
    expect(errorsOf(refers("constructor"))).toEqual(["steps.0 unknown_step_reference"]);
  });

  it("takes steps under keys, and only a list inside a step", () => {
    expect(errorsOf({ id: "w", steps: { first: call, second: { ...call, id: "b" } } })).toEqual([]);
    const keyed = { id: "f", type: "foreach", items: null, steps: { first: call } };
    expect(errorsOf({ id: "w", steps: [keyed] })).toEqual(["steps.0.steps missing_required"]);
  });

  it("looks for references in every value, but not among the steps inside a step", () => {
    const args = { x: [{ "${steps.key.output}": "${ steps.b.output }" }, "${steps.c.output}${steps.d.output}"] };
    const inner = [{ ...call, args: "${steps.c.output}" }];
    const steps = [
      { ...call, args },
      { id: "f", type: "foreach", items: "${steps.a.output}", steps: inner, branches: "${steps.d.output}" },
      { id: "p", type: "parallel", branches: [{ role: "r", steps: inner }], context: "${steps.p.output}" },
    ];
    expect(validate({ id: "w", steps }).map(({ path, message }) => [path, /"(\w+)"/.exec(message)?.[1]])).toEqual([
      ["steps.0", "b"],
      ["steps.0", "c"],
      ["steps.0", "d"],
      ["steps.1", "d"],
      ["steps.2", "p"],
    ]);
  });

  it("comes to the bottom of ten thousand levels", () => {
    let step: object = { id: "deepest" };
    let value: unknown = "${steps.none.output}";
    for (let level = 0; level < 10_000; level++) {
      step = { id: "s", type: level % 2 === 0 ? "foreach" : "parallel", items: [], steps: [step] };
      value = level % 2 === 0 ? [value] : { value };
    }
    const [inside, reference, ...others] = validate({ id: "w", steps: [step, { ...call, value }] });
    expect(inside).toMatchObject({ path: `${"steps.0.".repeat(10_001)}type`, code: "missing_required" });
    expect(reference).toMatchObject({ path: "steps.1", code: "unknown_step_reference" });
    expect(others).toEqual([]);
  });

  it("throws for no JSON", () => {
    const step = fc.record(
      { id: fc.string(), type: fc.constantFrom("ability", "agent", "foreach", "parallel", "x"), items: fc.jsonValue() },
      { requiredKeys: [] },
    );
    const spec = fc.oneof(
      fc.jsonValue(),
      fc.record({ steps: fc.array(fc.oneof(step, fc.jsonValue())), triggers: fc.jsonValue() }),
    );
    fc.assert(
      fc.property(spec, (given) => {
        for (const { path, code } of validate(given)) expect(`${path} ${code}`).toMatch(/^(id|inputs|steps|triggers)/);
      }),
    );
  });
});
