// Runs that are watched at a terminal, through a real server.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: bindings of workflows
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { typeInto, typeLines } from "../../../test/doors/type-command.ts";
import { eventually } from "../../../test/eventually.ts";
import { type Served, serveRuntime } from "../../../test/served-runtime.ts";
import { type Screen, terminalScreen } from "../../../test/terminal-screen.ts";
import type { JsonMap } from "../../contracts/json.ts";

const specs: readonly JsonMap[] = [
  {
    id: "order",
    inputs: { number: { type: "string", required: true }, cents: { type: "number" } },
    steps: [
      { id: "find", type: "function", function: "find", input: "${inputs}" },
      { id: "agreed", type: "wait", approval: { summary: "Refund it?" } },
    ],
  },
  { id: "pays", steps: [{ id: "paid", type: "wait", event: "paid" }] },
  { id: "fails", steps: [{ id: "pay", type: "function", function: "fail" }] },
  {
    id: "many",
    steps: [
      {
        ...{ id: "each", type: "foreach", items: "${inputs.items}", continue_on_error: true },
        steps: [{ id: "one", type: "function", function: "odd", input: "${vars.item}" }],
      },
    ],
  },
];

let served: Served;
let owner: { readonly url: string; readonly token: string };
let isMended = false;

beforeEach(async () => {
  isMended = false;
  served = await serveRuntime(
    {},
    {
      workflows: specs,
      stepFunctions: {
        find: (input) => ({ found: input as JsonMap }),
        fail: () => {
          if (!isMended) throw new Error("The card was refused.");
          return {};
        },
        odd: (item) => {
          if (Number(item) % 3 === 0) throw new Error("Not this one.");
          return {};
        },
      },
    },
  );
  owner = { url: served.url, token: served.owner };
});
afterEach(() => served.close());

const type = (...words: string[]) => typeLines(owner, words);

async function startRun(workflow: string, inputs: object = {}): Promise<string> {
  const { out } = await type("workflows", "start", workflow, "--inputs", JSON.stringify(inputs));
  return out.trim();
}

function onScreen(screen: Screen, pattern: RegExp): Promise<string> {
  return eventually(() => {
    const text = screen.shown().join("\n");
    expect(text).toMatch(pattern);
    return text;
  });
}

describe("a run that is watched at a terminal", () => {
  it("is drawn over in place until it has ended, with what to type where it waits", async () => {
    const screen = terminalScreen(120, 24);
    const watching = typeInto(screen, owner, ["workflows", "start", "order", "--input", "number=007", "--follow"]);
    const drawn = await onScreen(screen, /approvals accept/);
    const [, request = ""] = /approvals accept (\S+)/.exec(drawn) ?? [];
    expect(drawn).toMatch(
      /^\? order {2}waits for a decision .* run \S+\n {2}✓ find .*\n {2}\? agreed .*\n {4}npx holdfast/,
    );
    expect(screen.shown()).toHaveLength(4);
    await type("approvals", "accept", request);
    expect(await watching).toEqual({ code: 0, err: "" });
    expect(screen.shown()).toEqual([
      expect.stringMatching(/^✓ order {2}succeeded {2}\S+ {2}run \S+$/),
      expect.stringMatching(/^ {2}✓ find/),
      expect.stringMatching(/^ {2}✓ agreed/),
    ]);
  });

  it("counts parts, and stays within a small terminal", async () => {
    const screen = terminalScreen(60, 6);
    const run = await startRun("many", { items: Array.from({ length: 100 }, (_, index) => index + 1) });
    expect(await typeInto(screen, owner, ["runs", "follow", run])).toMatchObject({ code: 0 });
    const [first, each, ...rest] = screen.shown();
    expect(first).toMatch(/^✓ many {2}succeeded/);
    expect(each).toMatch(/^ {2}✓ each {2}100\/100, 33 failed {2}/);
    expect(rest.length).toBeLessThanOrEqual(4);
    expect(rest.at(-1)).toMatch(/^ {4,}… \d+ more$/);
  });

  it("exits with 1 when it fails, and says why", async () => {
    const screen = terminalScreen(120, 24);
    const run = await startRun("fails");
    const { code, err } = await typeInto(screen, owner, ["runs", "follow", run]);
    expect(code).toBe(1);
    expect(err).toMatch(/^holdfast: run_not_completed: The run has failed: \w+: .*The card was refused\.\n$/);
    expect(screen.shown()).toEqual([
      expect.stringContaining("✗ fails  failed"),
      expect.stringMatching(/✗ pay {2}\w+/),
      `  npx holdfast runs retry ${run}`,
    ]);
    isMended = true;
    expect(await typeInto(screen, owner, ["runs", "retry", run, "--follow"])).toEqual({ code: 0, err: "" });
  });
});

