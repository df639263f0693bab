import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonMap } from "../json.ts";
import { type CheckOptions, checkWorkflow, nestedWorkflows } from "./check-workflow.ts";
import { validate } from "./validate.ts";

const call = { id: "a", type: "ability", ability: "demo/a" };
const holds = { path: "inputs.n", op: "gt", value: 3 };
const workflow = (...steps: unknown[]) => ({ id: "w", steps });
const shown = (found: readonly { path: string; code: string }[]) => found.map(({ path, code }) => `${path} ${code}`);
const errorsOf = (spec: unknown, options?: CheckOptions) => shown(checkWorkflow(spec, options).errors);
const noticesOf = (spec: unknown) => shown(checkWorkflow(spec).notices);

describe("checking a workflow", () => {
  it("accepts every type of step of ours, and all that a step can ask for", () => {
    const spec = {
      id: "order",
      steps: [
        { ...call, retry: { max_attempts: 3, backoff: "1s", multiplier: 2, max_backoff: "1m" }, timeout: "30s" },
        { id: "nap", type: "sleep", for: "1h" },
        { id: "date", type: "sleep", until: "2030-01-31T09:00:00Z" },
        { id: "later", type: "sleep", until: "${steps.a.output.at}" },
        {
          id: "paid",
          type: "wait",
          event: "order.paid",
          match: { "order.id": "${inputs.id}" },
          payload: {},
          timeout: "2d",
        },
        {
          id: "ok",
          type: "wait",
          approval: { summary: "Ship ${inputs.id}?", approvers: { users: [7], role: "admin" } },
        },
        { id: "ask", type: "wait", request: { schema: { type: "object" }, description: "Where to?" } },
        { id: "where", type: "wait", request: { name: "shop/address", shown: { order: "${inputs.id}" } } },
        { id: "sub", type: "workflow", workflow: "bill", inputs: { n: 1 }, detached: true },
        {
          ...{ id: "book", type: "function", function: "book", input: [1] },
          undo: { type: "function", function: "cancel", input: ["${vars.output}", "${steps.a.output.x}"] },
        },
        { id: "each", type: "foreach", items: [1], concurrency: 4, steps: [call] },
        {
          ...{ id: "if", type: "branch", else: [{ ...call, args: "${steps.book.output.x}" }] },
          cases: [
            { when: { all: [holds, { path: "steps.a.output.ok", op: "eq", value: true }] }, steps: [call] },
            { when: { not: { path: "vars.x", op: "exists" } }, steps: [call] },
          ],
        },
      ],
      on_failure: [{ id: "tell", type: "agent", agent: "ops", message: "${vars.error.message} ${steps.if.output.x}" }],
    };
    expect(checkWorkflow(spec)).toEqual({ errors: [], notices: [] });
  });

  it("looks into cases, otherwise, undo and what runs after a failure as into other lists of steps", () => {
    const broken = [{ ...call, ability: "" }, call, []];
    const spec = {
      ...workflow(
        { id: "b", type: "branch", cases: [{ when: holds, steps: broken }], else: broken },
        { ...call, id: "u", undo: { type: "ability" } },
        {
          id: "f",
          type: "foreach",
          items: [],
          steps: [{ id: "c", type: "branch", cases: [{ steps: [{}] }], else: [] }],
        },
      ),
      on_failure: [{ id: "x", type: "nobody" }],
    };
    const inList = (path: string) => [
      `${path}.0.ability missing_required`,
      `${path}.1.id duplicate_id`,
      `${path}.2.id missing_required`,
      `${path}.2.type missing_required`,
    ];
    expect(errorsOf(spec)).toEqual([
      ...inList("steps.0.cases.0.steps"),
      ...inList("steps.0.else"),
      "steps.1.undo.ability missing_required",
      "steps.2.steps.0.cases.0.when missing_required",
      "steps.2.steps.0.cases.0.steps.0.id missing_required",
      "steps.2.steps.0.cases.0.steps.0.type missing_required",
      "steps.2.steps.0.else missing_required",
      "on_failure.0.type unknown_step_type",
    ]);
  });

  it.each<[object, string[]]>([
    [{ type: "branch" }, [".cases missing_required"]],
    [
      { type: "branch", cases: [1, { when: {}, steps: 1 }] },
      [".cases.0 invalid_type", ".cases.1.when invalid_predicate", ".cases.1.steps missing_required"],
    ],
    [{ type: "sleep" }, [" invalid_sleep_shape"]],
    [{ type: "sleep", for: "1h", until: "2030-01-31T09:00:00Z" }, [" invalid_sleep_shape"]],
    [{ type: "sleep", for: 3600 }, [".for invalid_duration"]],
    [{ type: "sleep", until: "2030-02-30T09:00:00Z" }, [".until invalid_time"]],
    [{ type: "wait", timeout: 3 }, [" invalid_wait_shape", ".timeout invalid_duration"]],
    [{ type: "wait", event: "e", approval: {} }, [" invalid_wait_shape", ".approval.summary missing_required"]],
    [{ type: "wait", event: "0", match: "x" }, [".event missing_required", ".match invalid_match"]],
    [{ type: "wait", event: "e", match: { "a..b": 1 } }, [".match invalid_match"]],
    [{ type: "wait", event: "e", match: { "a.constructor": 1 } }, [".match invalid_match"]],
    [{ type: "wait", approval: "yes?" }, [".approval invalid_type"]],
    [{ type: "wait", approval: { summary: "?", approvers: "all" } }, [".approval.approvers invalid_approvers"]],
    [
      { type: "wait", approval: { summary: "?", approvers: { users: "${inputs.users}" } } },
      [".approval.approvers invalid_approvers"],
    ],
    [{ type: "wait", event: "e", payload: "text" }, [".payload invalid_type"]],
    [{ type: "wait", request: 1 }, [".request invalid_type"]],
    [
      { type: "wait", request: { name: 1, shown: "order" } },
      [".request.name missing_required", ".request.shown invalid_type"],
    ],
    [
      { type: "wait", request: { schema: "x", description: 1 } },
      [".request.schema invalid_type", ".request.description invalid_type"],
    ],
    [
      { type: "workflow", inputs: 1, detached: "no" },
      [".workflow missing_required", ".inputs invalid_type", ".detached invalid_type"],
    ],
    [{ type: "function", function: 1 }, [".function missing_required"]],
  ])("refuses %j", (step, errors) => {
    expect(errorsOf(workflow({ id: "s", ...step }))).toEqual(errors.map((error) => `steps.0${error}`));
  });

  it.each(["payload.n", "steps.a", "steps.a.status", "inputs.__proto__.x", "vars", "env.HOME"])(
    "cannot compare %s",
    (path) => {
      const step = { id: "b", type: "branch", cases: [{ when: { path, op: "exists" }, steps: [call] }] };
      expect(errorsOf(workflow(call, step))).toEqual(["steps.1.cases.0.when invalid_predicate"]);
    },
  );

  it("knows the types that an installation adds", () => {
    const spec = { ...workflow({ id: "s", type: "shell", undo: { type: "shell" } }), triggers: [{ type: "webhook" }] };
    expect(errorsOf(spec, { stepTypes: ["shell"], triggerTypes: ["webhook"] })).toEqual([]);
    expect(errorsOf(spec)).toEqual([
      "steps.0.type unknown_step_type",
      "triggers.0.type unknown_trigger_type",
      "steps.0.undo.type unknown_step_type",
    ]);
  });
});

