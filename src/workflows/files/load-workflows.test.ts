import { symlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { folderWith } from "../../yaml/folder-in-test.ts";
import { type LoadOptions, loadWorkflows, readWorkflowFile } from "./load-workflows.ts";
import type { WorkflowProblem } from "./read-file.ts";

const step = "{ id: a, type: ability, ability: demo/a }";
const minimal = (id: string) => `id: ${id}\nsteps:\n  - ${step}\n`;

const shown = (problems: readonly WorkflowProblem[]) =>
  problems.map(({ file, line, column, code, path }) =>
    [`${file}:${line}:${column}`, code, ...(path === undefined ? [] : [path])].join(" "),
  );

function problemsOf(content: string | Uint8Array, name = "w.yaml"): string[] {
  using folder = folderWith({ [name]: content });
  const read = readWorkflowFile(name, { cwd: folder.path });
  return "problems" in read ? shown(read.problems) : [];
}

function load(files: Readonly<Record<string, string | Uint8Array>>, at = ".", options: LoadOptions = {}) {
  using folder = folderWith(files);
  const { workflows, problems } = loadWorkflows(at, { cwd: folder.path, ...options });
  return { ids: workflows.map(({ spec }) => spec.id), files: workflows.map(({ file }) => file), problems };
}

describe("a workflow file", () => {
  it("is a spec in YAML or JSON", () => {
    const json = '\ufeff{\n\t"id": "w",\n\t"steps": [{"id":"a","type":"ability","ability":"demo\\/a"}]\n}\n';
    using folder = folderWith({ "w.yaml": minimal("w"), "w.json": json });
    const [yaml, same] = ["w.yaml", "w.json"].map((name) => readWorkflowFile(name, { cwd: folder.path }));
    expect(yaml).toMatchObject({
      spec: { id: "w", version: "0.0.0", steps: [{ id: "a", type: "ability", ability: "demo/a" }] },
      file: "w.yaml",
      notices: [],
    });
    expect(same).toEqual({ ...yaml, file: "w.json" });
  });

  it("has its errors and notices where they stand, and what is missing where it ought to", () => {
    const text = [
      "id: w",
      "steps:",
      "  - { id: a, type: ability, ability: demo/a, retry: often }",
      "  - id: b",
      "    type: branch",
      "    cases:",
      "      - when: { path: inputs.n, op: nearly }",
      "        steps:",
      "          - type: sleep",
      "            for: long",
      "    else: [{ id: c, type: ability }]",
    ].join("\n");
    expect(problemsOf(text)).toEqual([
      "w.yaml:7:9 invalid_predicate steps.1.cases.0.when",
      "w.yaml:9:13 missing_required steps.1.cases.0.steps.0.id",
      "w.yaml:10:13 invalid_duration steps.1.cases.0.steps.0.for",
      "w.yaml:11:12 missing_required steps.1.else.0.ability",
    ]);
    using folder = folderWith({ "w.yaml": minimal("w").replace("{ id", "{ retry: 1, id") });
    const read = readWorkflowFile("w.yaml", { cwd: folder.path });
    expect("notices" in read ? shown(read.notices) : []).toEqual(["w.yaml:3:7 retry_ignored steps.0.retry"]);
  });

  it("may have its steps under keys", () => {
    expect(problemsOf(`id: w\nsteps:\n  one: ${step}\n  two: { id: a, type: agent }\n`)).toEqual([
      "w.yaml:4:3 missing_required steps.1.agent",
      "w.yaml:4:3 missing_required steps.1.message",
      "w.yaml:4:10 duplicate_id steps.1.id",
    ]);
  });

  it.each<[string, string | Uint8Array, string[]]>([
    ["nothing", "", ["w.yaml:1:1 invalid_type"]],
    ["a list", "- a", ["w.yaml:1:1 invalid_type"]],
    ["a key twice", "id: w\nid: v\nsteps: []", ["w.yaml:2:1 duplicate_key"]],
    ["a key __proto__", "id: w\n__proto__: {}\n", ["w.yaml:2:1 unsafe_key"]],
    ["an anchor that repeats itself", "id: w\nsteps: &s [*s]", ["w.yaml:2:12 alias_in_itself"]],
    ["an alias of nothing", "id: *w", ["w.yaml:1:5 unknown_alias"]],
    ["a tag", "id: !run w", ["w.yaml:1:5 unsupported_tag"]],
    ["two documents", "id: w\n---\nid: v", ["w.yaml:2:1 invalid_yaml"]],
    ["a tab", "id: w\nsteps:\n\t- a", ["w.yaml:3:1 invalid_yaml"]],
    ["a control character", "id: w\u0000", ["w.yaml:1:6 not_text"]],
    ["bytes that are no text", new Uint8Array([0x69, 0x0a, 0xff, 0xfe]), ["w.yaml:2:1 not_text"]],
    ["more than a mebibyte", `id: ${"w".repeat(1_048_576)}`, ["w.yaml:1:1 too_large"]],
    ["lists in ten thousand lists", `id: ${"[".repeat(10_000)}`, ["w.yaml:1:104 nested_too_deep"]],
  ])("with %s is refused with a place and a code", (_what, text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  it("in which aliases multiply is refused", () => {
    const rows = Array.from({ length: 20 }, (_, row) => `r${row + 1}: &r${row + 1} [*r${row}, *r${row}]`);
    expect(problemsOf(["id: w", "r0: &r0 [1]", ...rows].join("\n"))).toContainEqual(
      expect.stringMatching(/ too_many_aliases$/),
    );
  });

  it.each([
    ["# a comment\n{}", "w.json:1:1 invalid_json"],
    ['{"id": "w",\n "steps": [],}', "w.json:2:14 invalid_json"],
    ['{"id": "w", "id": "v"}', "w.json:1:13 duplicate_key"],
  ])("that ends in .json holds JSON, which %j is not", (text, problem) => {
    expect(problemsOf(text, "w.json")).toEqual([problem]);
  });

  it("that is not there or a folder is told of", () => {
    using folder = folderWith({ "below/w.yaml": minimal("w") });
    for (const path of ["none.yaml", "below"]) {
      const read = readWorkflowFile(path, { cwd: folder.path });
      expect("problems" in read && shown(read.problems)).toEqual([`${path}:1:1 unreadable`]);
    }
  });

  it("never makes reading throw, whatever is in it", () => {
    const bytes = fc.oneof(
      fc.uint8Array(),
      fc.string({ unit: fc.constantFrom(..."{}[]:-&*!|>'\"#%@\\,\n\t ab0~<") }).map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bytes, fc.constantFrom("w.yaml", "w.json"), (content, name) => {
        for (const problem of problemsOf(content, name)) expect(problem).toMatch(/^w\.\w+:\d+:\d+ [a-z_]+/);
      }),
    );
  });
});

describe("the workflow files of a folder", () => {
  it("are named *.workflow.yaml, or stand below a folder named workflows", () => {
    const { ids, files, problems } = load({
      "b.workflow.yaml": minimal("b"),
      "a.workflow.yml": minimal("a"),
      "deep/down/c.workflow.json": '{"id":"c","steps":[{"id":"a","type":"ability","ability":"x"}]}',
      "deep/workflows/more/d.yaml": minimal("d"),
      "deep/e.yaml": "no workflow",
      "deep/workflows/readme.md": "no workflow",
      "node_modules/x/workflows/f.yaml": minimal("f"),
      ".hidden/workflows/g.yaml": minimal("g"),
    });
    expect(problems).toEqual([]);
    expect(ids).toEqual(["a", "b", "c", "d"]);
    expect(files.at(-1)).toBe("deep/workflows/more/d.yaml");
    expect(load({ "workflows/h.yml": minimal("h") }, "workflows").ids).toEqual(["h"]);
  });

  it("are loaded beside others that are broken, and the second with one id names the first", () => {
    const { ids, problems } = load({
      "workflows/1.yaml": minimal("same"),
      "workflows/2.yaml": `# again\n${minimal("same")}`,
      "workflows/3.yaml": "id: [",
      "workflows/4.yaml": "id: w\nsteps: []",
      "workflows/5.yaml": minimal("other"),
    });
    expect(ids).toEqual(["same", "other"]);
    expect(shown(problems)).toEqual([
      "workflows/3.yaml:1:6 invalid_yaml",
      "workflows/2.yaml:2:1 duplicate_workflow id",
      "workflows/4.yaml:2:1 missing_required steps",
    ]);
    expect(problems[1]?.message).toBe('The workflow "same" stands at workflows/1.yaml:1:1 already.');
  });

  it("know each other, and workflows from elsewhere: none of them runs itself", () => {
    const runs = (id: string, other: string) => `id: ${id}\nsteps: [{ id: s, type: workflow, workflow: ${other} }]\n`;
    const files = { "workflows/a.yaml": runs("a", "b"), "workflows/b.yaml": runs("b", "c") };
    expect(load(files).ids).toEqual(["a", "b"]);
    const { problems } = load(files, ".", { workflows: (id) => (id === "c" ? ["a"] : []) });
    expect(shown(problems)).toEqual([
      "workflows/a.yaml:2:34 nests_itself steps.0.workflow",
      "workflows/b.yaml:2:34 nests_itself steps.0.workflow",
    ]);
  });

  it("are read once, and never from outside through a link", () => {
    using elsewhere = folderWith({ "secret.yaml": minimal("secret"), "workflows/x.yaml": minimal("x") });
    using folder = folderWith({ "workflows/a.yaml": minimal("a"), "shared/b.yaml": minimal("b") });
    const link = (target: string, name: string) => symlinkSync(target, join(folder.path, "workflows", name));
    link(join(elsewhere.path, "secret.yaml"), "c.yaml");
    link(join(elsewhere.path, "workflows"), "d");
    link("nowhere.yaml", "e.yaml");
    link("f.yaml", "f.yaml");
    link("a.yaml", "g.yaml");
    link("../shared", "h");
    link("..", "i");
    link(join(elsewhere.path, "secret.yaml"), "not-a-workflow");
    const { workflows, problems } = loadWorkflows(folder.path, { cwd: folder.path });
    expect(workflows.map(({ spec }) => spec.id).sort()).toEqual(["a", "b"]);
    expect(shown(problems)).toEqual([
      "workflows/c.yaml:1:1 outside_folder",
      "workflows/d:1:1 outside_folder",
      "workflows/e.yaml:1:1 unreadable",
      "workflows/f.yaml:1:1 unreadable",
    ]);
  });

  it("are looked for in a folder that is there", () => {
    expect(() => load({}, "none")).toThrow("invalid_argument: folder none is not there");
    expect(load({})).toEqual({ ids: [], files: [], problems: [] });
  });
});
