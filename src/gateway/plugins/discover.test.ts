import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pluginRoot, shell, writePlugin, writeScript } from "../../../test/plugin-folders.ts";
import { discoverPlugins } from "./discover.ts";

const lenient = { strict: false, allowSymlinks: false };

describe("discovery", () => {
  it("finds plugins in a root and one level of grouping below it", () => {
    const root = pluginRoot();
    for (const path of ["zeta", "alpha", "tools/beta", "tools/deeper/gamma", ".git/hidden", "node_modules/package"]) {
      writePlugin(root, path);
    }
    const { plugins, warnings } = discoverPlugins([root], lenient);
    expect([...plugins.keys()]).toEqual(["alpha", "beta", "zeta"]);
    expect(warnings).toEqual([]);
  });

  it("accepts manifest.yml, and the folder of a plugin as a root", () => {
    const root = pluginRoot();
    const folder = writePlugin(root, "echo");
    writeFileSync(join(folder, "manifest.yml"), "name: never read");
    const { plugins } = discoverPlugins([folder], lenient);
    expect(plugins.get("echo")?.manifestFile).toBe(join(folder, "manifest.yaml"));
    rmSync(join(folder, "manifest.yaml"));
    writePlugin(root, "other");
    writeFileSync(
      join(folder, "manifest.yml"),
      "name: second\nversion: 1\nprotocol: 2\nentrypoint: run\ncommands: [{ name: poll, type: read }]\n",
    );
    expect([...discoverPlugins([root], lenient).plugins.keys()]).toEqual(["second", "other"]);
  });

  it("keeps the first plugin of a name, in the order of the roots, and warns of later ones", () => {
    const [first, second] = [pluginRoot(), pluginRoot()];
    writePlugin(first, "b", { manifest: { name: "echo" } });
    writePlugin(first, "a", { manifest: { name: "echo" } });
    writePlugin(second, "echo");
    const { plugins, warnings } = discoverPlugins([first, second, first], lenient);
    expect(plugins.get("echo")?.manifestFile).toBe(join(first, "a/manifest.yaml"));
    expect(warnings.map(({ file }) => file)).toEqual([
      join(first, "b/manifest.yaml"),
      join(second, "echo/manifest.yaml"),
    ]);
    expect(warnings[0]?.message).toContain(join(first, "a/manifest.yaml"));
  });

  it("goes on after a root that is not there", () => {
    const root = pluginRoot();
    writePlugin(root, "echo");
    const { plugins, warnings } = discoverPlugins([join(root, "missing"), root], lenient);
    expect([...plugins.keys()]).toEqual(["echo"]);
    expect(warnings).toMatchObject([{ file: join(root, "missing"), message: expect.stringContaining("ENOENT") }]);
    const optionalRoot = join(root, "missing");
    expect(discoverPlugins([optionalRoot, root], { ...lenient, optionalRoot }).warnings).toEqual([]);
  });
});

