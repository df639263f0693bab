// Promise: what is wrong with a workflow is found before it runs, with its place, by people and by scripts.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { newShell } from "./command-line.ts";

const step = (more: string) => `  - { id: a, type: ability, ability: shop/find${more} }\n`;

it("names what is wrong in a folder with its file, line and column, and what is right", async () => {
  const shell = newShell();
  mkdirSync(join(shell.folder, "workflows"));
  writeFileSync(join(shell.folder, "workflows", "good.yaml"), `id: good\nsteps:\n${step(", retry: 3")}`);
  writeFileSync(join(shell.folder, "bad.workflow.yaml"), `id: bad\nsteps:\n${step("")}${step("")}`);
  const checked = await shell.run(["workflows", "check"]);
  expect(checked.code).toBe(1);
  expect(checked.err).toContain("holdfast: workflow_spec_invalid: 1 problem found.\n");
  expect(checked.out.split("\n").slice(0, 3)).toEqual([
    expect.stringMatching(/^bad\.workflow\.yaml:4:\d+: .* \(duplicate_id\)$/),
    expect.stringMatching(/^workflows\/good\.yaml:3:\d+: .* \(retry_ignored\) \(notice\)$/),
    "good (workflows/good.yaml)",
  ]);
});

it("answers for one file in JSON, and refuses what is not there", async () => {
  const shell = newShell();
  writeFileSync(
    join(shell.folder, "one.json"),
    JSON.stringify({ id: "one", steps: [{ id: "s", type: "sleep", for: "1h" }] }),
  );
  const { code, out } = await shell.run(["workflows", "check", "one.json", "--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ valid: true, workflows: [{ id: "one", file: "one.json" }], problems: [] });
  expect(await shell.run(["workflows", "check", "nowhere"])).toMatchObject({ code: 1 });
});
