// Promise: from a terminal a workflow is started, watched, answered and come back to, with a server or without; and a
// project has the workflows that stand in its files.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { newShell, type Shell } from "../command-line.ts";
import { eventually } from "../eventually.ts";

const start = ["workflows", "start", "refund", "--input", "order=7"];

function waitingRequest(shell: Shell): Promise<string> {
  return eventually(async () => {
    const { approvals } = (await shell.json("approvals", "list")) as { approvals: { request_id: string }[] };
    if (!approvals[0]) throw new Error("Nothing is asked yet.");
    return approvals[0].request_id;
  });
}

function books({ folder }: Shell): readonly string[] {
  return readFileSync(join(folder, ".holdfast", "refunds.txt"), "utf8")
    .trim()
    .split("\n");
}

describe("the workflow of the tour", () => {
  it("is followed over kill -9 and a restart, with no event lost or repeated, and refunds once", async () => {
    const shell = newShell();
    const server = await shell.serve();
    const following = shell.run([...start, "--follow"]);
    const request = await waitingRequest(shell);
    await server.kill();
    const again = await shell.serve("--port", new URL(server.url).port);
    expect((await shell.run(["approvals", "accept", request])).code).toBe(0);
    const { code, out } = await following;
    expect(code).toBe(0);
    const lines = out.trim().split("\n");
    expect(lines.at(-1)).toMatch(/^✓ refund {2}succeeded /);
    const ids = lines.slice(0, -1).map((line) => line.split(" ")[0]);
    expect(new Set(ids).size).toBe(ids.length);
    for (const what of ["run.started", "step.ended  order  succeeded", "step.ended  ask  succeeded", "run.ended"]) {
      expect(out).toContain(what);
    }
    expect(books(shell)).toEqual([expect.stringMatching(/^7 1200 hf_/)]);
    await again.end();
  });

  it("goes on without a server while it is watched, as far as it can without an answer", async () => {
    const shell = newShell();
    const stored = await shell.run(start);
    expect(stored).toMatchObject({ code: 0, err: expect.stringContaining("No server runs here") });
    const run = stored.out.trim();
    const waits = await shell.run(["runs", "follow", run]);
    expect(waits.code).toBe(1);
    expect(waits.err).toMatch(/run_not_completed: The run waits: waiting for approval\.\n.*holdfast runs follow/);
    const shown = await shell.run(["runs", "show", run]);
    const [, request = ""] = /holdfast approvals accept (\S+)/.exec(shown.out) ?? [];
    expect((await shell.run(["approvals", "accept", request])).out).toBe("Accepted.\n");
    expect((await shell.run(["runs", "follow", run, "--json"])).code).toBe(0);
    expect(books(shell)).toHaveLength(1);
    const { record } = await shell.json("runs", "show", run);
    expect(record).toMatchObject({ output: { last: { order: "7", refunded_cents: 1200 } } });
  });
});

describe("the workflows of a project", () => {
  const rests = (id: string) => `id: ${id}\nsteps:\n  - { id: rest, type: sleep, for: 1ms }\n`;

  function save({ folder }: Shell, files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
  }

  const program = (
    workflows: string,
  ) => `import { agent } from ${JSON.stringify(new URL("../../src/index.ts", import.meta.url).href)};
export default { agents: [agent({ slug: "desk", description: "Helps." })], workflows: ${workflows} };\n`;

  it("are those of its program and of its files, and run where it is served", async () => {
    const shell = newShell();
    save(shell, {
      "holdfast.config.mts": program('[{ id: "own", steps: [{ id: "rest", type: "sleep", for: "1ms" }] }]'),
      "workflows/nightly.yaml": rests("nightly"),
      "agents/desk/hello.workflow.yaml": rests("hello"),
      "weekly.workflow.yaml": rests("weekly"),
    });
    const server = await shell.serve();
    const { workflows } = (await shell.json("workflows", "list")) as { workflows: { workflow_id: string }[] };
    expect(workflows.map(({ workflow_id }) => workflow_id)).toEqual(["own", "weekly", "hello", "nightly"]);
    expect((await shell.run(["workflows", "start", "hello", "--wait"])).code).toBe(0);
    await server.end();
  });

  it("keep it from being served when one of them is wrong, each mistake with its place, and its database from nothing", async () => {
    const shell = newShell();
    save(shell, {
      "holdfast.config.mts": program('[{ id: "own", steps: [{ id: "rest", type: "sleep", for: "1ms" }] }]'),
      "workflows/nightly.yaml": rests("nightly").replace("1ms", "soon"),
      "workflows/own.yaml": `# again\n${rests("own")}`,
    });
    const { code, err } = await shell.run(["serve", "--port", "0"]);
    expect(code).toBe(1);
    expect(err).toContain("holdfast: workflow_spec_invalid: The files of workflows have 2 problems:\n");
    expect(err).toContain(
      'workflows/own.yaml:2:1: The workflow "own" is one of the program\'s already. (duplicate_workflow)\n',
    );
    expect(err).toMatch(/^workflows\/nightly\.yaml:3:30: .* \(invalid_duration\)$/m);
    expect((await shell.run(["db", "migrate"])).code).toBe(0);
    save(shell, { "workflows/nightly.yaml": rests("nightly") });
    const one = await shell.run(["runs", "list"]);
    expect(one.err).toMatch(/^holdfast: workflow_spec_invalid: workflows\/own\.yaml:2:1: /);
  });

  it("may have the types of steps that the program adds, which a check knows too", async () => {
    const shell = newShell();
    const project = program("[]").replace("workflows: []", "stepHandlers: { dance: () => ({ danced: true }) }");
    save(shell, {
      "holdfast.config.mts": project,
      "workflows/party.yaml": "id: party\nsteps:\n  - { id: a, type: dance }\n",
    });
    expect((await shell.run(["workflows", "check"])).out).toContain("1 workflow: no problems.");
    const { code, out } = await shell.run(["workflows", "start", "party", "--wait", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ status: "succeeded", output: { last: { danced: true } } });
  });
});