describe("references between steps", () => {
  const refers = (id: string, to: string) => ({ ...call, id, args: `\${steps.${to}.output.x}` });

  it("may name what stands earlier in the same list, or earlier around it", () => {
    const inner = [refers("x", "first"), refers("y", "x"), refers("z", "w"), refers("v", "b")];
    const spec = workflow(
      { ...call, id: "first", undo: { ...refers("u", "first"), also: "${steps.b.output.x}" } },
      { id: "b", type: "branch", cases: [{ when: { path: "steps.w.output.n", op: "exists" }, steps: inner }] },
      refers("w", "x"),
      refers("t", "b"),
    );
    const { errors } = checkWorkflow({ ...spec, on_failure: [refers("f", "t"), refers("g", "f"), refers("h", "i")] });
    expect(errors.map(({ path, code, message }) => [path, code, /"(\w+)"/.exec(message)?.[1]])).toEqual(
      [
        ["steps.0.undo", "first"],
        ["steps.0.undo", "b"],
        ["steps.1.cases.0.when", "w"],
        ["steps.1.cases.0.steps.2", "w"],
        ["steps.1.cases.0.steps.3", "b"],
        ["steps.2", "x"],
        ["on_failure.2", "i"],
      ].map(([path, id]) => [path, "unknown_step_reference", id]),
    );
  });

  it("are only pointed out inside foreach and parallel steps, where the contract looks for none", () => {
    const inner = [refers("x", "first"), refers("y", "x"), refers("z", "none")];
    const spec = workflow(
      { ...call, id: "first" },
      { id: "f", type: "foreach", items: [], steps: inner },
      { id: "p", type: "parallel", branches: [{ role: "r", steps: inner }] },
    );
    expect(errorsOf(spec)).toEqual([]);
    expect(noticesOf(spec)).toEqual(
      ["steps.1.steps.2", "steps.2.branches.0.steps.0", "steps.2.branches.0.steps.2"].map(
        (path) => `${path} unknown_step_reference`,
      ),
    );
  });
});

