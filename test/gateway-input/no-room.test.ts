// A disk that is full, for the database and for workspaces, and no descriptor left: what was accepted is kept and done once
// there is room again; what was refused leaves nothing behind.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { newFolder } from "../gateway-doors/served-gateway.ts";
import { pluginRoot, shell, writePlugin } from "../plugin-folders.ts";
import { canLimit, startLimited } from "./limited-process.ts";

const KIB = 1024;

describe.skipIf(!canLimit)("a full disk", () => {
  it("refuses events without half of them, and commits what ran once there is room again", async () => {
    const folder = newFolder();
    const database = join(folder, "holdfast.db");
    const gateway = await startLimited({ database, workspaces: join(folder, "workspaces") });
    const accepted: string[] = [];
    const refused: string[] = [];
    const emit = async () => {
      const { ids, refused: code } = await gateway.ask("emit", { text: "x".repeat(64 * KIB) });
      if (code === undefined) accepted.push(...ids);
      else refused.push(code);
    };
    await emit();
    await eventually(async () =>
      expect(await gateway.ask("tree", { id: accepted[0] ?? "" })).toMatchObject([
        { status: "succeeded" },
        { status: "succeeded" },
      ]),
    );
    // No file may grow any more: neither the database nor its log.
    const largest = Math.max(...readdirSync(folder).map((name) => statSync(join(folder, name)).size));
    gateway.limit("FSIZE", largest + 200 * KIB);
    while (refused.length < 3) await emit();
    expect(new Set(refused)).toEqual(new Set(["database_unavailable"]));
    const during = await gateway.ask("list");
    expect(during.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(accepted));
    gateway.limit("FSIZE", null);
    await emit();
    await eventually(async () => expect(await gateway.ask("status")).toMatchObject({ queued: 0, running: 0 }));
    for (const id of accepted) {
      expect(await gateway.ask("tree", { id }), id).toMatchObject([{ status: "succeeded" }, { status: "succeeded" }]);
    }
    // Refused events have left nothing.
    expect(await gateway.ask("list")).toHaveLength(accepted.length * 2);
  });

  it("in the place of a power cut loses nothing either: another process does what was accepted", async () => {
    const folder = newFolder();
    const given = { database: join(folder, "holdfast.db"), workspaces: join(folder, "workspaces") };
    const first = await startLimited(given);
    const accepted: string[] = [];
    const largest = Math.max(...readdirSync(folder).map((name) => statSync(join(folder, name)).size));
    first.limit("FSIZE", largest + 500 * KIB);
    for (let refused = 0; refused < 2; ) {
      const { ids, refused: code } = await first.ask("emit", { text: "x".repeat(64 * KIB) });
      if (code === undefined) accepted.push(...ids);
      else refused++;
    }
    await first.kill();
    const second = await startLimited(given);
    await eventually(async () => expect(await second.ask("status")).toMatchObject({ queued: 0, running: 0 }));
    expect(accepted.length).toBeGreaterThan(0);
    for (const id of accepted) {
      const tree = await second.ask("tree", { id });
      expect(
        tree.map(({ status }: { status: string }) => status),
        id,
      ).toEqual(["succeeded", "succeeded"]);
    }
    expect(await second.ask("list")).toHaveLength(accepted.length * 2);
  });

  it("for workspaces fails the turn, which is taken again until there is room; the run exists once", async () => {
    const folder = newFolder();
    const workspaces = join(folder, "workspaces");
    const gateway = await startLimited({ database: ":memory:", workspaces });
    gateway.limit("FSIZE", 4 * KIB);
    const { ids } = await gateway.ask("start", { goal: `Write. ${"x".repeat(20 * KIB)}` });
    const [id] = ids;
    const failures = await eventually(async () => {
      const attempts = await gateway.ask("attempts", { id });
      expect(attempts.length).toBeGreaterThan(1);
      return attempts;
    });
    expect(failures[0]).toMatchObject({ outcome: "failed", error: expect.stringMatching(/EFBIG|ENOSPC/) });
    expect(await gateway.ask("runs")).toEqual([]);
    // Another plugin's jobs run meanwhile.
    const other = await gateway.ask("emit", { text: "short" });
    await eventually(async () =>
      expect(await gateway.ask("job", { id: other.ids[0] })).toMatchObject({ status: "succeeded", attempt: 1 }),
    );
    gateway.limit("FSIZE", null);
    await eventually(async () => expect(await gateway.ask("runs")).toEqual([{ run_id: "R1", status: "done" }]));
    const trace = await gateway.ask("trace");
    expect(trace.map(({ phase }: { phase: string }) => phase)).toEqual([
      ...new Set(trace.map(({ phase }: { phase: string }) => phase)),
    ]);
    const left = readdirSync(join(workspaces, id));
    expect(left.filter((name) => name.endsWith(".tmp"))).toEqual([]);
    expect(left).toContain("context.md");
  });
});

describe.skipIf(!canLimit)("no descriptor left", () => {
  it("fails the start of a plugin with EMFILE, which is tried again until there is one", async () => {
    const root = pluginRoot();
    writePlugin(root, "program", { script: shell(`echo '{"status":"ok","result":"good"}'`) });
    const gateway = await startLimited({ database: ":memory:", workspaces: newFolder(), root });
    gateway.limit("NOFILE", 3);
    const { ids } = await gateway.ask("call");
    const [id] = ids;
    const failures = await eventually(async () => {
      const attempts = await gateway.ask("attempts", { id });
      expect(attempts.length).toBeGreaterThan(1);
      return attempts;
    });
    expect(failures[0]).toMatchObject({ outcome: "failed", error: expect.stringContaining("EMFILE") });
    const other = await gateway.ask("emit", { text: "short" });
    await eventually(async () =>
      expect(await gateway.ask("job", { id: other.ids[0] })).toMatchObject({ status: "succeeded", attempt: 1 }),
    );
    gateway.limit("NOFILE", null);
    const ended = await eventually(async () => {
      const job = await gateway.ask("job", { id });
      expect(job.status).toBe("succeeded");
      return job;
    });
    expect(ended).toMatchObject({ result: "good", reason: null });
    expect(existsSync(join(root, "program"))).toBe(true);
  });
});
