// `holdfast dev` as its users have it: real processes, and a project whose files are saved while they run.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { newShell, type Shell } from "../../../test/command-line.ts";
import { eventually } from "../../../test/eventually.ts";
import { shell as script, writePlugin, writeScript } from "../../../test/plugin-folders.ts";

const program = fileURLToPath(new URL("../main.ts", import.meta.url));
const holdfast = JSON.stringify(new URL("../../index.ts", import.meta.url).href);

describe("holdfast dev", () => {
  it("serves a project anew when its file is saved, on the same port and with the threads from before", async () => {
    const shell = newShell();
    save(shell, project("greeter"));
    const dev = await startDev(shell);
    const thread = await ask(shell, "POST", "/threads", { agent: "greeter", key: "mine" });
    const before = serverOf(shell);
    saveInPlace(shell, project("greeter", "clerk"));
    await dev.says("holdfast.config.mts has changed");
    await dev.says("Served anew. Agents: greeter, clerk");
    const after = serverOf(shell);
    expect(after.url).toBe(before.url);
    expect(after.pid).not.toBe(before.pid);
    expect(await ask(shell, "POST", "/agents/clerk/chat", { message: "Hello" })).toMatchObject({ completed: true });
    expect(await ask(shell, "GET", "/threads/by-key/mine")).toMatchObject({ id: thread.id });
    expect(await dev.end("SIGTERM")).toEqual([0, null]);
    expect([before.pid, after.pid].map(isAlive)).toEqual([false, false]);
  });

  it("goes on with what it has while a file is wrong, says where, and takes the file once it is mended", async () => {
    const shell = newShell();
    const agents = 'export const names = ["greeter"];\n';
    save(shell, agents, "agents.mjs");
    save(shell, projectOf('import { names } from "./agents.mjs";'));
    const dev = await startDev(shell);
    const { pid } = serverOf(shell);
    save(shell, `${agents}const more = {;\n`, "agents.mjs");
    await dev.says("holdfast: config_invalid: agents.mjs:2: Unexpected token ';'\n");
    save(shell, `${agents}export const more = missing;\n`, "agents.mjs");
    await dev.says("holdfast: config_invalid: agents.mjs:2: missing is not defined\n");
    save(shell, 'export const names = ["greeter", "greeter"];\n', "agents.mjs");
    await dev.says("holdfast: invalid_");
    expect(serverOf(shell).pid).toBe(pid);
    expect(await ask(shell, "POST", "/agents/greeter/chat", { message: "Hello" })).toMatchObject({ completed: true });
    save(shell, 'export const names = ["clerk"];\n', "agents.mjs");
    await dev.says("agents.mjs has changed");
    await dev.says("Agents: clerk");
    expect(await ask(shell, "GET", "/agents")).toMatchObject({ agents: [{ slug: "clerk" }] });
  });

  it("finds before it replaces anything that a model cannot be asked", async () => {
    const shell = newShell();
    save(shell, project("greeter"));
    const dev = await startDev(shell);
    const { pid } = serverOf(shell);
    save(shell, project("greeter").replace("description:", 'model: "nowhere/no-model", description:'));
    await dev.says("holdfast: model_provider_unknown: ");
    await dev.says("Until it is mended, what was there before is served.");
    expect(serverOf(shell).pid).toBe(pid);
  });

  it("serves a workflow whose file comes into the project, and goes on with what it has while the file is wrong", async () => {
    const shell = newShell();
    const rests = (id: string, length: string) => `id: ${id}\nsteps:\n  - { id: a, type: sleep, for: ${length} }\n`;
    const served = async () => {
      const { workflows } = (await ask(shell, "GET", "/workflows")) as { workflows: { workflow_id: string }[] };
      return workflows.map(({ workflow_id }) => workflow_id);
    };
    save(shell, project("greeter"));
    const dev = await startDev(shell);
    expect(await served()).toEqual([]);
    save(shell, rests("weekly", "1ms"), "weekly.workflow.yaml");
    await eventually(async () => expect(await served()).toEqual(["weekly"]));
    mkdirSync(join(shell.folder, "workflows"));
    save(shell, rests("nightly", "soon"), "workflows/nightly.yaml");
    await dev.says("holdfast: workflow_spec_invalid: workflows/nightly.yaml:3:27: ");
    await dev.says("Until it is mended, what was there before is served.");
    expect(await served()).toEqual(["weekly"]);
    save(shell, rests("nightly", "1ms"), "workflows/nightly.yaml");
    await eventually(async () => expect(await served()).toEqual(["weekly", "nightly"]));
  });

  it("tries a project out without running what its gateway has scheduled", async () => {
    const shell = newShell();
    const scheduled = (name: string) => `import { appendFileSync } from "node:fs";
import { agent, gatewayPlugin } from ${holdfast};
const run = () => (appendFileSync("polled", "polled "), "Polled.");
const clock = gatewayPlugin({ name: "clock", commands: { poll: { run } } });
const config = { plugins: { clock: { schedules: [{ every: "1h" }] } } };
const agents = [agent({ slug: "${name}", description: "Says something." })];
export default { agents, gateway: { config, plugins: [clock] } };
`;
    const polled = () => readFileSync(join(shell.folder, "polled"), "utf8");
    const last = async () => (await ask(shell, "GET", "/scheduler/jobs")).schedules;
    save(shell, scheduled("greeter"));
    const dev = await startDev(shell);
    await eventually(async () => expect(await last()).toMatchObject([{ last_success_at: expect.any(String) }]));
    for (const name of ["clerk", "porter", "cook"]) {
      save(shell, scheduled(name));
      await dev.says(`Served anew. Agents: ${name}`);
    }
    expect(polled()).toBe("polled ");
  });

  it("serves the gateway anew when its configuration, a file that this includes, or a plugin of it is saved", async () => {
    const shell = newShell();
    const configure = (file: string, config: object) => save(shell, JSON.stringify(config), file);
    const pipeline = (name: string, uses: string) => ({
      ...{ name, on: `${name}.wanted`, execution_mode: "synchronous", steps: [{ uses }] },
    });
    const result = async () => (await ask(shell, "POST", "/pipeline/two", {})).result;
    save(shell, project("greeter").replace("export default {", 'export default { gateway: "gateway.yaml",'));
    configure("gateway.yaml", { pipelines: [pipeline("one", "echo")] });
    const dev = await startDev(shell);
    configure("gateway.yaml", { include: "more.yaml" });
    await dev.says("holdfast: gateway_config_invalid: gateway.yaml:1:2: more.yaml: There is no such file");
    await dev.says("Until it is mended, what was there before is served.");
    configure("more.yaml", { pipelines: [pipeline("two", "echo")] });
    await dev.says("more.yaml has changed");
    await dev.says("Served anew.");
    expect((await ask(shell, "GET", "/pipelines")).pipelines).toMatchObject([{ name: "two" }]);
    configure("more.yaml", { pipelines: [pipeline("two", "own")], plugins: { own: { retry: { max_attempts: 1 } } } });
    await dev.says("holdfast: gateway_config_invalid: ");
    writePlugin(join(shell.folder, "plugins"), "own");
    await eventually(async () => expect(await result()).toMatchObject({ result: "done" }));
    writeScript(join(shell.folder, "plugins", "own", "run"), script(`echo '{"status":"ok","result":"saved"}'`));
    await eventually(async () => expect(await result()).toMatchObject({ result: "saved" }));
    expect(await dev.end("SIGTERM")).toEqual([0, null]);
  });

  it("takes a gateway.yaml that is made where neither a project nor another one was", async () => {
    const shell = newShell();
    const dev = await startDev(shell);
    save(
      shell,
      JSON.stringify({ pipelines: [{ name: "mine", on: "mine", steps: [{ uses: "echo" }] }] }),
      "gateway.yaml",
    );
    await dev.says("Served anew.");
    expect((await ask(shell, "GET", "/pipelines")).pipelines).toMatchObject([{ name: "mine" }]);
  });

  it("has the gateway read its configuration again on SIGHUP, and goes on serving", async () => {
    const shell = newShell();
    const dev = await startDev(shell);
    const { pid } = serverOf(shell);
    for (const _ of [1, 2]) {
      if (dev.pid !== undefined) process.kill(dev.pid, "SIGHUP");
      await dev.says("Reloaded: ");
      await dev.says("plugins, 2 pipelines.\n");
    }
    expect(serverOf(shell).pid).toBe(pid);
    save(shell, project("greeter"));
    await dev.says("Served anew.");
    if (dev.pid !== undefined) process.kill(dev.pid, "SIGHUP");
    await dev.says("There is no gateway");
    expect(await dev.end("SIGTERM")).toEqual([0, null]);
  });

  it("ends in good order when its terminal is closed", async () => {
    const shell = newShell();
    const words = ["dev", "--port", "0"];
    // Python has the terminals that Node has not: this one is closed once the server says that it can be killed.
    const source = `import os, pty, sys
pid, terminal = pty.fork()
if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
printed = b""
while b"Kill this process" not in printed: printed += os.read(terminal, 65536)
print(pid, flush=True)
sys.stdin.read()
`;
    const python = spawn("python3", ["-c", source, process.execPath, program, ...words], {
      cwd: shell.folder,
      env: { ...process.env, HOLDFAST_MODEL: "demo" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const [printed] = await once(python.stdout, "data");
    const pids = [Number(String(printed)), serverOf(shell).pid];
    onTestFinished(() => {
      for (const pid of pids) if (isAlive(pid)) process.kill(pid, "SIGKILL");
    });
    python.kill("SIGKILL");
    await eventually(() => expect(pids.map(isAlive)).toEqual([false, false]));
    expect(existsSync(join(shell.folder, ".holdfast", "server.json"))).toBe(false);
  });

  it("waits for an imported file that is not there yet", async () => {
    const shell = newShell();
    save(shell, project("greeter"));
    const dev = await startDev(shell);
    save(shell, projectOf('import { names } from "./parts/names.mts";'));
    await dev.says("holdfast: config_invalid: holdfast.config.mts: Cannot find module");
    mkdirSync(join(shell.folder, "parts"));
    save(shell, 'export const names: string[] = ["clerk"];\n', "parts/names.mts");
    await dev.says("Agents: clerk");
    rmSync(join(shell.folder, "holdfast.config.mts"));
    await dev.says("holdfast: config_not_found: There is no file");
    expect(await ask(shell, "GET", "/agents")).toMatchObject({ agents: [{ slug: "clerk" }] });
  });

  it("takes the project that is made where there was none", async () => {
    const shell = newShell();
    const dev = await startDev(shell);
    save(shell, project("greeter"));
    await dev.says("Agents: greeter");
  });

  it("ends in good order when somebody types Ctrl-C, which a terminal sends to every process in it", async () => {
    const shell = newShell();
    const dev = await startDev(shell);
    if (dev.pid !== undefined) process.kill(-dev.pid, "SIGINT");
    expect(await dev.ended).toEqual([0, null]);
    await dev.says("Ends: what is under way comes to a commit first.");
    expect(existsSync(join(shell.folder, ".holdfast", "server.json"))).toBe(false);
  });

  it("leaves the database free when it is killed", async () => {
    const shell = newShell();
    save(shell, project("greeter"));
    const dev = await startDev(shell);
    const { pid } = serverOf(shell);
    await dev.end("SIGKILL");
    await eventually(() => expect(isAlive(pid)).toBe(false));
    expect((await shell.run(["run", "greeter", "Hello"])).code).toBe(0);
  });

  it("ends with what keeps it from serving, or with what its server ended with", async () => {
    const shell = newShell();
    save(shell, "export default { agents: [\n");
    expect(await shell.run(["dev", "--port", "0"])).toMatchObject({
      ...{ code: 1, out: "" },
      err: expect.stringMatching(/^holdfast: config_invalid: holdfast\.config\.mts:\d+: .+\n$/),
    });
    save(shell, `${project("greeter")}\nprocess.send?.("ready");\nprocess.on("SIGUSR2", () => process.exit(7));\n`);
    const dev = await startDev(shell);
    process.kill(serverOf(shell).pid, "SIGUSR2");
    expect(await dev.ended).toEqual([7, null]);
    await dev.says("holdfast: server_ended: The server ended with exit code 7.");
  });

  it("stays as it is with --no-reload", async () => {
    const shell = newShell();
    save(shell, project("greeter"));
    const dev = await startDev(shell, "--no-reload");
    expect(serverOf(shell).pid).toBe(dev.pid);
    expect(dev.printed()).not.toContain("served anew");
    expect(await dev.end("SIGINT")).toEqual([0, null]);
  });
});

type Dev = {
  readonly pid: number | undefined;
  readonly ended: Promise<unknown[]>;
  printed(): string;
  /** Waits for words that were not there at the last call. */
  says(words: string): Promise<void>;
  end(signal: NodeJS.Signals): Promise<unknown[]>;
};

async function startDev({ folder }: Shell, ...words: string[]): Promise<Dev> {
  const child: ChildProcess = spawn(process.execPath, [program, "dev", "--port", "0", ...words], {
    cwd: folder,
    env: { ...process.env, HOLDFAST_MODEL: "demo" },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, as a shell gives to what is typed.
    detached: true,
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let printed = "";
  let read = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk) => {
      printed += String(chunk);
    });
  }
  const dev: Dev = {
    pid: child.pid,
    ended,
    printed: () => printed,
    says: (sentence) =>
      eventually(() => {
        const at = printed.indexOf(sentence, read);
        expect(at, `"${sentence}" is not in ${printed.slice(read)}`).not.toBe(-1);
        read = at + sentence.length;
      }),
    async end(signal) {
      child.kill(signal);
      return await ended;
    },
  };
  await dev.says("Kill this process whenever you like");
  return dev;
}

function projectOf(names: string): string {
  return `import { agent } from ${holdfast};
${names}
export default { agents: names.map((slug: string) => agent({ slug, description: "Says something." })) };
`;
}

function project(...names: string[]): string {
  return projectOf(`const names = ${JSON.stringify(names)};`);
}

/** As editors do that put another file in its place. */
function save({ folder }: Shell, text: string, name = "holdfast.config.mts"): void {
  writeFileSync(join(folder, "unsaved"), text);
  renameSync(join(folder, "unsaved"), join(folder, name));
}

function saveInPlace({ folder }: Shell, text: string): void {
  writeFileSync(join(folder, "holdfast.config.mts"), text);
}

function serverOf({ folder }: Shell): { readonly url: string; readonly pid: number } {
  return JSON.parse(readFileSync(join(folder, ".holdfast", "server.json"), "utf8"));
}

async function ask(shell: Shell, method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const token = readFileSync(join(shell.folder, ".holdfast", "owner-token"), "utf8").trim();
  const answer = await fetch(new URL(path, serverOf(shell).url), {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Record<string, unknown>;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
