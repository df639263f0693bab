// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the environment are written so
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderWith } from "../../yaml/folder-in-test.ts";
import { readFolder, showProblem } from "./config-in-test.ts";
import { readGatewayConfig } from "./load-config.ts";

const names = (files: Record<string, string>) => [...(readFolder(files).config?.plugins.keys() ?? [])];

describe("included files", () => {
  it("are named one by one or in a list, relative to the file that includes them", () => {
    const files = {
      "gateway.yaml": "include: conf/all.yaml\nplugins: {main: }",
      "conf/all.yaml": "include: [deeper/one.yaml, ../two.yaml]\nplugins: {all: }",
      "conf/deeper/one.yaml": "plugins: {one: }",
      "two.yaml": "plugins: {two: }",
    };
    expect(names(files)).toEqual(["main", "all", "one", "two"]);
  });

  it("are all the .yaml and .yml files right in a folder, sorted by name", () => {
    const files = {
      "gateway.yaml": "include: conf.d",
      "conf.d/b.yml": "plugins: {b: }",
      "conf.d/a.yaml": "plugins: {a: }",
      "conf.d/.hidden.yaml": "plugins: {hidden: }",
      "conf.d/notes.txt": "plugins: {notes: }",
      "conf.d/below/c.yaml": "plugins: {c: }",
    };
    expect(names(files)).toEqual(["a", "b"]);
  });

  it("are read once, even when two files include them", () => {
    const files = { "gateway.yaml": "include: [conf.d, conf.d/a.yaml]", "conf.d/a.yaml": "plugins: {a: }" };
    expect(names(files)).toEqual(["a"]);
  });

  it("may be empty", () => {
    expect(readFolder({ "gateway.yaml": "include: a.yaml", "a.yaml": "# later\n" })).toMatchObject({
      problems: [],
      warnings: [],
    });
  });

  it("put their lists one after another", () => {
    const { config } = readFolder({
      "gateway.yaml": "include: [a.yaml, b.yaml]\nplugin_roots: plugins\npipelines: [{name: m}]",
      "a.yaml": "pipelines: [{name: a}, {name: b}]\nroutes: [{from: x}]\nplugin_roots: [more, ./plugins]",
      "b.yaml": "routes: [{from: y}]",
    });
    expect(config?.pipelineSources.map(({ value }) => value)).toEqual([
      [{ name: "m" }],
      [{ name: "a" }, { name: "b" }],
    ]);
    expect(config?.pipelineSources[1]?.locate([1, "name"])).toEqual({ file: "a.yaml", line: 1, column: 25 });
    expect(config?.routeSources.map(({ value }) => value)).toEqual([[{ from: "x" }], [{ from: "y" }]]);
    expect(config?.plugin_roots).toEqual(["plugins", "more"].map((root) => join(config?.folder ?? "", root)));
  });

  it("may repeat a setting with the same value, and add others", () => {
    const { config } = readFolder({
      "gateway.yaml": "include: a.yaml\nservice: {name: x, max_workers: 2}",
      "a.yaml": "service: {max_workers: 2, tick_interval: 1s}",
    });
    expect(config?.service).toMatchObject({ name: "x", max_workers: 2, tick_interval_ms: 1_000 });
  });

  it.each<[string, Record<string, string>, string[]]>([
    [
      "a missing file",
      { "gateway.yaml": "a: 1\ninclude:\n  - none.yaml" },
      ["gateway.yaml:3:5: none.yaml: There is no such file or folder."],
    ],
    [
      "something that is no path",
      { "gateway.yaml": "include: [5, {}]" },
      ["gateway.yaml:1:11: include names files or folders.", "gateway.yaml:1:14: include names files or folders."],
    ],
    [
      "a file that includes itself",
      { "gateway.yaml": "include: gateway.yaml" },
      ["gateway.yaml:1:1: gateway.yaml includes itself, directly or through other files."],
    ],
    [
      "a folder with the file itself",
      { "gateway.yaml": "include: ." },
      ["gateway.yaml:1:1: gateway.yaml includes itself, directly or through other files."],
    ],
    [
      "a cycle",
      { "gateway.yaml": "include: a.yaml", "a.yaml": "include: b.yaml", "b.yaml": "\n\ninclude: [a.yaml]" },
      ["b.yaml:3:11: a.yaml includes itself, directly or through other files."],
    ],
    [
      "a list",
      { "gateway.yaml": "include: a.yaml", "a.yaml": "\n- plugins" },
      ["a.yaml:2:1: A configuration is a map with keys such as plugins, pipelines and include."],
    ],
    [
      "a plugin that is configured twice",
      { "gateway.yaml": "include: a.yaml\nplugins:\n  x: {}", "a.yaml": "plugins: {y: , x: {}}" },
      ["a.yaml:1:16: plugins.x is configured twice, first at gateway.yaml:3:3."],
    ],
    [
      "settings that differ",
      {
        "gateway.yaml": "include: a.yaml\nservice: {name: x}\napi: {auth: {tokens: [1]}}\nstate: {path: x}",
        "a.yaml": "service: {name: y}\napi: {auth: {tokens: [2]}}\nstate: {path: y}",
      },
      [
        "a.yaml:1:11: service.name has another value at gateway.yaml:2:11.",
        "a.yaml:2:7: api.auth has another value at gateway.yaml:3:7.",
        "a.yaml:3:9: state.path has another value at gateway.yaml:4:9.",
      ],
    ],
    [
      "a list of pipelines that is none",
      { "gateway.yaml": "include: a.yaml", "a.yaml": "pipelines: {}\nroutes: 5" },
      ["a.yaml:1:1: pipelines takes a list.", "a.yaml:2:1: routes takes a list."],
    ],
    [
      "broken YAML, in two files, and a bad setting",
      {
        "gateway.yaml": "include: [a.yaml, b.yaml]\nservice: {max_workers: 0}",
        "a.yaml": "a: 'x",
        "b.yaml": "\n\tb: 1",
      },
      [
        "a.yaml:1:6: A single quote is not closed.",
        "b.yaml:2:1: Tabs cannot indent YAML; use spaces.",
        "gateway.yaml:2:11: service.max_workers takes a whole number from 1 to 1000000.",
      ],
    ],
    [
      "a variable that is not set, in a path",
      { "gateway.yaml": "include: ${CONF}/a.yaml" },
      ["gateway.yaml:1:1: The environment variable CONF is not set."],
    ],
  ])("are problems with a place: %s", (_what, files, problems) => {
    expect(readFolder(files).problems).toEqual(problems);
  });

  it("are UTF-8", () => {
    const latin1 = Buffer.concat([Buffer.from("a: é\nb: gr"), Buffer.from([0xfc]), Buffer.from("n\n")]);
    expect(readFolder({ "gateway.yaml": "include: a.yaml", "a.yaml": latin1 }).problems).toEqual([
      "a.yaml:2:6: The file is not UTF-8 from here on.",
    ]);
    expect(readFolder({ "gateway.yaml": Buffer.from("\ufeffa: 1", "utf16le") }).problems).toEqual([
      "gateway.yaml:1:1: The file is not UTF-8 from here on.",
    ]);
  });

  it("hold a megabyte each at most, and are regular files", () => {
    using folder = folderWith({
      "gateway.yaml": "include: [large.yaml, /dev/null, loop.yaml]",
      "large.yaml": "#".repeat(1_048_577),
    });
    symlinkSync("loop.yaml", join(folder.path, "loop.yaml"));
    const result = readGatewayConfig("gateway.yaml", { env: {}, cwd: folder.path });
    expect("problems" in result && result.problems.map(showProblem)).toEqual([
      "gateway.yaml:1:11: large.yaml: The file is larger than 1 MiB, which is the most that is read.",
      "gateway.yaml:1:23: /dev/null: This is not a regular file.",
      "gateway.yaml:1:34: loop.yaml: It cannot be read (ELOOP).",
    ]);
  });

  it("are found to include themselves through links too", () => {
    using folder = folderWith({ "gateway.yaml": "include: link.yaml" });
    symlinkSync("gateway.yaml", join(folder.path, "link.yaml"));
    const result = readGatewayConfig("gateway.yaml", { env: {}, cwd: folder.path });
    expect("problems" in result && result.problems.map(showProblem)).toEqual([
      "gateway.yaml:1:1: link.yaml includes itself, directly or through other files.",
    ]);
  });

  it("are a thousand at most", () => {
    const files = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`conf.d/${at}.yaml`, ""]));
    expect(readFolder({ "gateway.yaml": "include: conf.d", ...files }).problems).toEqual([
      "gateway.yaml:1:1: A configuration has at most 1000 files.",
    ]);
  });

  it("are warned of when a folder holds none", () => {
    using folder = folderWith({ "gateway.yaml": "include: empty" });
    mkdirSync(join(folder.path, "empty"));
    const result = readGatewayConfig("gateway.yaml", { env: {}, cwd: folder.path });
    expect("config" in result && result.config.warnings.map(showProblem)).toEqual([
      "gateway.yaml:1:1: empty holds no .yaml file.",
    ]);
  });
});
