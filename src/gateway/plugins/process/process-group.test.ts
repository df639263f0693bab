import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isRunning, pluginRoot, shell, writeScript, writtenPids } from "../../../../test/plugin-folders.ts";
import { signalGroup } from "./process-group.ts";

it("plugins that run end with the gateway's process", async () => {
  const root = pluginRoot();
  const file = writeScript(
    join(root, "run"),
    shell("sleep 1000 &", 'echo $$ $! > "$TMPDIR/new"', 'mv "$TMPDIR/new" "$TMPDIR/pids"', "wait"),
  );
  const pids = join(root, "pids");
  const program = `
    import { existsSync } from "node:fs";
    import { runProcess } from ${JSON.stringify(new URL("run-process.ts", import.meta.url).href)};
    const environment = { PATH: process.env.PATH, TMPDIR: ${JSON.stringify(root)} };
    const signal = new AbortController().signal;
    void runProcess({ file: ${JSON.stringify(file)}, environment, input: "", timeoutMs: 1_000_000, signal });
    setInterval(() => existsSync(${JSON.stringify(pids)}) && process.exit(3), 10);
  `;
  const { status } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { stdio: "inherit" });
  expect(status).toBe(3);
  expect(writtenPids(pids)).toHaveLength(2);
  await expect.poll(() => writtenPids(pids).some(isRunning)).toBe(false);
});

it("a number that is no group is never signalled", () => {
  for (const leader of [-1, 0, 1]) expect(signalGroup(leader, 0)).toBe(false);
});
