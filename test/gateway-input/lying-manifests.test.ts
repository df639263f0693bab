// Manifests that say what is not so, and entry points that are not what was discovered: nothing of them is executed, and
// every other plugin runs.
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { createHoldfast } from "../../src/holdfast.ts";
import { newFolder, serveGateway } from "../gateway-doors/served-gateway.ts";
import { type PluginFiles, pluginRoot, shell, writePlugin, writeScript } from "../plugin-folders.ts";

const OK = shell(`echo '{"status":"ok","result":"good"}'`);

/** What a manifest says or a folder is, and what is said of it. */
const lies: Readonly<
  Record<string, { readonly files?: PluginFiles; readonly odd?: (folder: string) => void; readonly said: RegExp }>
> = {
  "speaks another protocol": { files: { manifest: { protocol: "1" } }, said: /protocol must be 2/ },
  "is of another kind": { files: { manifest: { manifest_spec: "other.plugin" } }, said: /manifest_spec/ },
  "declares no commands": { files: { manifest: { commands: "[]" } }, said: /commands/ },
  "declares a command twice": {
    files: { manifest: { commands: "[{ name: handle, type: write }, { name: handle, type: read }]" } },
    said: /handle twice/,
  },
  "declares a command of no type": {
    files: { manifest: { commands: "[{ name: handle, type: both }]" } },
    said: /type/,
  },
  "has a name that is a path": { files: { manifest: { name: "../escaped" } }, said: /name/ },
  "takes the name of a part of the gateway": { files: { manifest: { name: "core.switch" } }, said: /name/ },
  "has an entry point outside of its folder": {
    files: { manifest: { entrypoint: "../good/run" } },
    said: /entrypoint/,
  },
  "has an absolute entry point": { files: { manifest: { entrypoint: "/bin/sh" } }, said: /entrypoint/ },
  "has an entry point that is not there": {
    files: { manifest: { entrypoint: "walk" } },
    said: /plugin_untrusted.*walk/,
  },
  "has a key twice": { odd: (folder) => append(folder, "version: 2\n"), said: /version/ },
  "has the key __proto__": { odd: (folder) => append(folder, "__proto__: { commands: [] }\n"), said: /__proto__/ },
  "is no YAML": { odd: (folder) => append(folder, "}{\n"), said: /not expected here/ },
  "is an alias bomb": {
    odd: (folder) =>
      append(
        folder,
        `x0: &x0 [a,a,a,a,a,a,a,a,a,a]\n${Array.from({ length: 20 }, (_, n) => `x${n + 1}: &x${n + 1} [${Array(10).fill(`*x${n}`).join(",")}]\n`).join("")}`,
      ),
    said: /alias|parts/i,
  },
  "has an entry point that is not executable": {
    odd: (folder) => chmodSync(join(folder, "run"), 0o644),
    said: /not executable/,
  },
  "has an entry point that anybody can write": {
    odd: (folder) => chmodSync(join(folder, "run"), 0o777),
    said: /written by every user/,
  },
  "is in a folder that anybody can write": { odd: (folder) => chmodSync(folder, 0o777), said: /written by every user/ },
  "has a link as its entry point": {
    odd(folder) {
      renameSync(join(folder, "run"), join(folder, "walk"));
      symlinkSync("walk", join(folder, "run"));
    },
    said: /symbolic link/,
  },
  "has a folder as its entry point": {
    odd(folder) {
      rmSync(join(folder, "run"));
      mkdirSync(join(folder, "run"));
    },
    said: /not a file/,
  },
  "has a text as its entry point": {
    files: { script: 'echo \'{"status":"ok"}\'\n' },
    said: /begins with no #! line/,
  },
};

function append(folder: string, text: string): void {
  const file = join(folder, "manifest.yaml");
  writeFileSync(file, text, { flag: "a" });
}

