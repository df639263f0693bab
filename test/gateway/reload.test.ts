// Reading the configuration again: a valid one takes effect as a whole, an invalid one changes nothing.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { heldClock } from "../../src/testing/held-clock.ts";
import { eventually } from "../eventually.ts";
import {
  api,
  eventPayload,
  type GatewaySpec,
  heldPlugin,
  inShort,
  newFolder,
  openGateway,
  plugin,
} from "./gateway-world.ts";

/** A gateway whose configuration is a file, and can be written again. */
async function fromFile(yaml: string, spec: GatewaySpec = {}) {
  const file = join(newFolder(), "gateway.yaml");
  const write = (text: string) => writeFileSync(file, text);
  write(yaml);
  return { ...(await openGateway({ ...spec, file })), write };
}

const pipeline = (name: string, on: string, ...uses: readonly string[]) =>
  [`  - name: ${name}`, `    on: ${on}`, "    steps:", ...uses.map((each) => `      - uses: ${each}`)].join("\n");

const valid = `pipelines:\n${pipeline("first", "mail", "one")}\n`;

/** Nine lists, each of which refers to the one before nine times. */
const bomb = [..."abcdefghi"]
  .map((key, index, keys) => `${key}: &${key} [${Array(9).fill(index === 0 ? "x" : `*${keys[index - 1]}`)}]`)
  .join("\n");

