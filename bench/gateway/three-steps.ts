// Events through a pipeline of three steps: with plugins that run inside the gateway, and with programs beside bare spawns
// of the same programs with as many commits.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { gatewayPlugin } from "../../src/gateway/plugins/in-process-plugin.ts";
import { createHoldfast } from "../../src/holdfast.ts";
import { figure, table } from "../markdown.ts";
import type { Section } from "../section.ts";
import { inTemporaryFolder } from "../temporary-folder.ts";

const sizes = {
  full: { inside: 5_000, programs: 10_000 },
  quick: { inside: 300, programs: 100 },
} as const;

const STEPS = 3;
const TARGET_STEPS = 2_000;
const TARGET_RATIO = 0.5;

const ANSWER = '{"status":"ok","result":"done"}';
const PROGRAM = `#!/bin/sh\nread -r request\nprintf '%s\\n' '${ANSWER}'\n`;

const pipeline = {
  name: "three-steps",
  on: "bench.event",
  steps: ["one", "two", "three"].map((id) => ({ id, uses: `step-${id}` })),
};

export const gatewayPipelines: Section = {
  name: "gateway",
  title: "Events through a pipeline of three steps",
  async measure(size) {
    const { inside, programs } = sizes[size];
    const insideRate = await inTemporaryFolder((folder) => measureInside(folder, inside));
    const gatewayRate = await inTemporaryFolder((folder) => measurePrograms(folder, programs));
    const bareRate = await inTemporaryFolder((folder) => measureBare(folder, programs));
    const ratio = gatewayRate / bareRate;
    return {
      targets: [
        {
          says: "steps per second inside the gateway, SQLite NORMAL",
          limit: { atLeast: TARGET_STEPS },
          measured: Math.round(insideRate * STEPS),
          unit: "steps per second",
        },
        {
          says: "events per second with programs, beside bare spawns",
          limit: { atLeast: TARGET_RATIO },
          measured: ratio,
        },
      ],
      tables: [
        table(
          ["", "events per second", "steps per second"],
          [
            ["plugins inside the gateway", figure(insideRate), figure(insideRate * STEPS)],
            ["programs, one after another", figure(gatewayRate), figure(gatewayRate * STEPS)],
            ["bare spawns with two commits each", figure(bareRate), figure(bareRate * STEPS)],
          ],
        ),
      ],
      reading:
        "Every step is a claim and a commit of its own: state, the next job, the log and the event stream are written together. " +
        "The bare spawns start the same program with the same request, read its answer and make two commits of one row each.",
    };
  },
};

async function measureInside(folder: string, events: number): Promise<number> {
  const plugins = ["one", "two", "three"].map((id) =>
    gatewayPlugin({ name: `step-${id}`, commands: { handle: { run: () => "done" } } }),
  );
  return await measure(folder, events, { config: { pipelines: [pipeline] }, plugins });
}

async function measurePrograms(folder: string, events: number): Promise<number> {
  const root = join(folder, "plugins");
  for (const id of ["one", "two", "three"]) writePlugin(root, `step-${id}`);
  return await measure(folder, events, { config: { plugin_roots: [root], pipelines: [pipeline] } });
}

/** Events per second, from the moment at which the dispatcher is resumed with all of them queued. */
async function measure(folder: string, events: number, gateway: object): Promise<number> {
  const holdfast = await createHoldfast({
    backend: sqlite(join(folder, "holdfast.db"), { synchronous: "normal" }),
    agents: [],
    gateway,
  });
  try {
    const { gateway: opened } = holdfast;
    if (!opened) throw new Error("There is no gateway.");
    await opened.pause("bench");
    for (let event = 0; event < events; event++) {
      await opened.emit({ type: "bench.event", payload: { event } }, { via: "bench" });
    }
    const begun = performance.now();
    await opened.resume();
    for (;;) {
      const { jobs } = await opened.status();
      if ((jobs.queued ?? 0) + (jobs.running ?? 0) === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return events / ((performance.now() - begun) / 1_000);
  } finally {
    await holdfast.close();
  }
}

async function measureBare(folder: string, events: number): Promise<number> {
  const program = join(folder, "program");
  writeFileSync(program, PROGRAM);
  chmodSync(program, 0o755);
  const database = new DatabaseSync(join(folder, "bare.db"));
  database.exec(
    "pragma journal_mode = wal; pragma synchronous = normal; create table jobs (id integer primary key, text text)",
  );
  const insert = database.prepare("insert into jobs (text) values (?)");
  const request = JSON.stringify({
    protocol: 2,
    job_id: crypto.randomUUID(),
    command: "handle",
    config: {},
    state: {},
  });
  const begun = performance.now();
  for (let step = 0; step < events * STEPS; step++) {
    insert.run("claimed");
    insert.run(await answerOf(program, `${request}\n`));
  }
  const rate = events / ((performance.now() - begun) / 1_000);
  database.close();
  return rate;
}

function answerOf(program: string, input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [], { stdio: ["pipe", "pipe", "pipe"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.stdin.on("error", () => undefined);
    child.on("error", reject);
    child.on("close", () => resolve(output));
    child.stdin.end(input);
  });
}

function writePlugin(root: string, name: string): void {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  const manifest = {
    manifest_spec: "ductile.plugin",
    manifest_version: 1,
    name,
    version: "1",
    protocol: 2,
    entrypoint: "run",
  };
  writeFileSync(
    join(folder, "manifest.yaml"),
    JSON.stringify({ ...manifest, commands: [{ name: "handle", type: "write" }] }),
  );
  writeFileSync(join(folder, "run"), PROGRAM);
  chmodSync(join(folder, "run"), 0o755);
}