describe("an invalid manifest", () => {
  /** One broken plugin beside a good one: what is said of the broken one. */
  function warningsOf(write: (root: string) => void, options = lenient) {
    const root = pluginRoot();
    writePlugin(root, "good");
    write(root);
    const { plugins, warnings } = discoverPlugins([root], options);
    expect([...plugins.keys()]).toEqual(["good"]);
    return warnings;
  }

  it.each([
    ["name", { name: '"../evil"' }],
    ["protocol", { protocol: "1" }],
    ["entrypoint", { entrypoint: "../good/run" }],
    ["entrypoint", { entrypoint: "/bin/sh" }],
    ["commands", { commands: "[]" }],
    ["commands[0].type", { commands: "[{ name: handle, type: admin }]" }],
    [
      "fact_outputs[0].when.command",
      { fact_outputs: "[{ when: { command: poll }, from: state_updates, fact_type: f }]" },
    ],
  ])("is a warning that names the file and the field %s, and keeps no other plugin out", (field, manifest) => {
    const warnings = warningsOf((root) => void writePlugin(root, "bad", { manifest: { version: "1", ...manifest } }));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.file).toMatch(/bad\/manifest\.yaml$/);
    expect(warnings[0]?.message).toContain(field);
    expect(warnings[0]?.line).toBeGreaterThan(0);
  });

  it("is located by the line and column of the field", () => {
    const warnings = warningsOf((root) => void writePlugin(root, "bad", { manifest: { protocol: "3" } }));
    expect(warnings).toMatchObject([{ line: 5, column: 1, message: "protocol must be 2." }]);
  });

  it.each([
    ["broken YAML", "name: [", /./],
    ["a duplicate key", "name: a\nname: b\n", /twice/],
    [
      "an alias bomb",
      `a: &a [${"x,".repeat(50)}x]\nb: &b [${"*a,".repeat(50)}*a]\nc: [${"*b,".repeat(50)}*b]\n`,
      /Aliases/,
    ],
    ["deep nesting", "[".repeat(20_000), /levels/],
    ["__proto__", "__proto__: { name: evil }\n", /__proto__/],
    ["a list", "- name\n", /map/],
    ["nothing", "", /map/],
  ])("of %s is one too", (_kind, text, message) => {
    const warnings = warningsOf((root) => {
      mkdirSync(join(root, "bad"));
      writeFileSync(join(root, "bad/manifest.yaml"), text);
    });
    expect(warnings[0]?.file).toMatch(/bad\/manifest\.yaml$/);
    expect(warnings.map((each) => each.message).join("\n")).toMatch(message);
  });

  it("lacking spec and version is accepted with warnings, unless the protocol is strict", () => {
    const manifest = { manifest_spec: null, manifest_version: null };
    const root = pluginRoot();
    writePlugin(root, "old", { manifest });
    expect([...discoverPlugins([root], lenient).plugins.keys()]).toEqual(["old"]);
    expect(discoverPlugins([root], lenient).warnings).toHaveLength(2);
    expect(discoverPlugins([root], { ...lenient, strict: true }).plugins.size).toBe(0);
  });

  it("that is a folder is a warning", () => {
    const warnings = warningsOf((root) => void mkdirSync(join(root, "bad/manifest.yaml"), { recursive: true }));
    expect(warnings).toMatchObject([{ message: "This is a folder, not a file." }]);
  });
});

describe("an untrusted plugin", () => {
  it("is left out with a warning at its entry point", () => {
    const root = pluginRoot();
    writePlugin(root, "lying", { manifest: { entrypoint: "missing" } });
    const { plugins, warnings } = discoverPlugins([root], lenient);
    expect(plugins.size).toBe(0);
    expect(warnings).toMatchObject([{ line: 6, column: 1, message: expect.stringContaining("plugin_untrusted") }]);
  });

  it("does not take the name from one that can be used", () => {
    const root = pluginRoot();
    writePlugin(root, "a", { manifest: { name: "echo", entrypoint: "missing" } });
    writePlugin(root, "b", { manifest: { name: "echo" } });
    expect(discoverPlugins([root], lenient).plugins.get("echo")?.manifestFile).toBe(join(root, "b/manifest.yaml"));
  });

  it("reached by a link is found only where links are allowed, and only inside its root", () => {
    const [root, elsewhere] = [pluginRoot(), pluginRoot()];
    const outside = writePlugin(elsewhere, "outside");
    const inside = writePlugin(root, "tools/deeper/inside");
    symlinkSync(outside, join(root, "outside"));
    symlinkSync(inside, join(root, "inside"));
    symlinkSync(join(root, "nowhere"), join(root, "dangling"));
    const refused = discoverPlugins([root], lenient);
    expect(refused.plugins.size).toBe(0);
    expect(refused.warnings.map(({ file }) => file)).toEqual([join(root, "inside"), join(root, "outside")]);
    const allowed = discoverPlugins([root], { ...lenient, allowSymlinks: true });
    expect([...allowed.plugins.keys()]).toEqual(["inside"]);
    expect(allowed.warnings).toMatchObject([{ message: expect.stringContaining("outside its plugin root") }]);
  });

  it("without a #! line is found, with a warning that it cannot be started", () => {
    const root = pluginRoot();
    writeScript(join(writePlugin(root, "plain"), "run"), "echo\n");
    const { plugins, warnings } = discoverPlugins([root], lenient);
    expect([...plugins.keys()]).toEqual(["plain"]);
    expect(warnings).toMatchObject([{ message: expect.stringContaining("#!") }]);
  });
});

it("a discovery sees the entry points as they are at that time", () => {
  const root = pluginRoot();
  const folder = writePlugin(root, "echo");
  const before = discoverPlugins([root], lenient).plugins.get("echo")?.entry.fingerprint;
  writeScript(join(folder, "run"), shell("echo changed"));
  expect(discoverPlugins([root], lenient).plugins.get("echo")?.entry.fingerprint).not.toEqual(before);
});