describe("a reload", () => {
  it("takes a valid configuration into use, and says what it has loaded", async () => {
    const [one, two] = [plugin("one"), plugin("two")];
    const { gateway, write, untilIdle, logs } = await fromFile(valid, { plugins: [one, two] });
    await gateway.emit({ type: "mail", payload: {} }, api);
    await untilIdle();
    write(`pipelines:\n${pipeline("second", "mail", "two")}\nsevice: {}\n`);
    const { plugins, pipelines, warnings } = await gateway.reload();
    expect([plugins, pipelines]).toEqual([gateway.plugins().length, 1]);
    const odd = { line: 6, column: 1, message: expect.stringContaining("sevice") };
    expect(warnings).toContainEqual(expect.objectContaining(odd));
    const line = { level: "warn", message: expect.stringMatching(/gateway\.yaml:6:1: sevice is not a known setting/) };
    expect(logs).toContainEqual(expect.objectContaining(line));
    await gateway.emit({ type: "mail", payload: {} }, api);
    await untilIdle();
    expect([one, two].map(({ requests }) => requests.length)).toEqual([1, 1]);
    expect(gateway.pipelines()).toMatchObject([{ name: "second", on: "mail", steps: [{ uses: "two" }] }]);
  });

  it("lets a job that runs end under the configuration with which it began", async () => {
    const [one, old, fresh] = [heldPlugin("one"), plugin("old"), plugin("fresh")];
    const last = "old\n        id: last";
    const { gateway, write, endedTree } = await fromFile(`pipelines:\n${pipeline("first", "mail", "one", last)}\n`, {
      plugins: [one, old, fresh],
    });
    const { job_ids } = await gateway.emit({ type: "mail", payload: {} }, api);
    const call = await one.next();
    write(`pipelines:\n${pipeline("first", "mail", "one", "fresh", last)}\n`);
    await gateway.reload();
    call.answer("ok");
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["one succeeded", "old succeeded"]);
    const next = await gateway.emit({ type: "mail", payload: {} }, api);
    (await one.next()).answer("ok");
    expect(inShort(await endedTree(next.job_ids[0]))).toEqual(["one succeeded", "fresh succeeded", "old succeeded"]);
  });

  it("fails queued jobs whose plugin is gone, and the queue goes on", async () => {
    const [one, two] = [plugin("one"), plugin("two")];
    const { gateway, write, untilIdle } = await fromFile("plugins: { alias: { uses: one } }", { plugins: [one, two] });
    await gateway.pause("test");
    await gateway.call("alias", "handle", { payload: {} }, api);
    await gateway.call("two", "handle", { payload: {} }, api);
    write("{}");
    await gateway.reload();
    await gateway.resume();
    await untilIdle();
    expect(inShort(await gateway.jobs.list({ limit: 9 })).toSorted()).toEqual([
      "alias failed preflight",
      "two succeeded",
    ]);
  });

  it("fails queued jobs whose step is gone before they are executed", async () => {
    const one = plugin("one");
    const { gateway, write, untilIdle } = await fromFile(valid, { plugins: [one] });
    await gateway.pause("test");
    const { job_ids } = await gateway.emit({ type: "mail", payload: {} }, api);
    write("{}");
    await gateway.reload();
    await gateway.resume();
    await untilIdle();
    expect(await gateway.jobs.get(job_ids[0] ?? "")).toMatchObject({
      ...{ status: "failed", reason: "preflight", last_error: expect.stringContaining('"first"') },
    });
    expect(one.requests).toEqual([]);
  });

  describe("while a job is queued for a step", () => {
    /** The step `a` has ended when the configuration changes, and what follows it is queued. */
    async function changed(before: readonly string[], after: readonly string[]) {
      const [a, b, c, d] = [heldPlugin("a"), plugin("b"), plugin("c"), plugin("d")];
      const yaml = (steps: readonly string[]) =>
        ["pipelines:", "  - { name: called, on: never, steps: [{ id: inner, uses: c }] }", "  - name: p"].join("\n") +
        ["", "    on: x", "    steps:", ...steps.map((step) => `      - ${step}`), ""].join("\n");
      const { gateway, write, endedTree } = await fromFile(yaml(before), { plugins: [a, b, c, d] });
      const { job_ids } = await gateway.emit({ type: "x", payload: {} }, api);
      const call = await a.next();
      await gateway.pause("test");
      call.answer("ok");
      await eventually(async () => expect(await gateway.status()).toMatchObject({ jobs: { running: 0, queued: 1 } }));
      write(yaml(after));
      await gateway.reload();
      await gateway.resume();
      const tree = await endedTree(job_ids[0]);
      return { jobs: inShort(tree), error: tree.at(-1)?.last_error, c };
    }

    it.each([
      [
        "of another plugin",
        ["{ uses: a }", "{ uses: c }"],
        ["{ uses: a }", "{ uses: b, with: { of: b } }", "{ uses: c }"],
      ],
      [
        "of the same plugin",
        ["{ uses: a }", "{ uses: c, with: { of: c } }"],
        ["{ uses: a }", "{ uses: c, with: { of: another } }", "{ uses: c, with: { of: c } }"],
      ],
      [
        "that is an `if`",
        ["{ uses: a }", "{ uses: c }"],
        ["{ uses: a }", "{ uses: b, if: { path: payload.none, op: exists } }", "{ uses: c }"],
      ],
      [
        "that calls the same pipeline",
        ["{ uses: a }", "{ call: called, if: { path: payload.result, op: exists } }", "{ uses: d }"],
        [
          "{ uses: a }",
          "{ call: called, if: { path: payload.none, op: exists } }",
          "{ call: called, if: { path: payload.result, op: exists } }",
          "{ uses: d }",
        ],
      ],
      ["of its id", ["{ uses: a }", "{ id: one, uses: c }"], ["{ uses: a }", "{ id: one, uses: b }"]],
    ])("runs no other step in its place: %s", async (_what, before, after) => {
      const { jobs, error, c } = await changed(before, after);
      expect(jobs).toEqual(["a succeeded", expect.stringMatching(/^(c|core\.switch) failed preflight$/)]);
      expect(error).toMatch(/is another one|has no step/);
      expect(c.requests).toEqual([]);
    });

    it("runs a step with an id wherever it stands by then, with what it says by then", async () => {
      const { jobs, c } = await changed(
        ["{ uses: a }", "{ id: one, uses: c, with: { of: before } }"],
        ["{ uses: a }", "{ uses: b }", "{ id: one, uses: c, with: { of: after } }", "{ uses: d }"],
      );
      expect(jobs).toEqual(["a succeeded", "c succeeded", "d succeeded"]);
      expect(c.requests.map(eventPayload)).toMatchObject([{ of: "after" }]);
    });

    it("runs a step without one where neither it nor the order of those before it has changed", async () => {
      const { jobs } = await changed(
        ["{ uses: a }", "{ uses: c, with: { of: c } }", "{ uses: b }"],
        ["{ uses: a, timeout: 5s }", "{ uses: c, with: { of: c } }", "{ uses: d }"],
      );
      expect(jobs).toEqual(["a succeeded", "c succeeded", "d succeeded"]);
    });
  });

  it("changes schedules with the next tick", async () => {
    const clock = heldClock();
    const tool = plugin("one", () => "ok", { commands: ["poll"] });
    const { gateway, write } = await fromFile("{}", { plugins: [tool], clock });
    write("plugins: { one: { schedules: [{ every: 10m }] } }");
    await gateway.reload();
    await clock.advance(1);
    await eventually(() => expect(tool.requests).toHaveLength(1));
    write("plugins: { one: {} }");
    await gateway.reload();
    await clock.advance(3_600_000);
    expect(await gateway.schedules.list()).toEqual([]);
    expect(tool.requests).toHaveLength(1);
  });

  it("changes how many jobs run at once", async () => {
    const one = heldPlugin("one");
    const { gateway, write, untilIdle } = await fromFile("{}", { plugins: [one] });
    for (let n = 0; n < 3; n++) await gateway.call("one", "handle", { payload: {} }, api);
    const calls = [await one.next()];
    write("service: { max_workers: 3 }\nplugins: { one: { parallelism: 3 } }");
    await gateway.reload();
    calls.push(await one.next(), await one.next());
    for (const call of calls) call.answer("ok");
    await untilIdle();
  });
});

