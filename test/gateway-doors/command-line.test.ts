// The verbs of the gateway on a command line: with a server beside the database and on the database itself, for people and
// with --json, and the exit code of each.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { newShell, type Shell } from "../command-line.ts";
import { eventually } from "../eventually.ts";
import { shell as script, writePlugin } from "../plugin-folders.ts";

const program = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);

const configuration = {
  plugin_roots: ["plugins"],
  service: { max_workers: 4 },
  plugins: {
    good: { retry: { max_attempts: 1 }, schedules: [{ cron: "0 0 1 1 *" }] },
    bad: { retry: { max_attempts: 1 } },
    "agentic-loop": { config: { allowed_plugins: ["slow"] } },
  },
  pipelines: [
    { name: "p", on: "x.y", steps: [{ id: "only", uses: "good" }] },
    { name: "fails", on: "x.bad", steps: [{ uses: "bad" }] },
    { name: "tool", on: "agentic.tool_request.slow", steps: [{ uses: "slow" }, { uses: "agentic-loop" }] },
  ],
};

/** A folder with a project that has a gateway. Its plugin `slow` ends once there is a file `go`. */
function gatewayShell(
  env: Readonly<Record<string, string>> = {},
): Shell & { readonly configure: (config: object) => void } {
  const shell = newShell(env);
  const plugins = join(shell.folder, "plugins");
  mkdirSync(plugins);
  const manifest = { commands: "[{ name: handle, type: write }, { name: poll, type: read }]" };
  writePlugin(plugins, "good", { manifest, script: script(`echo '{"status":"ok","result":"the result"}'`) });
  writePlugin(plugins, "bad", { script: script(`echo '{"status":"error","error":"the reason","retry":false}'`) });
  const go = join(shell.folder, "go");
  writePlugin(plugins, "slow", {
    script: script(`until [ -e ${go} ]; do sleep 0.1; done`, `echo '{"status":"ok","result":"slow"}'`),
  });
  const configure = (config: object) => writeFileSync(join(shell.folder, "gateway.yaml"), JSON.stringify(config));
  configure(configuration);
  writeFileSync(
    join(shell.folder, "holdfast.config.mts"),
    `import { scriptedPlanner } from ${module("../../src/testing/index.ts")};
    const planner = scriptedPlanner([{ tool: "slow" }, { decision: "done", outcome: "It is done." }]);
    export default { agents: [], gateway: { config: "gateway.yaml", planner } };`,
  );
  return { ...shell, configure };
}