describe("what asks for nothing", () => {
  it.each<[object, string[]]>([
    [{ retry: 3 }, [".retry retry_ignored"]],
    [{ retry: { max_attempts: 1 } }, [".retry retry_ignored"]],
    [{ retry: { max_attempts: 2, delay: "1s" } }, [".retry retry_ignored"]],
    [{ timeout: 30 }, [".timeout timeout_ignored"]],
    [{ undo: [{ ...call }] }, [".undo undo_ignored"]],
    [{ undo: { ...call, undo: call } }, [".undo.undo undo_ignored"]],
    [{ concurrency: 4 }, [".concurrency concurrency_ignored"]],
    [{ time_out: "30s", retyr: 1, note: "kept" }, [".time_out unknown_key", ".retyr unknown_key"]],
    [{ retry: null, timeout: null, undo: null, concurrency: null }, []],
  ])("is carried and pointed out: %j", (extra, notices) => {
    const spec = workflow({ ...call, ...extra });
    expect(errorsOf(spec)).toEqual([]);
    expect(noticesOf(spec)).toEqual(notices.map((notice) => `steps.0${notice}`));
  });

  it("is pointed out at the top and on steps of ours as well", () => {
    const spec = { ...workflow({ id: "s", type: "wait", event: "e", timout: "1s" }), on_failure: ["tell"] };
    expect(noticesOf(spec)).toEqual(["steps.0.timout unknown_key", "on_failure on_failure_ignored"]);
    expect(noticesOf({ ...workflow(call), onFailure: [call] })).toEqual(["onFailure unknown_key"]);
    expect(noticesOf({ ...workflow(call), on_failure: [] })).toEqual([]);
    const foreach = { id: "f", type: "foreach", items: [], steps: [call] };
    expect(noticesOf(workflow({ ...foreach, concurrency: 0 }))).toEqual(["steps.0.concurrency concurrency_ignored"]);
  });
});