describe("a run that is watched through a pipe", () => {
  it("is a line for each event, and how it ended", async () => {
    const run = await startRun("fails");
    const { code, out } = await type("runs", "follow", run);
    expect(code).toBe(1);
    const lines = out.trim().split("\n");
    expect(lines[0]).toMatch(/^0\.0 {2}\S+Z {2}run\.started/);
    expect(lines.find((line) => line.includes("step.ended"))).toMatch(/ step\.ended {2}pay {2}failed$/);
    expect(lines.at(-1)).toMatch(/^✗ fails {2}failed /);
    expect(out).not.toContain("\u001b");
    const [, second = ""] = lines.map((line) => line.split(" ")[0] ?? "");
    const rest = await type("runs", "follow", run, "--after", second);
    expect(rest.out.split("\n")[0]).toBe(lines[2]);
  });

  it("is a line of JSON for each event and for the outcome with --json", async () => {
    const run = await startRun("many", { items: [1] });
    const { code, out } = await type("runs", "follow", run, "--json");
    expect(code).toBe(0);
    const lines = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as JsonMap);
    expect(lines[0]).toMatchObject({ id: "0.0", type: "run.started" });
    expect(lines.at(-1)).toMatchObject({ type: "outcome", run_id: run, status: "succeeded" });
  });
});

describe("workflows at a terminal", () => {
  it("are listed and shown", async () => {
    expect((await type("workflows", "list")).out).toMatch(/^order +0\.0\.0 +2 +number cents/m);
    const { out } = await type("workflows", "show", "order");
    expect(out).toMatch(/^number +string +required$/m);
    expect(out).toContain('"function": "find"');
    expect(await type("workflows", "show", "odd")).toMatchObject({ code: 3, out: "" });
  });

  it("take inputs one by one, each as what it is declared to be, as JSON, and from a file", async () => {
    const inputsOf = async (...words: string[]) => {
      const { out } = await type("workflows", "start", "order", ...words);
      const shown = JSON.parse((await type("runs", "show", out.trim(), "--json")).out);
      return shown.record.inputs;
    };
    expect(await inputsOf("--input", "number=007", "cents=12", "more=[1]", "note=a=b")).toEqual({
      ...{ number: "007", cents: 12, more: [1], note: "a=b" },
    });
    const file = join(tmpdir(), `inputs-${crypto.randomUUID()}.json`);
    writeFileSync(file, '{"number": "7", "cents": 1}');
    onTestFinished(async () => (await import("node:fs")).rmSync(file));
    expect(await inputsOf("--inputs", `@${file}`, "--input", "cents=2")).toEqual({ number: "7", cents: 2 });
    expect(await type("workflows", "start", "order")).toMatchObject({
      ...{ code: 1, out: "" },
      err: expect.stringContaining('workflow_inputs_invalid: The workflow needs the input "number".'),
    });
  });

  it.each([
    [["--input", "number"], "--input must be key=value, not number."],
    [["--inputs", "7"], "--inputs must be a JSON object."],
    [["--inputs", "@nowhere.json"], "nowhere.json cannot be read: "],
  ])("refuse what cannot be read: %j", async (words, message) => {
    const { code, err } = await type("workflows", "start", "order", ...words);
    expect([code, err]).toEqual([2, expect.stringContaining(`holdfast: usage: ${message}`)]);
  });

  it("print what came of a run that is waited for, and are started once under a key", async () => {
    const start = ["workflows", "start", "many", "--inputs", '{"items": [1, 2]}', "--key", "mine", "--wait"];
    const first = await type(...start);
    expect(first).toMatchObject({ code: 0, err: "" });
    expect(JSON.parse(first.out)).toMatchObject({ last: { count: 2 } });
    const again = await type(...start, "--json");
    expect(again.code).toBe(0);
    expect(JSON.parse(again.out)).toMatchObject({ status: "succeeded", workflow_id: "many" });
    expect((await type("runs", "list", "--workflow", "many")).out.trim().split("\n")).toHaveLength(2);
    expect(await type("workflows", "start", "fails", "--wait")).toMatchObject({
      code: 1,
      err: expect.stringContaining("The card was refused."),
    });
  });
});

