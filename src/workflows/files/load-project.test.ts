import { join, relative } from "node:path";
import { expect, it } from "vitest";
import { folderWith } from "../../yaml/folder-in-test.ts";
import { loadProjectWorkflows } from "./load-project.ts";

const minimal = (id: string) => `id: ${id}\nsteps:\n  - { id: a, type: ability, ability: demo/a }\n`;
const runs = (id: string, other: string) => `id: ${id}\nsteps: [{ id: s, type: workflow, workflow: ${other} }]\n`;

it("has the workflows in its folders agents and workflows, and in the files *.workflow.yaml beside these", () => {
  using folder = folderWith({
    "a.workflow.yaml": minimal("a"),
    "agents/b.workflow.yml": minimal("b"),
    "agents/support/workflows/c.yaml": minimal("c"),
    "workflows/more/d.json": '{"id":"d","steps":[{"id":"a","type":"ability","ability":"x"}]}',
    "agents/prompts.yaml": "no workflow",
    "data.yaml": "no workflow",
    "dist/workflows/a.yaml": minimal("a"),
    "src/e.workflow.yaml": minimal("e"),
  });
  const { workflows, problems, lookedAt } = loadProjectWorkflows(".", { cwd: folder.path });
  expect(problems).toEqual([]);
  expect(workflows.map(({ spec, file }) => `${spec.id} ${file}`)).toEqual([
    "a a.workflow.yaml",
    "b agents/b.workflow.yml",
    "c agents/support/workflows/c.yaml",
    "d workflows/more/d.json",
  ]);
  expect(lookedAt.map((path) => relative(folder.path, path))).toEqual(
    expect.arrayContaining(["*.workflow.yaml", "agents/support", "workflows", "workflows/more", "a.workflow.yaml"]),
  );
  expect(lookedAt).not.toContain(join(folder.path, "dist"));
});

it("has none of an id that its program has, and knows what those of the program run", () => {
  using folder = folderWith({ "workflows/a.yaml": minimal("a"), "workflows/b.yaml": runs("b", "c") });
  const program = new Map([
    ["a", {}],
    ["c", { id: "c", steps: [{ id: "s", type: "workflow", workflow: "b" }] }],
  ]);
  const { workflows, problems } = loadProjectWorkflows(".", { cwd: folder.path, program });
  expect(workflows).toEqual([]);
  expect(problems).toMatchObject([
    { file: "workflows/a.yaml", line: 1, column: 1, code: "duplicate_workflow" },
    { file: "workflows/b.yaml", line: 2, code: "nests_itself" },
  ]);
  expect(problems[0]?.message).toBe(`The workflow "a" is one of the program's already.`);
});
