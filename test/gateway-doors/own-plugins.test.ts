// Plugins of the program and of the configured roots that have the name of another: the program's come first, those of the
// roots next, what is shipped last; a name that is taken is a warning.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonMap } from "../../src/contracts/json.ts";
import { checkGateway } from "../../src/gateway/dispatch/check-gateway.ts";
import { gatewayPlugin } from "../../src/gateway/plugins/in-process-plugin.ts";
import { shell } from "../plugin-folders.ts";
import { type ServedGateway, serveGateway } from "./served-gateway.ts";

const SHIPPED = ["agentic-loop", "echo", "fetch", "files", "shell"];
const script = shell(`echo '{"status":"ok","result":"of the root"}'`);
const manifest = { commands: "[{ name: handle, type: write }, { name: poll, type: write }]" };
const fromRoot = (...names: string[]) => Object.fromEntries(names.map((name) => [name, { script, manifest }]));
const own = (name: string, result = "of the program") =>
  gatewayPlugin({ name, commands: { handle: { run: () => result }, poll: { run: () => result } } });

const warned = ({ gateway }: ServedGateway) => gateway.warnings().map(({ file, message }) => `${file}: ${message}`);
const shippedManifest = (name: string) => expect.stringMatching(new RegExp(`plugins/${name}/manifest\\.yaml: .*`));

describe("a plugin with the name of a shipped one", () => {
  it.each(SHIPPED)("wins over %s when the program brings it, with a warning that names both", async (name) => {
    const served = await serveGateway({ setup: { plugins: [own(name)] } });
    expect(await served.run(name)).toMatchObject({ status: "succeeded", result: "of the program" });
    const about = warned(served).filter((line) => line.includes(`/${name}/manifest.yaml`));
    expect(about).toEqual([shippedManifest(name)]);
    expect(about[0]).toContain(`name: ${name} is the name of a plugin of the program too, which is used.`);
  });

  it.each(SHIPPED)("wins over %s when it is in a plugin root, with a warning that names both", async (name) => {
    const served = await serveGateway({ plugins: fromRoot(name) });
    expect(await served.run(name)).toMatchObject({ status: "succeeded", result: "of the root" });
    const used = `name: ${name} is the name of ${join(served.root, name, "manifest.yaml")} too, which is used.`;
    const about = warned(served).filter((line) => line.includes(used));
    expect(about).toEqual([shippedManifest(name)]);
  });

  it("stays in its place after a reload", async () => {
    const served = await serveGateway({ plugins: fromRoot("fetch"), setup: { plugins: [own("echo")] } });
    const before = warned(served);
    await served.gateway.reload();
    expect(warned(served)).toEqual(before);
    expect(await served.run("echo")).toMatchObject({ result: "of the program" });
    expect(await served.run("fetch")).toMatchObject({ result: "of the root" });
  });

  it("is what aliases of the name run", async () => {
    const served = await serveGateway({
      config: { plugins: { reader: { uses: "fetch" }, second: { uses: "echo" } } },
      plugins: fromRoot("echo"),
      setup: { plugins: [own("fetch")] },
    });
    expect(await served.run("reader")).toMatchObject({ result: "of the program" });
    expect(await served.run("second")).toMatchObject({ result: "of the root" });
  });

  it("gives way when it cannot be loaded, which is a warning of its own", async () => {
    const served = await serveGateway({ plugins: { echo: { script, manifest: { protocol: "7" } } } });
    expect(warned(served)).toEqual([expect.stringContaining("echo/manifest.yaml: protocol must be 2.")]);
    expect((await served.run("echo")).result).not.toBe("of the root");
  });

  it("is known to a check of the configuration in the same way", async () => {
    const served = await serveGateway({ plugins: fromRoot("fetch"), setup: { plugins: [own("echo")] } });
    const checked = await checkGateway({ plugin_roots: [served.root] }, { plugins: [own("echo")] });
    expect(checked).toMatchObject({ valid: true, warnings: served.gateway.warnings() });
  });
});

describe("a name that two plugins have", () => {
  it("belongs to the program before a plugin root", async () => {
    const served = await serveGateway({ plugins: fromRoot("both"), setup: { plugins: [own("both")] } });
    expect(await served.run("both")).toMatchObject({ result: "of the program" });
    expect(warned(served)).toEqual([
      `${join(served.root, "both", "manifest.yaml")}: name: both is the name of a plugin of the program too, which is used.`,
    ]);
  });

  it("belongs to the first of the program's own", async () => {
    const served = await serveGateway({ setup: { plugins: [own("both", "first"), own("both", "second")] } });
    expect(await served.run("both")).toMatchObject({ result: "first" });
    expect(served.gateway.warnings().map(({ message }) => message)).toEqual([
      "The program has two plugins with the name both; the first is used.",
    ]);
  });
});

describe("an agentic-loop of one's own is an agent as the shipped one is", () => {
  const entering: JsonMap = {
    pipelines: [{ name: "p", on: "agentic.tool_request.x", steps: [{ uses: "agentic-loop" }] }],
  };
  const config = { service: { max_workers: 8 }, plugins: { "agentic-loop": { parallelism: 4 } } };

  it.each([
    ["a program in a plugin root", { plugins: fromRoot("agentic-loop", "tool") }],
    ["functions of the program", { plugins: fromRoot("tool"), setup: { plugins: [own("agentic-loop")] } }],
  ])("%s: one job at a time, no commands from outside but handle and health, and never a tool", async (_, spec) => {
    const served = await serveGateway({ ...spec, config });
    const [agent, tool] = ["agentic-loop", "tool"].map((name) =>
      served.gateway.plugins().find((each) => each.name === name),
    );
    expect(agent).toMatchObject({ isAgent: true, parallelism: 1 });
    expect(tool).toMatchObject({ isAgent: false });
    await expect(served.gateway.call("agentic-loop", "poll", { payload: {} }, { via: "api" })).rejects.toMatchObject({
      code: "event_reserved",
    });
    const setup = "setup" in spec ? spec.setup : {};
    const checked = await checkGateway({ plugin_roots: [served.root], ...entering }, setup);
    expect(checked).toMatchObject({ valid: false, problems: [expect.stringContaining("agentic-loop")] });
  });
});