/** Starts `holdfast gateway run` and returns once it answers. */
async function runGateway({ folder }: Shell, ...words: string[]) {
  const child = spawn(process.execPath, [program, "gateway", "run", ...words, "--port", "0"], {
    cwd: folder,
    env: { ...process.env, HOLDFAST_MODEL: "demo" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  child.stderr.on("data", (piece) => {
    printed += String(piece);
  });
  const server = join(folder, ".holdfast", "server.json");
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(printed);
    expect(existsSync(server) && JSON.parse(readFileSync(server, "utf8")).pid).toBe(child.pid);
  });
  return { child, err: () => printed };
}

const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

describe("with a server beside the database", () => {
  it("everything is shown in tables and in JSON, and what is asked for is done", async () => {
    const shell = gatewayShell();
    await shell.serve();
    const run = async (...words: string[]) => {
      const { code, out, err } = await shell.run(["gateway", ...words]);
      expect({ code, err }, words.join(" ")).toEqual({ code: 0, err: "" });
      return out;
    };
    expect(await run("plugins")).toMatch(
      /^NAME +PLUGIN +VERSION +COMMANDS +DESCRIPTION\n(.*\n)*good +good +1\.0\.0 +handle poll/,
    );
    expect(await run("pipelines")).toMatch(/^NAME +TRIGGER +STEPS\np +x\.y +only:good\n/);
    expect(await shell.json("gateway", "pipelines")).toMatchObject({
      pipelines: [{ name: "p", on: "x.y", on_hook: null, steps: [{ id: "only", uses: "good" }] }, {}, {}],
    });
    const job = (await run("emit", "x.y", '{"a":1}', "--key", "k1")).trim();
    expect(job).toMatch(ID);
    expect((await run("emit", "x.y", "--key", "k1")).trim()).toBe("It was emitted before.");
    expect((await run("emit", "x.nothing")).trim()).toBe("No pipeline listens for it.");
    const failing = await shell.json("gateway", "emit", "x.bad");
    await eventually(async () => {
      const { jobs } = (await shell.json("gateway", "status")) as { jobs: Record<string, number> };
      expect(jobs).toMatchObject({ queued: 0, running: 0, succeeded: 1, failed: 1 });
    });
    expect(await run("jobs")).toMatch(
      new RegExp(
        `JOB +STATUS.*\\n.* failed +bad .* fails\\.step_1 +plugin_retry_false\\n${job} +succeeded +good +handle +1/1 +p\\.only`,
      ),
    );
    expect(await run("jobs", "--status", "succeeded", "--plugin", "good", "--limit", "1")).toContain(job);
    const one = await run("jobs", job);
    expect(one).toMatch(/job_id +[0-9a-f-]{36}\n/);
    expect(one).toContain("the result");
    const details = await shell.json("gateway", "jobs", String((failing as { job_ids: string[] }).job_ids[0]));
    expect(details).toMatchObject({
      job: { status: "failed", last_error: "the reason" },
      tree: [{ plugin: "bad" }],
      logs: [{ attempts: [{ outcome: "failed", error: "the reason" }] }],
    });
    const page = await shell.run(["gateway", "jobs", "--limit", "1"]);
    const [, after = ""] = /--after (\S+)/.exec(page.err) ?? [];
    expect((await shell.json("gateway", "jobs", "--limit", "1", "--after", after)).jobs).toMatchObject([
      { job_id: job },
    ]);
    const events = await run("events", "--limit", "3");
    expect(events.trim().split("\n")).toHaveLength(3);
    expect(events).toMatch(/^1 {2}\S+ {2}pipeline\.enqueued {2}\{/);
    expect((await shell.json("gateway", "events", "--after", "1", "--limit", "1")).events).toMatchObject([
      { id: "2", type: "job.enqueued" },
    ]);
    await eventually(async () =>
      expect(await run("schedules")).toMatch(/good +default +poll +cron 0 0 1 1 \* +active +\d{4}-01-01T/),
    );
    expect(await run("pause")).toBe("Paused.\n");
    expect(await run("pause")).toBe("It was paused already.\n");
    const waiting = (await run("emit", "x.y")).trim();
    expect(await shell.json("gateway", "status")).toMatchObject({ is_paused: true, queue_depth: 1 });
    expect(await run("cancel", waiting)).toBe("Cancelled.\n");
    expect(await run("resume")).toBe("Resumed.\n");
    expect(await run("resume")).toBe("It was not paused.\n");
  });

  it("an agent run is started, shown and cancelled, with its trace", async () => {
    const shell = gatewayShell();
    await shell.serve();
    expect(await shell.run(["gateway", "runs", "start", "Do", "it.", "--run", "R1", "--key", "k"])).toEqual({
      ...{ code: 0, out: "R1\n" },
      err: "How it goes on: npx holdfast gateway runs show R1\n",
    });
    expect(await shell.run(["gateway", "runs", "start", "Do", "it.", "--key", "k"])).toMatchObject({
      code: 0,
      out: "It was started before.\n",
    });
    await eventually(async () =>
      expect((await shell.json("gateway", "runs", "list")).runs).toMatchObject([
        { run_id: "R1", pending_tool: "slow" },
      ]),
    );
    expect((await shell.run(["gateway", "runs", "list", "--status", "running"])).out).toMatch(
      /RUN +STATUS.*\nR1 +running +1 +slow .* Do it\./,
    );
    expect((await shell.run(["gateway", "runs", "trace", "R1"])).out).toMatch(
      /TIME +STEP +PHASE +KIND +SUMMARY\n.*frame.*\n.*plan.*\n.*act/,
    );
    expect(await shell.run(["gateway", "runs", "cancel", "R1"])).toMatchObject({ code: 0, out: "Cancelled.\n" });
    await eventually(async () => {
      const shown = await shell.run(["gateway", "runs", "show", "R1"]);
      expect(shown.out).toMatch(/status +escalated\n/);
      expect(shown.out).toMatch(/reason +cancelled\n/);
      const [, folder = ""] = /workspace_dir +(\S+)\n/.exec(shown.out) ?? [];
      expect(existsSync(join(folder, "trace.jsonl"))).toBe(true);
    });
    expect(await shell.run(["gateway", "runs", "cancel", "R1"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("agent_run_ended"),
    });
  });

  it("a valid configuration is taken on a reload, an invalid one is refused with its places and exit code 1", async () => {
    const shell = gatewayShell();
    await shell.serve();
    shell.configure({
      ...configuration,
      pipelines: [...configuration.pipelines, { name: "more", on: "x.more", steps: [{ uses: "good" }] }],
    });
    expect(await shell.run(["gateway", "reload"])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Reloaded: \d+ plugins, 4 pipelines\.\n/),
    });
    shell.configure({ ...configuration, pipelines: [{ name: "more", on: "x.more", steps: [{ uses: "nothing" }] }] });
    const refused = await shell.run(["gateway", "reload", "--json"]);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(JSON.parse(refused.err).error).toMatchObject({
      code: "gateway_config_invalid",
      message: expect.stringMatching(/gateway\.yaml:1:\d+: .*nothing/),
    });
    expect((await shell.json("gateway", "status")).pipelines).toBe(4);
  });

  it("each refusal has the exit code of its kind", async () => {
    const shell = gatewayShell();
    const server = await shell.serve();
    const code = async (words: readonly string[]) => (await shell.run(["gateway", ...words])).code;
    const wrong: readonly (readonly [code: number, ...words: string[]])[] = [
      [3, "jobs", "nothing"],
      [3, "cancel", "nothing"],
      [3, "runs", "show", "nothing"],
      [3, "runs", "trace", "nothing"],
      [3, "runs", "start", "g", "--agent", "good"],
      [4, "emit", "agentic.tool_result"],
      [4, "emit", "agent.completed", "{}"],
      [2, "emit", "x.y", "{"],
      [2, "emit", "x.y", "[1]"],
      [2, "emit", ""],
      [2, "jobs", "--status", "odd"],
      [2, "jobs", "--limit", "many"],
      [2, "jobs", "--limit", "0"],
      [2, "jobs", "--after", "nowhere"],
      [2, "events", "--after", "yesterday"],
      [2, "runs", "start", " "],
      [2, "frob"],
      [5, "status", "--url", "http://127.0.0.1:9"],
    ];
    for (const [expected, ...words] of wrong) expect(await code(words), words.join(" ")).toBe(expected);
    const refused = await shell.run(["gateway", "emit", "agentic.tool_result", "--json"]);
    expect(JSON.parse(refused.err).error).toMatchObject({ code: "event_reserved", hint: expect.any(String) });
    const limited = newShell({ HOLDFAST_URL: server.url, HOLDFAST_TOKEN: "no-such-token" });
    expect((await limited.run(["gateway", "status"])).code).toBe(4);
  });
});

describe("on the database itself", () => {
  it("jobs are queued and read without being run, until a server runs them", async () => {
    const shell = gatewayShell();
    const { out } = await shell.run(["gateway", "emit", "x.y", '{"a":1}']);
    const job = out.trim();
    expect(job).toMatch(ID);
    expect((await shell.json("gateway", "jobs", job)).job).toMatchObject({
      status: "queued",
      submitted_by: "cli",
      payload: { payload: { a: 1 } },
    });
    expect(await shell.json("gateway", "status")).toMatchObject({ queue_depth: 1, plugins_loaded: expect.any(Number) });
    expect((await shell.run(["gateway", "pause"])).out).toBe("Paused.\n");
    const server = await shell.serve();
    expect(await shell.json("gateway", "status")).toMatchObject({ is_paused: true, queue_depth: 1 });
    expect((await shell.run(["gateway", "resume"])).out).toBe("Resumed.\n");
    await eventually(async () =>
      expect((await shell.json("gateway", "jobs", job)).job).toMatchObject({ status: "succeeded" }),
    );
    expect(await server.end()).toBe(0);
    expect((await shell.json("gateway", "jobs", job)).job).toMatchObject({ status: "succeeded", result: "the result" });
    const refused = await shell.run(["gateway", "emit", "agentic.tool_result", "--json"]);
    expect(refused).toMatchObject({ code: 4, out: "" });
    expect(JSON.parse(refused.err).error.code).toBe("event_reserved");
  });

  it("a configuration that is broken is refused with its places", async () => {
    const shell = gatewayShell();
    writeFileSync(
      join(shell.folder, "gateway.yaml"),
      "pipelines:\n  - { name: a, on: x, steps: [{ uses: nothing }] }\n",
    );
    const refused = await shell.run(["gateway", "status", "--json"]);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(JSON.parse(refused.err).error).toMatchObject({
      code: "gateway_config_invalid",
      message: expect.stringMatching(/gateway\.yaml:2:\d+: /),
    });
    expect((await shell.run(["serve", "--port", "0"])).code).toBe(1);
  });

  it("what is queued is said to wait for a server, and a reload is refused, for there is nothing to reload", async () => {
    const shell = gatewayShell();
    for (const words of [
      ["emit", "x.y"],
      ["runs", "start", "Do it.", "--run", "R1"],
    ]) {
      const { code, err } = await shell.run(["gateway", ...words]);
      expect({ code, err }, words.join(" ")).toEqual({
        code: 0,
        err: expect.stringMatching(/No server runs here.*serve\n$/),
      });
    }
    expect((await shell.run(["gateway", "emit", "x.nothing"])).err).toBe("");
    const refused = await shell.run(["gateway", "reload", "--json"]);
    expect(refused).toMatchObject({ code: 5, out: "" });
    expect(JSON.parse(refused.err).error).toMatchObject({ code: "server_unreachable", hint: expect.any(String) });
  });

  it.each([
    ["no project", undefined],
    ["a project that names no gateway", "export default { agents: [] };"],
  ])("the gateway is the one that gateway run runs, also with %s", async (_, project) => {
    const shell = newShell();
    if (project !== undefined) writeFileSync(join(shell.folder, "holdfast.config.mts"), project);
    const pipelines = [{ name: "here", on: "hi.there", steps: [{ uses: "echo" }] }];
    writeFileSync(join(shell.folder, "gateway.yaml"), JSON.stringify({ pipelines }));
    expect(await shell.json("gateway", "pipelines")).toMatchObject({ pipelines: [{ name: "here" }] });
    const { job_ids } = (await shell.json("gateway", "emit", "hi.there")) as { job_ids: string[] };
    await (project === undefined ? shell.serve() : runGateway(shell));
    await eventually(async () =>
      expect((await shell.json("gateway", "jobs", job_ids[0] ?? "")).job).toMatchObject({ status: "succeeded" }),
    );
  });

  it("a folder with neither a project nor a gateway.yaml has none: the tour's gateway is another", async () => {
    const shell = newShell();
    for (const words of [["pipelines"], ["emit", "hi.there"], ["runs", "start", "Do it."]]) {
      const refused = await shell.run(["gateway", ...words, "--json"]);
      expect(refused, words.join(" ")).toMatchObject({ code: 3, out: "" });
      expect(JSON.parse(refused.err).error.code, words.join(" ")).toBe("gateway_not_configured");
    }
  });

  it("a project without a gateway says so", async () => {
    const shell = newShell();
    writeFileSync(join(shell.folder, "holdfast.config.mts"), "export default { agents: [] };");
    const refused = await shell.run(["gateway", "status", "--json"]);
    expect(refused).toMatchObject({ code: 3, out: "" });
    expect(JSON.parse(refused.err).error).toMatchObject({ code: "gateway_not_configured", hint: expect.any(String) });
  });
});

describe("holdfast gateway check", () => {
  it("lists what is wrong with a configuration, each with its place, and exits with 1", async () => {
    const shell = gatewayShell();
    const good = await shell.run(["gateway", "check"]);
    expect(good).toMatchObject({ code: 0, err: "" });
    expect(good.out).toMatch(/^\d+ plugins, 3 pipelines: no problems\.\n/);
    expect(await shell.json("gateway", "check", "gateway.yaml")).toMatchObject({ valid: true, warnings: [] });
    writeFileSync(
      join(shell.folder, "broken.yaml"),
      'plugin_roots: [plugins]\npipelines:\n  - { name: a, on: x, steps: [{ uses: nothing }] }\n  - { name: a, on: y, steps: [] }\nservice: { name: "${NO_SUCH_VARIABLE}" }\n',
    );
    const broken = await shell.run(["gateway", "check", "broken.yaml"]);
    expect(broken.code).toBe(1);
    expect(broken.out).toMatch(/broken\.yaml:5:\d+: .*NO_SUCH_VARIABLE/);
    expect(broken.err).toContain("gateway_config_invalid");
    const json = await shell.run(["gateway", "check", "broken.yaml", "--json"]);
    expect(JSON.parse(json.out)).toMatchObject({ valid: false, problems: expect.any(Array) });
    expect((await shell.run(["gateway", "check", "no.yaml"])).code).toBe(1);
  });

  it("says what several machines need where the database is one that they can share", async () => {
    const shell = gatewayShell({ DATABASE_URL: "postgres://127.0.0.1:1/none" });
    const checked = await shell.run(["gateway", "check"]);
    expect(checked).toMatchObject({ code: 0, err: "" });
    expect(checked.out).toMatch(/gateway\.yaml:\d+:\d+: .*workspace_root.*or let one machine run agents/);
    for (const setting of ['workspaceRoot: "/srv/runs"', "runsAgents: false"]) {
      writeFileSync(
        join(shell.folder, "holdfast.config.mts"),
        `export default { agents: [], gateway: { config: "gateway.yaml", ${setting} } };`,
      );
      expect(await shell.json("gateway", "check"), setting).toMatchObject({ valid: true, warnings: [] });
    }
  });
});

describe("plugins of the program", () => {
  const wantsOwn = { name: "own", on: "x.own", steps: [{ uses: "own" }] };
  const projectWith = (shell: Shell, gateway: string) =>
    writeFileSync(
      join(shell.folder, "holdfast.config.mts"),
      `import { gatewayPlugin } from ${module("../../src/index.ts")};
      const own = gatewayPlugin({ name: "own", commands: { handle: { run: () => "of the program" } } });
      export default { agents: [], gateway: ${gateway} };`,
    );

  it("are known to a check, whatever file is named, and a check without a file reads the project's own", async () => {
    const shell = gatewayShell();
    shell.configure({ plugin_roots: ["plugins"], pipelines: [wantsOwn] });
    projectWith(shell, '{ config: "gateway.yaml", plugins: [own] }');
    writeFileSync(join(shell.folder, "other.yaml"), JSON.stringify({ plugins: { own: {} }, pipelines: [wantsOwn] }));
    for (const words of [[], ["gateway.yaml"], ["other.yaml"]]) {
      const checked = await shell.run(["gateway", "check", ...words]);
      expect(checked, words.join(" ")).toMatchObject({ code: 0, err: "" });
      expect(checked.out, words.join(" ")).toMatch(/^\d+ plugins, 1 pipeline: no problems\.\n$/);
    }
    expect(await shell.json("gateway", "check")).toMatchObject({
      ...{ valid: true, plugins: expect.arrayContaining(["own"]), warnings: [] },
      program: expect.stringMatching(/holdfast\.config\.mts$/),
    });
    projectWith(shell, "{ config: { pipelines: [{ name: 'p', on: 'x', steps: [{ uses: 'own' }] }] }, plugins: [own] }");
    expect(await shell.json("gateway", "check")).toMatchObject({ valid: true, pipelines: ["p"] });
    projectWith(shell, '{ config: "gateway.yaml" }');
    const unknown = await shell.run(["gateway", "check"]);
    expect(unknown).toMatchObject({ code: 1, out: expect.stringMatching(/gateway\.yaml:1:\d+: .*own/) });
    expect(unknown.err).not.toContain("No project was loaded");
  });

  it("cannot be seen where there is no project, which a check notes beside what it finds", async () => {
    const shell = newShell();
    writeFileSync(join(shell.folder, "gateway.yaml"), JSON.stringify({ pipelines: [wantsOwn] }));
    const checked = await shell.run(["gateway", "check"]);
    expect(checked).toMatchObject({ code: 1, out: expect.stringMatching(/gateway\.yaml:1:\d+: .*own/) });
    expect(checked.err).toContain("No project was loaded: plugins that a program passes to createHoldfast()");
    const json = await shell.run(["gateway", "check", "--json"]);
    expect(JSON.parse(json.out)).toMatchObject({ valid: false, program: null });
    writeFileSync(join(shell.folder, "gateway.yaml"), JSON.stringify({ plugins: { own: {} } }));
    const warned = await shell.run(["gateway", "check"]);
    expect(warned).toMatchObject({ code: 0, out: expect.stringContaining("The plugin own was not found") });
    expect(warned.err).toContain("No project was loaded");
    writeFileSync(join(shell.folder, "gateway.yaml"), "{}");
    expect(await shell.run(["gateway", "check"])).toMatchObject({
      ...{ code: 0, err: "" },
      out: expect.stringMatching(/^\d+ plugins, 0 pipelines: no problems\.\n$/),
    });
    writeFileSync(join(shell.folder, "gateway.yaml"), "plugin_roots: [plugins]");
    const named = await shell.run(["gateway", "check"]);
    expect(named).toMatchObject({ code: 0, out: expect.stringContaining("Plugins cannot be looked for here: ENOENT") });
    expect(existsSync(join(shell.folder, ".holdfast"))).toBe(false);
  });

  it("a check of a project that cannot be loaded says why, and nothing of its plugins", async () => {
    const shell = gatewayShell();
    writeFileSync(join(shell.folder, "holdfast.config.mts"), "throw new Error('broken project');");
    const checked = await shell.run(["gateway", "check"]);
    expect(checked).toMatchObject({ code: 1, out: "", err: expect.stringContaining("config_invalid") });
    expect(checked.err).toContain("broken project");
  });

  it("run with gateway run, whatever file is named, and stay over a reload", async () => {
    const shell = gatewayShell();
    projectWith(shell, "{ config: { pipelines: [] }, plugins: [own] }");
    shell.configure({ pipelines: [wantsOwn] });
    await runGateway(shell, "gateway.yaml");
    const job = (await shell.run(["gateway", "emit", "x.own"])).out.trim();
    await eventually(async () =>
      expect((await shell.json("gateway", "jobs", job)).job).toMatchObject({ result: "of the program" }),
    );
    shell.configure({ pipelines: [wantsOwn, { ...wantsOwn, name: "second" }] });
    expect(await shell.json("gateway", "check", "gateway.yaml")).toMatchObject({ valid: true });
    expect(await shell.json("gateway", "reload")).toMatchObject({ pipelines: 2 });
  });
});

describe("holdfast gateway run", () => {
  it("serves a configuration file, reloads on SIGHUP whatever it finds, and ends on SIGTERM with 0", async () => {
    const shell = gatewayShell();
    writePlugin(join(shell.folder, "plugins"), "torn", { manifest: { protocol: "7" } });
    const { child, err } = await runGateway(shell, "gateway.yaml");
    const why = /holdfast: warn: gateway\.load: \S+\/torn\/manifest\.yaml:\d+:\d+: protocol must be 2\.\n/g;
    expect(err()).toMatch(why);
    const { out } = await shell.run(["gateway", "emit", "x.y"]);
    await eventually(async () =>
      expect((await shell.json("gateway", "jobs", out.trim())).job).toMatchObject({ status: "succeeded" }),
    );
    writeFileSync(join(shell.folder, "gateway.yaml"), "pipelines: [{ name: a");
    child.kill("SIGHUP");
    await eventually(() => expect(err()).toMatch(/gateway\.yaml:1:\d+/));
    expect((await shell.json("gateway", "status")).pipelines).toBe(3);
    shell.configure({ ...configuration, pipelines: configuration.pipelines.slice(0, 1) });
    child.kill("SIGHUP");
    await eventually(() => expect(err()).toMatch(/Reloaded: \d+ plugins, 1 pipeline\./));
    expect(err().match(why)).toHaveLength(2);
    expect((await shell.run(["gateway", "status"])).err).toBe("");
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    expect(await exited).toBe(0);
  });
});