describe("scenario 42: a configuration is refused, naming the pipeline and its place, and the old one is kept", () => {
  it.each([
    [
      "a name that is used twice",
      `${pipeline("first", "a", "one")}\n${pipeline("first", "b", "one")}`,
      'pipeline "first"',
    ],
    ["two triggers", `${pipeline("both", "a", "one")}\n    on-hook: job.failed`, 'pipeline "both"'],
    ["an unknown plugin", pipeline("lost", "a", "noone"), 'pipeline "lost"'],
    [
      "calls in a circle",
      "  - { name: x, on: a, steps: [{ call: y }] }\n  - { name: y, on: b, steps: [{ call: x }] }",
      "x -> y -> x",
    ],
    ["two actions in a step", "  - { name: busy, on: a, steps: [{ uses: one, call: first }] }", 'pipeline "busy"'],
    ["a negative max_depth", `${pipeline("deep", "a", "one")}\n    max_depth: -1`, 'pipeline "deep"'],
    [
      "an agent that is entered as a tool",
      pipeline("self", "agentic.tool_request.one", "agentic-loop"),
      'pipeline "self"',
    ],
  ])("with %s", async (_what, pipelines, named) => {
    const one = plugin("one");
    const { gateway, write, untilIdle } = await fromFile(valid, { plugins: [one] });
    write(`pipelines:\n${pipelines}\n`);
    const refused = await gateway.reload().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(refused).toMatchObject({ code: "gateway_config_invalid" });
    expect(String(refused)).toContain(named);
    expect(String(refused)).toMatch(/gateway\.yaml:\d+:\d+/);
    expect(gateway.pipelines().map(({ name }) => name)).toEqual(["first"]);
    await gateway.emit({ type: "mail", payload: {} }, api);
    await untilIdle();
    expect(one.requests).toHaveLength(1);
  });

  it("also at the start: there is no gateway with half of it", async () => {
    const pipelines = [{ name: "lost", on: "mail", steps: [{ uses: "noone" }] }];
    await expect(openGateway({ config: { pipelines } })).rejects.toMatchObject({ code: "gateway_config_invalid" });
  });

  it.each([
    ["broken YAML", "pipelines: ["],
    ["keys that are there twice", "service: {}\nservice: {}"],
    ["a bomb of aliases", bomb],
    ["an unset variable", "plugins: { one: { config: { key: '${NOT_SET_ANYWHERE}' } } }"],
  ])("with %s", async (_what, yaml) => {
    const { gateway, write } = await fromFile(valid, { plugins: [plugin("one")] });
    write(yaml);
    await expect(gateway.reload()).rejects.toMatchObject({ code: "gateway_config_invalid" });
    expect(gateway.pipelines().map(({ name }) => name)).toEqual(["first"]);
  });
});
