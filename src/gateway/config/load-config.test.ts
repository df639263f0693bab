// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the environment are written so
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { folderWith } from "../../yaml/folder-in-test.ts";
import { configError } from "./config-error.ts";
import { readText } from "./config-in-test.ts";
import { readGatewayConfig } from "./load-config.ts";

describe("the gateway's configuration", () => {
  it("is read from a path, relative or absolute, and knows its folder", () => {
    using folder = folderWith({ "etc/gateway.yaml": "plugin_roots: [a, /b]" });
    const etc = join(folder.path, "etc");
    for (const path of ["etc/gateway.yaml", join(etc, "gateway.yaml")]) {
      const result = readGatewayConfig(path, { env: {}, cwd: folder.path });
      expect(result).toMatchObject({ config: { folder: etc, plugin_roots: [join(etc, "a"), "/b"] } });
    }
  });

  it("is passed as an object, with variables and includes as in a file", () => {
    using folder = folderWith({ "a.yaml": "plugins: {a: }" });
    const source = { include: "a.yaml", plugins: { b: { config: { url: "${URL}" } } }, pipelines: [{ name: "p" }] };
    const result = readGatewayConfig(source, { env: { URL: "http://x" }, cwd: folder.path });
    if (!("config" in result)) throw configError(result.problems);
    expect([...result.config.plugins.keys()]).toEqual(["b", "a"]);
    expect(result.config.plugins.get("b")?.config).toEqual({ url: "http://x" });
    expect(result.config.plugin_roots).toEqual([join(folder.path, "plugins")]);
    expect(result.config.pipelineSources[0]?.locate([0, "name"])).toEqual({ file: "gateway", line: 0, column: 0 });
  });

  it.each([
    [
      "a problem of an object",
      { plugins: { a: { parallelism: 0 } } },
      "gateway: plugins.a.parallelism takes a whole number from 1 to 1000000.",
    ],
    ["a list", [], "gateway: A configuration is a map with keys such as plugins, pipelines and include."],
    ["a missing file", "none.yaml", "none.yaml: There is no such file or folder."],
    ["a folder", ".", `${import.meta.dirname}: This is a folder, not a file.`],
    ["a path that is none", "a\0b", "a?b: It cannot be read (ERR_INVALID_ARG_VALUE)."],
  ])("names the source of %s", (_what, source, detail) => {
    const result = readGatewayConfig(source, { env: {}, cwd: import.meta.dirname });
    expect("problems" in result && configError(result.problems).detail).toBe(detail);
  });

  it("shows all problems in one error, sorted by place, with paths relative to the working directory", () => {
    using folder = folderWith({
      "app/gateway.yaml": "service:\n  max_workers: 0\n  tick_interval: 1\ninclude: ../shared/b.yaml\n",
      "shared/b.yaml": "plugins:\n  x: 5\n",
    });
    const detailIn = (cwd: string) => {
      const result = readGatewayConfig(join(folder.path, "app/gateway.yaml"), { env: {}, cwd });
      return "problems" in result ? configError(result.problems).detail : "";
    };
    expect(detailIn(folder.path)).toBe(`The gateway's configuration has 3 problems:
app/gateway.yaml:2:3: service.max_workers takes a whole number from 1 to 1000000.
app/gateway.yaml:3:3: service.tick_interval takes a duration such as 500ms, 30s, 5m, 24h or 7d.
shared/b.yaml:2:3: plugins.x takes a map.`);
    expect(detailIn(join(folder.path, "app"))).toContain(`\n${join(folder.path, "shared/b.yaml")}:2:3: `);
  });

  it("shows 50 problems at most", () => {
    const lines = Array.from({ length: 70 }, (_, at) => `  p${at}: 5`);
    const { problems } = readText(["plugins:", ...lines].join("\n"));
    expect(problems).toHaveLength(50);
    expect(problems[49]).toBe("gateway.yaml:51:3: plugins.p49 takes a map.");
    const places = Array.from({ length: 70 }, (_, at) => ({ file: "a", line: at + 1, column: 1, message: "x" }));
    const { code, detail } = configError(places);
    expect(code).toBe("gateway_config_invalid");
    expect(detail.split("\n")).toHaveLength(51);
    expect(detail).toMatch(/^The gateway's configuration has at least 50 problems:\na:1:1: x\n/);
  });

  it("keeps each problem on its line, whatever a key holds", () => {
    const { warnings, problems } = readText('"a\\nb.yaml:1:1: forged": 1\n');
    expect(problems).toEqual([]);
    expect(warnings).toEqual(["gateway.yaml:1:1: a b.yaml:1:1: forged is not a known setting; it is ignored."]);
    expect(readText(`? ${"k".repeat(10_000)}\n: 1`).warnings[0]?.length).toBeLessThan(600);
  });

  it("shows no value in any problem, because it may come from the environment", () => {
    const secret = "hunter2";
    const keys = {
      service: [
        "name",
        "tick_interval",
        "max_workers",
        "strict_mode",
        "exit_code_policy",
        "context_mode",
        "max_tree_jobs",
      ],
      api: ["max_concurrent_sync", "max_sync_timeout"],
      plugins: ["x"],
    };
    const values = ["${S}", "[${S}]", "{a: ${S}}", "x ${S}"];
    for (const value of values) {
      for (const [block, names] of Object.entries(keys)) {
        const text = `${block}:\n${names.map((name) => `  ${name}: ${value}\n`).join("")}`;
        const { problems, warnings } = readText(text, { S: secret });
        expect([...problems, ...warnings].join("\n")).not.toContain(secret);
      }
      const plugin = ["uses", "enabled", "parallelism", "timeouts", "retry", "token_ref", "schedule", "schedules"];
      const schedule = ["every", "jitter", "command", "payload", "catch_up", "if_running", "timezone", "id"];
      const webhook = [
        "path",
        "plugin",
        "secret_ref",
        "signature_header",
        "max_body_size",
        "tolerance",
        "timestamp_header",
      ];
      const text = [
        `plugins:\n  x:\n${plugin.map((key) => `    ${key}: ${value}\n`).join("")}`,
        `  y:\n    schedules:\n      - at: ${value}\n      - cron: ${value}\n      -\n${schedule.map((key) => `        ${key}: ${value}\n`).join("")}`,
        `webhooks:\n  -\n${webhook.map((key) => `    ${key}: ${value}\n`).join("")}`,
      ].join("");
      const { problems } = readText(text, { S: secret });
      expect(problems.length).toBeGreaterThan(5);
      expect(problems.join("\n")).not.toContain(secret);
    }
  });

  it("is a configuration or a list of problems, whatever is written or passed", () => {
    const keys = [
      "service",
      "api",
      "state",
      "plugins",
      "webhooks",
      "pipelines",
      "routes",
      "include",
      "plugin_roots",
      "relay",
    ];
    const inner = [
      "x",
      "uses",
      "config",
      "schedules",
      "every",
      "cron",
      "at",
      "timeouts",
      "retry",
      "endpoints",
      "path",
      "secret",
      "tick_interval",
    ];
    const leaf = fc.oneof(
      fc.constantFrom(
        null,
        true,
        0,
        -1,
        1.5,
        "5m",
        "x",
        "",
        "/x",
        "${A}",
        "${B}",
        "$${",
        "${",
        "* * * * *",
        "0 0 30 2 *",
        "handle",
      ),
      fc.string({ unit: "binary", maxLength: 5 }),
    );
    const value = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        leaf,
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...inner), tie("value"), { maxKeys: 4 }),
      ),
    })).value;
    const source = fc.dictionary(fc.constantFrom(...keys), value);
    using folder = folderWith({ "a.yaml": "" });
    fc.assert(
      fc.property(source, (object) => {
        const result = readGatewayConfig(object, { env: { A: "x" }, cwd: folder.path });
        return "config" in result ? result.config.folder === folder.path : result.problems.length > 0;
      }),
      { numRuns: 2_000 },
    );
  });
});