describe("what is refused so that no spec does harm", () => {
  it("is a name that a map could take for something else", () => {
    const steps = ["__proto__", "constructor", "prototype", "toString"].map((id) => ({ ...call, id }));
    const parallel = { id: "p", type: "parallel", branches: [{ role: "__proto__", steps }] };
    expect(errorsOf({ id: "constructor", steps: [parallel] })).toEqual([
      "id unsafe_id",
      "steps.0.branches.0.role unsafe_id",
      ...[0, 1, 2].map((index) => `steps.0.branches.0.steps.${index}.id unsafe_id`),
    ]);
    expect(errorsOf(workflow({ id: "s", type: "constructor" }))).toEqual(["steps.0.type unknown_step_type"]);
  });

  it.each(["foreach", "branch", "parallel", "undo"])(
    "is a %s inside 12 others, and ten thousand are no harder",
    (type) => {
      const nested = (levels: number) => {
        let step: object = call;
        for (let level = 1; level < levels; level++) {
          if (type === "undo") step = { ...call, undo: step };
          else if (type === "branch") step = { id: "s", type, cases: [{ when: holds, steps: [step] }] };
          else step = { id: "s", type, items: [], steps: [step] };
        }
        return workflow(step);
      };
      expect(errorsOf(nested(12))).toEqual([]);
      for (const levels of [13, 10_000])
        expect(errorsOf(nested(levels))).toEqual([expect.stringMatching(/ too_deep$/)]);
    },
  );

  it("is a step that stands in itself, and what is no JSON", () => {
    const step: Record<string, unknown> = { id: "s", type: "foreach", items: [] };
    step.steps = [step];
    expect(errorsOf(workflow(step))).toEqual([expect.stringMatching(/ too_deep$/)]);
    const args: unknown[] = [];
    args.push(args);
    expect(errorsOf(workflow({ ...call, args }))).toEqual([" not_json"]);
  });

  it("is more than ten thousand steps in all, or a hundred thousand items", () => {
    const steps = Array.from({ length: 5_000 }, (_, index) => ({ ...call, id: `s${index}` }));
    const foreach = { id: "f", type: "foreach", items: new Array(100_000).fill(0), steps };
    expect(errorsOf(workflow(...steps.slice(1), foreach))).toEqual([]);
    expect(errorsOf(workflow(...steps, foreach))).toEqual(["steps too_many_steps"]);
    expect(errorsOf(workflow(...new Array(10_001).fill(0)))).toEqual(["steps too_many_steps"]);
    const items = new Array(100_001).fill(0);
    const many = [
      { ...foreach, items, steps: [call] },
      { id: "p", type: "parallel", items, steps: [call] },
    ];
    expect(errorsOf(workflow(...many))).toEqual(["steps.0.items too_many_items", "steps.1.items too_many_items"]);
  });

  it("is found among any number of branches and cases", () => {
    const branches = Array.from({ length: 200_000 }, (_, index) => ({ role: `r${index}`, steps: [call] }));
    const cases = branches.slice(0, 9_000).map(({ steps }) => ({ when: holds, steps }));
    expect(errorsOf(workflow({ id: "p", type: "parallel", branches }))).toEqual(["steps too_many_steps"]);
    expect(errorsOf(workflow({ id: "b", type: "branch", cases }))).toEqual([]);
  });

  it("is a workflow that runs itself, directly or through others", () => {
    const runs = (id: string, nested: string) => ({ id, type: "workflow", workflow: nested });
    const others: Record<string, JsonMap> = {
      b: { id: "b", steps: [{ id: "f", type: "foreach", items: [], steps: [runs("x", "c")] }] },
      c: { id: "c", steps: [{ ...call, undo: { type: "workflow", workflow: "w" } }] },
      d: { id: "d", steps: [runs("x", "e")] },
      e: { id: "e", steps: [runs("x", "d")] },
    };
    const workflows = (id: string) => nestedWorkflows(others[id] ?? {});
    const spec = workflow(
      runs("1", "w"),
      runs("2", "b"),
      runs("3", "d"),
      runs("4", "unknown"),
      runs("5", "${inputs.id}"),
    );
    expect(errorsOf(spec)).toEqual(["steps.0.workflow nests_itself"]);
    expect(errorsOf(spec, { workflows })).toEqual(["steps.0.workflow nests_itself", "steps.1.workflow nests_itself"]);
  });
});

describe("any JSON", () => {
  const own = ["unsafe_id", "too_deep", "too_many_steps", "too_many_items"];
  const type = fc.constantFrom("ability", "agent", "foreach", "parallel", "x", "0");
  const text = fc.oneof(fc.string(), fc.constantFrom("a", "b", "${steps.a.output.x}"));
  const { steps } = fc.letrec((tie) => ({
    step: fc.record(
      {
        id: text,
        type,
        ability: text,
        args: fc.jsonValue(),
        items: fc.jsonValue(),
        steps: tie("steps"),
        branches: tie("branches"),
      },
      { requiredKeys: [] },
    ),
    steps: fc.array(fc.oneof({ maxDepth: 4 }, fc.jsonValue(), tie("step")), { maxLength: 3 }),
    branches: fc.array(fc.oneof(fc.jsonValue(), fc.record({ role: text, steps: tie("steps") })), { maxLength: 2 }),
  }));

  it("gives the errors of the bare validator where nothing of ours is used", () => {
    const spec = fc.record({ id: text, steps, triggers: fc.jsonValue(), inputs: fc.jsonValue() }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.oneof(spec, fc.jsonValue()), (given) => {
        const { errors } = checkWorkflow(given);
        expect(errors.filter(({ code }) => !own.includes(code))).toEqual(validate(given));
      }),
    );
  });

  it("is answered, whatever stands where something of ours is expected", () => {
    const anything = fc.oneof(fc.jsonValue(), steps);
    const key = fc.constantFrom(
      ...["cases", "else", "when", "for", "until", "event", "match", "approval", "request", "timeout", "workflow"],
      ...["inputs", "detached", "function", "retry", "undo", "concurrency", "steps", "__proto__"],
    );
    const step = fc
      .tuple(fc.constantFrom("branch", "sleep", "wait", "workflow", "function"), fc.dictionary(key, anything))
      .map(([own, fields]) => ({ id: "s", type: own, ...fields }));
    const spec = fc.record({ id: text, steps: fc.array(step), on_failure: fc.oneof(fc.array(step), anything) });
    fc.assert(
      fc.property(spec, (given) => {
        for (const { path } of checkWorkflow(given).errors) expect(path).toMatch(/^(id|steps|on_failure|triggers)/);
      }),
    );
  });
});
