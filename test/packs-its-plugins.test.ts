// Promise: what is installed from npm has the plugins that are shipped, ready to run, and the gateway that the tour serves.
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Paths of the package, without what is only built while npm packs. */
function packed(): readonly string[] {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=error"];
  const [listed] = JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8" })) as {
    readonly files: readonly { readonly path: string }[];
  }[];
  return (listed?.files ?? []).map(({ path }) => path);
}

it("the package has every plugin with its manifest and its entry point, and none of their sources", () => {
  const paths = packed();
  const plugins = readdirSync(`${root}/plugins`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of plugins) {
    expect.soft(paths).toContain(`plugins/${name}/manifest.yaml`);
    expect.soft(paths.filter((path) => new RegExp(`^plugins/${name}/run\\.(mjs|py|sh)$`).test(path))).toHaveLength(1);
  }
  expect(plugins.length).toBeGreaterThan(3);
  expect(paths.filter((path) => path.startsWith("plugins/") && path.endsWith(".ts"))).toEqual([]);
  expect(paths).toContain("examples/gateway-critique/gateway.yaml");
});
