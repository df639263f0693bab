import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { pluginRoot, shell, writeScript } from "../../../../test/plugin-folders.ts";
import { pathToNode } from "./path-to-node.ts";

function folders() {
  const root = pluginRoot();
  const [own, other, tools] = ["own", "other", "tools"].map((name) => join(root, name)) as [string, string, string];
  for (const folder of [own, other]) writeScript(join(folder, "node"), shell());
  writeScript(join(tools, "python3"), shell());
  return { root, own, other, tools, node: join(own, "node") };
}

it("the folder of the gateway's Node comes before the first one with another node, and after what comes before that", () => {
  const { own, other, tools, node } = folders();
  expect(pathToNode([tools, other, "/bin"].join(":"), node)).toBe([tools, own, other, "/bin"].join(":"));
  expect(pathToNode([other, own].join(":"), node)).toBe([own, other, own].join(":"));
});

it("a PATH that leads to the gateway's Node stays as it is, also where it does so by a link", () => {
  const { root, own, other, tools, node } = folders();
  const links = join(root, "links");
  mkdirSync(links);
  symlinkSync(node, join(links, "node"));
  for (const path of [`${tools}:${own}:${other}`, `${links}:${other}`]) expect(pathToNode(path, node)).toBe(path);
});

it("where no node is found it comes last; a folder or a file that is not executable is none", () => {
  const { root, own, tools, node } = folders();
  mkdirSync(join(root, "odd", "node"), { recursive: true });
  const path = `${tools}:${join(root, "odd")}:${join(root, "gone")}`;
  expect(pathToNode(path, node)).toBe(`${path}:${own}`);
});

it("a program of another name changes nothing", () => {
  const { own, tools } = folders();
  expect(pathToNode(tools, join(own, "runtime"))).toBe(tools);
});