describe("runs at a terminal", () => {
  it("are listed by workflow, status, tag and time", async () => {
    await type("workflows", "start", "pays", "--tag", "vip");
    await startRun("pays");
    const listed = async (...words: string[]) => {
      const { out } = await type("runs", "list", ...words, "--json");
      return (JSON.parse(out) as { runs: unknown[] }).runs.length;
    };
    expect(await listed("--workflow", "pays")).toBe(2);
    expect(await listed("--tag", "vip")).toBe(1);
    expect(await listed("--since", "1h")).toBe(2);
    expect(await listed("--since", "2100-01-01T00:00:00Z")).toBe(0);
    expect(await listed("--status", "succeeded")).toBe(0);
    expect((await type("runs", "list", "--limit", "1")).err).toMatch(/^There are more: --after \S+\n$/);
    expect(await type("runs", "list", "--since", "yesterday")).toMatchObject({ code: 2 });
  });

  it("are shown with their error and what to type", async () => {
    const run = await startRun("fails");
    await type("runs", "follow", run);
    const { out } = await type("runs", "show", run);
    expect(out).toMatch(/^✗ fails {2}failed .*\n {2}✗ pay .*\n {2}npx holdfast runs retry /);
    expect(out).toContain("The card was refused.");
    expect(out).toMatch(/^Run \S+ failed at .* its step "pay"/m);
    expect(await type("runs", "show", "nothing")).toMatchObject({ code: 3, out: "" });
    const looking = await served.holdfast.tokens.create({
      ...{ agent: "helper", owner_user_id: 1, allowed_capabilities: ["workflows.read", "workflows.manage"] },
    });
    const seen = await typeLines({ url: served.url, token: looking.token }, ["runs", "show", run, "--json"]);
    expect(JSON.parse(seen.out)).toMatchObject({ tree: { run: { run_id: run } }, explanation: null });
  });

  it("take events, are paused, resumed, run again, cancelled and deleted", async () => {
    const run = await startRun("pays");
    expect((await type("runs", "pause", run)).code).toBe(0);
    expect((await type("runs", "send", run, "paid", '{"cents": 7}', "--key", "one")).out).toBe("Sent.\n");
    expect((await type("runs", "resume", run, "--follow")).code).toBe(0);
    expect((await type("runs", "show", run)).out).toContain('"cents": 7');
    const again = (await type("runs", "rerun", run)).out.trim();
    expect((await type("runs", "cancel", again)).out).toBe("The run is cancelled.\n");
    expect((await type("runs", "cancel", again)).out).toBe("The run had ended before: it is cancelled.\n");
    const { code, err } = await type("runs", "follow", again);
    expect([code, err]).toEqual([1, "holdfast: run_not_completed: The run was cancelled.\n"]);
    expect((await type("runs", "delete", again)).out).toBe(`deleted ${again}\n`);
    expect(await type("runs", "send", run, "paid", "7")).toMatchObject({ code: 2 });
  });

  it("are run again with inputs of which some are changed", async () => {
    const run = await startRun("order", { number: "7", cents: 1 });
    const again = (await type("runs", "rerun", run, "--input", "cents=2")).out.trim();
    const { record } = JSON.parse((await type("runs", "show", again, "--json")).out);
    expect(record.inputs).toEqual({ number: "7", cents: 2 });
  });

  it("are cancelled and carried on together, and more than a hundred only when that is said", async () => {
    for (let count = 0; count < 101; count += 1) await served.holdfast.workflows.start("pays");
    const all = ["runs", "cancel", "--workflow", "pays"];
    expect(await type(...all)).toMatchObject({
      code: 2,
      err: expect.stringContaining("say --yes to cancel all of them"),
    });
    expect((await type(...all, "--yes")).out).toMatch(/^cancelling +101$/m);
    expect(await type("runs", "cancel")).toMatchObject({ code: 2, err: expect.stringContaining("Name the run") });
    expect((await type("runs", "cancel", "--tag", "rare")).out).toBe("No run matches.\n");
    const failed = await startRun("fails");
    await type("runs", "follow", failed);
    isMended = true;
    expect((await type("runs", "retry", "--workflow", "fails")).out).toMatch(/^retried +1$/m);
    await eventually(async () => expect((await type("runs", "follow", failed)).code).toBe(0));
  });
});