describe("a manifest that", () => {
  it.each(Object.entries(lies))(
    "%s is left out with a warning, and its plugin cannot be called",
    async (_, { files, odd, said }) => {
      const root = pluginRoot();
      writePlugin(root, "good", { script: OK });
      const folder = writePlugin(root, "liar", files ?? {});
      odd?.(folder);
      const served = await serveGateway({ config: { plugin_roots: [root], plugins: { liar: {} } } });
      const owner = await served.token();
      const warned = served.gateway.warnings().filter(({ file }) => file.startsWith(folder));
      expect(warned.map(({ message }) => message).join("\n")).toMatch(said);
      expect(await served.run("good")).toMatchObject({ status: "succeeded", result: "good" });
      const called = await served.ask(owner, "/plugin/liar/handle", { json: {} });
      if (called.status === 202) {
        // A text is found, but not executed.
        expect(await served.ended(called.body.job_id)).toMatchObject({ status: "failed", reason: "spawn_error" });
      } else expect(called).toMatchObject({ status: 400, body: { code: "plugin_not_found" } });
    },
  );

  it("lies about a plugin that a pipeline uses opens no gateway, and the reason is in the error", async () => {
    const root = pluginRoot();
    writePlugin(root, "liar", { manifest: { protocol: "1" } });
    const config = { plugin_roots: [root], pipelines: [{ name: "a", on: "x", steps: [{ uses: "liar" }] }] };
    const opened = createHoldfast({ backend: sqlite(":memory:"), agents: [], gateway: { config } });
    await expect(opened).rejects.toMatchObject({
      code: "gateway_config_invalid",
      detail: expect.stringMatching(/protocol must be 2/),
    });
  });

  it("declares a command that the program does not know fails the call by what the program answers", async () => {
    const script = shell(
      "read -r request",
      'case "$request" in *\'"command":"handle"\'*) echo \'{"status":"ok","result":"good"}\';; *) exit 2;; esac',
    );
    const served = await serveGateway({
      plugins: {
        liar: { script, manifest: { commands: "[{ name: handle, type: write }, { name: fly, type: write }]" } },
      },
    });
    const { job_ids } = await served.gateway.call("liar", "fly", { payload: {} }, { via: "api" });
    expect(await served.ended(job_ids[0] ?? "")).toMatchObject({ status: "failed", reason: "spawn_error" });
    expect(await served.run("liar")).toMatchObject({ status: "succeeded" });
  });
});

/** What becomes of an entry point after it was discovered. */
const swapped: Readonly<Record<string, (folder: string) => void>> = {
  "has another content": (folder) =>
    void writeScript(join(folder, "run"), shell(`echo '{"status":"ok","result":"evil"}'`)),
  "is a link to another program": (folder) => {
    const other = writeScript(join(newFolder(), "evil"), shell(`echo '{"status":"ok","result":"evil"}'`));
    rmSync(join(folder, "run"));
    symlinkSync(other, join(folder, "run"));
  },
  "can be written by anybody": (folder) => chmodSync(join(folder, "run"), 0o777),
  "is not executable any more": (folder) => chmodSync(join(folder, "run"), 0o644),
  "is gone": (folder) => rmSync(folder, { recursive: true }),
};

describe("an entry point that after its discovery", () => {
  it.each(Object.entries(swapped))("%s is not executed; a reload looks again", async (what, swap) => {
    const served = await serveGateway({ plugins: { changing: { script: OK }, good: { script: OK } }, asFile: true });
    expect(await served.run("changing")).toMatchObject({ status: "succeeded" });
    swap(join(served.root, "changing"));
    const refused = await served.run("changing");
    expect(refused).toMatchObject({ status: "failed", reason: "spawn_error", result: null });
    expect(refused.last_error).toMatch(/^plugin_untrusted: /);
    expect(await served.run("good")).toMatchObject({ status: "succeeded" });
    await served.gateway.reload();
    const names = served.gateway.plugins().map(({ name }) => name);
    expect(names.includes("changing")).toBe(what === "has another content");
  });
});
