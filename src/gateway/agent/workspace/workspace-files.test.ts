import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentWorld, askFabric, eventOf, fetchPage, pipelineContext } from "../../../../test/agent-world.ts";
import { isMap } from "../../../contracts/json.ts";
import type { ReflectInput } from "../planner/planner.ts";
import { fileWorkspaces } from "./file-workspace.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(await realpath(tmpdir()), "workspaces-"));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const done = { decision: "done", outcome: "The critique is written.", artifacts: ["artifacts/critique.md"] } as const;
const read = (file: string) => readFile(join(root, "J1", file), "utf8");
const phases = async () =>
  (await fileWorkspaces(root).of("job:J1").readTrace()).map((line) =>
    isMap(line) ? `${line.phase}:${line.kind}` : "",
  );
const reflected = (world: ReturnType<typeof agentWorld>) =>
  world.asked.flatMap(({ phase, input }) => (phase === "reflect" ? [input] : [])).at(-1) as ReflectInput;

describe("the workspace of a run", () => {
  it("holds what the run knows, and what its tools have made is what it completes with (scenario 46)", async () => {
    const world = agentWorld({ script: [fetchPage, askFabric, done], workspaces: fileWorkspaces(root) });
    await world.start({ goal: "Write a critique.", run_id: "R1", context: { tone: "constructive" } });
    await world.event("fetch.completed", { content: "a page" }, pipelineContext(1, "fetch"));
    await writeFile(join(root, "J1", "artifacts.txt"), "");
    await fileWorkspaces(root).of("job:J1").writeArtifact("artifacts/critique.md", "Two paragraphs.");
    const completed = eventOf(
      await world.event("fabric.completed", { result: "written" }, pipelineContext(2, "fabric")),
    );
    expect(completed.payload).toMatchObject({ artifacts: ["artifacts/critique.md"], steps_taken: 2 });
    expect(await read("context.md")).toBe("# Goal\n\nWrite a critique.\n\n# Context\n\n- tone: constructive\n");
    expect(await read("memory.md")).toContain("- [ ] The goal is reached.");
    expect(await read("plan.md")).toContain("## Next action (step 2)");
    expect(await phases()).toEqual([
      ...["frame:framed", "plan:action", "act:request"],
      ...["reflect:continue", "plan:action", "act:request", "reflect:done"],
    ]);
  });

  it("keeps what a step has taught, once, however often its turn is taken", async () => {
    const script = [fetchPage, { ...askFabric, memory_update: "The page has ten links." }, done];
    const world = agentWorld({ script, workspaces: fileWorkspaces(root) });
    await world.start();
    const result = { event: resultEvent, job_id: "J2" };
    await world.lose(result);
    await world.lose(result);
    await world.take(result);
    expect((await read("memory.md")).match(/ten links/g)).toHaveLength(1);
    expect(await phases()).toHaveLength(6);
    // The planner judged the same step three times from the same notes.
    const seen = world.asked.flatMap(({ phase, input }) => (phase === "reflect" ? [input.memory] : []));
    expect(new Set(seen).size).toBe(1);
  });

  it("shows the planner the plan of the step that it judges, and none that a lost turn has left", async () => {
    const world = agentWorld({ workspaces: fileWorkspaces(root) });
    await world.start();
    await world.lose({ event: resultEvent });
    expect(reflected(world).plan).toContain("## Next action (step 1)");
    await world.take({ event: resultEvent });
    expect(reflected(world).plan).toBe("");
  });

  it("takes a large text as an artifact, of which the planner sees an excerpt", async () => {
    const content = `<p>${"ä".repeat(20_000)}</p>`;
    const world = agentWorld({ workspaces: fileWorkspaces(root) });
    await world.start();
    await world.event(
      "fetch.completed",
      { content, content_type: "text/html; charset=utf-8", status: 200 },
      pipelineContext(1, "fetch"),
    );
    expect(await read("artifacts/fetch-01.html")).toBe(content);
    expect(reflected(world).result).toEqual({
      artifact_path: "artifacts/fetch-01.html",
      content_type: "text/html; charset=utf-8",
      excerpt: content.slice(0, 2_000),
      status: 200,
    });
  });

  it("leaves a file alone that the tool has written under the name of its result", async () => {
    const content = "x".repeat(40_000);
    const result = { content, content_type: "text/html", artifact_path: "artifacts/fetch-01.html" };
    const world = agentWorld({ workspaces: fileWorkspaces(root) });
    await world.start();
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.writeArtifact("artifacts/fetch-01.html", `${content}, and the rest of the page`);
    const taken = { event: { ...resultEvent, payload: { ...resultEvent.payload, result } }, job_id: "J2" };
    await world.lose(taken);
    await world.take(taken);
    expect(await read("artifacts/fetch-01.html")).toBe(`${content}, and the rest of the page`);
    expect(await read("artifacts/fetch-01-result.html")).toBe(content);
    expect(await readdir(join(root, "J1", "artifacts"))).toEqual(["fetch-01-result.html", "fetch-01.html"]);
    expect(reflected(world).result).toMatchObject({ artifact_path: "artifacts/fetch-01.html" });
  });

  it("keeps the payload of a tool called request apart from its result, for another attempt", async () => {
    const large = { tool: "request", tool_payload: { url: "http://example.test", body: "x".repeat(10_000) } };
    const world = agentWorld({
      ...{ script: [large, { decision: "retry" }], config: { allowed_plugins: ["request"] }, tools: ["request"] },
      workspaces: fileWorkspaces(root),
    });
    await world.start();
    const result = { rows: Array(20_000).fill("row") };
    const again = eventOf(await world.event("request.completed", result, pipelineContext(1, "request")));
    expect(again.payload).toMatchObject({ step: 2, tool_payload: large.tool_payload });
  });

  it("takes any other large result as JSON", async () => {
    const rows = Array.from({ length: 5_000 }, (_row, index) => index * 1_000);
    const world = agentWorld({ workspaces: fileWorkspaces(root) });
    await world.start();
    await world.result(1, "fetch", { result: { rows } });
    expect(JSON.parse(await read("artifacts/fetch-01.json"))).toEqual({ rows });
    expect(reflected(world).result).toMatchObject({ artifact_path: "artifacts/fetch-01.json" });
  });

  it("leaves a result of 32 KiB where it is", async () => {
    const world = agentWorld({ workspaces: fileWorkspaces(root) });
    await world.start();
    const result = "x".repeat(32 * 1024 - 2);
    await world.result(1, "fetch", { result });
    expect(reflected(world).result).toBe(result);
    expect(await readdir(join(root, "J1"))).not.toContain("artifacts");
  });

  it("keeps a large payload for another attempt, and the state stays small", async () => {
    const payload = { prompt: "p".repeat(100_000) };
    const world = agentWorld({ script: [{ tool: "fabric", tool_payload: payload }], workspaces: fileWorkspaces(root) });
    await world.start();
    expect(JSON.stringify(world.state).length).toBeLessThan(2_000);
    const again = eventOf(await world.result(1, "fabric", { status: "error", error: "busy" }));
    expect(again.payload.tool_payload).toEqual(payload);
    expect(again.payload.prompt).toBe(payload.prompt);
  });

  it("that is gone escalates a step whose payload was kept in it", async () => {
    const payload = { prompt: "p".repeat(100_000) };
    const world = agentWorld({ script: [{ tool: "fabric", tool_payload: payload }], workspaces: fileWorkspaces(root) });
    await world.start();
    await rm(join(root, "J1"), { recursive: true });
    const response = await world.result(1, "fabric", { status: "error", error: "busy" });
    expect(eventOf(response).payload).toMatchObject({ reason: "tool_error", attempts: 1 });
  });

  it("that cannot be written fails the turn, which is worth another attempt and changes nothing", async () => {
    await writeFile(join(root, "file"), "");
    const world = agentWorld({ workspaces: fileWorkspaces(join(root, "file")) });
    expect(await world.start()).toMatchObject({ status: "error", retry: true });
    expect(world.state).toEqual({});
  });

  it("is removed with its run", async () => {
    const world = agentWorld({ script: [done], workspaces: fileWorkspaces(root) });
    await world.start();
    expect(await readdir(root)).toEqual(["J1"]);
    world.now = new Date("2026-03-16T12:00:00Z");
    await world.take({ command: "poll" });
    expect(await readdir(root)).toEqual([]);
  });

  it("of a run whose reference names none does not keep the run", async () => {
    const ended = { status: "done", goal: "g", updated_at: "2020-01-01T00:00:00Z", workspace_ref: "job:../.." };
    const world = agentWorld({ state: { runs: { R0: ended } }, workspaces: fileWorkspaces(join(root, "all")) });
    await world.take({ command: "poll" });
    expect(world.state.runs).toEqual({});
  });

  it("cannot be chosen by a state that was tampered with", async () => {
    const world = agentWorld({ workspaces: fileWorkspaces(join(root, "all")) });
    await world.start();
    const run = { ...world.run(), workspace_ref: "job:../../etc" };
    const tampered = agentWorld({ state: { runs: { R1: run } }, workspaces: fileWorkspaces(join(root, "all")) });
    expect(await tampered.result(1, "fetch")).toMatchObject({ status: "error", retry: false });
  });
});

const resultEvent = {
  type: "agentic.tool_result",
  payload: { run_id: "R1", step: 1, tool: "fetch", status: "ok", result: "a page" },
  ...{ source: "fetch", timestamp: "2026-02-16T12:00:05Z", event_id: "e" },
};
