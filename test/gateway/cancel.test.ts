// Cancelling jobs and runs: what waits ends at once, what runs is killed, and a run ends as cancelled.
import { describe, expect, it } from "vitest";
import { withDriver } from "../changed-driver.ts";
import { eachDatabase } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { api, eventPayload, heldPlugin, inShort, openGateway, plugin } from "./gateway-world.ts";

const useTool = { tool: "tool" } as const;
const done = { decision: "done", outcome: "It is written." } as const;

eachDatabase((newWorld) => {
  describe("a job that is cancelled", () => {
    it("ends at once where it is queued, and is never executed", async () => {
      const tool = plugin("tool");
      const { gateway } = await openGateway({ world: await newWorld(), plugins: [tool] });
      await gateway.pause("test");
      const [id = ""] = (await gateway.call("tool", "handle", { payload: {} }, api)).job_ids;
      expect(await gateway.jobs.cancel(id, "user:1")).toBe("cancelled");
      await gateway.resume();
      expect(await gateway.jobs.get(id)).toMatchObject({
        ...{ status: "dead", reason: "cancelled", cancel_requested_by: "user:1" },
      });
      expect(tool.requests).toEqual([]);
      await expect(gateway.jobs.cancel(id, "user:1")).rejects.toMatchObject({ code: "job_ended" });
      await expect(gateway.jobs.cancel("no such job", "user:1")).rejects.toMatchObject({ code: "job_not_found" });
    });

    it("is killed where it runs, and is not tried again", async () => {
      const tool = heldPlugin("tool");
      const { gateway, endedTree } = await openGateway({ world: await newWorld(), plugins: [tool] });
      const [id = ""] = (await gateway.call("tool", "handle", { payload: {} }, api)).job_ids;
      const { signal } = await tool.next();
      expect(await gateway.jobs.cancel(id, "user:1")).toBe("requested");
      expect(inShort(await endedTree(id))).toEqual(["tool dead cancelled"]);
      expect([signal.aborted, tool.requests.length]).toEqual([true, 1]);
      const { attempts } = await gateway.jobs.details(id);
      expect(attempts).toMatchObject([{ outcome: "cancelled", status: "dead", error: "cancelled by user:1" }]);
    });

    it("as a tool that runs is an error for good to its agent", async () => {
      const tool = heldPlugin("tool");
      const { gateway, endedTree } = await openGateway({
        ...{ world: await newWorld(), plugins: [tool], tools: ["tool"], script: [useTool, done] },
      });
      const { job_ids } = await gateway.runs.start({ goal: "Go.", run_id: "R1" }, api);
      const { request } = await tool.next();
      await gateway.jobs.cancel(request.job_id, "user:1");
      expect(inShort(await endedTree(job_ids[0]))).toEqual([
        ...["agentic-loop succeeded", "tool dead cancelled", "agentic-loop succeeded"],
      ]);
      expect(await gateway.runs.get("R1")).toMatchObject({
        ...{ status: "escalated", reason: "tool_error", last_error: "cancelled by user:1" },
      });
    });

    it("as a tool that is queued is that too", async () => {
      const [tool, busy] = [plugin("tool"), heldPlugin("busy")];
      const { gateway, endedTree } = await openGateway({
        ...{ world: await newWorld(), plugins: [tool, busy], tools: ["tool"], script: [useTool, done] },
      });
      const { job_ids } = await gateway.runs.start({ goal: "Go.", run_id: "R1" }, api);
      await gateway.call("busy", "handle", { payload: {} }, api);
      const call = await busy.next();
      const [, queued] = await gateway.jobs.tree(job_ids[0] ?? "");
      expect(await gateway.jobs.cancel(queued?.id ?? "", "user:1")).toBe("cancelled");
      call.answer("ok");
      await endedTree(job_ids[0]);
      expect(await gateway.runs.get("R1")).toMatchObject({ status: "escalated", reason: "tool_error" });
      expect(tool.requests).toEqual([]);
    });
  });

  it("a tool that is put back for its retry while it is being cancelled is an error to its agent all the same", async () => {
    const world = await newWorld();
    const tool = heldPlugin("tool");
    let look: (() => Promise<void>) | undefined;
    const backend = withDriver(world.backend, ({ all }) => ({
      async all(sql, params) {
        // Where cancelling finds out how the job stands.
        if (sql.startsWith("select id, status, epoch")) await look?.();
        return await all(sql, params);
      },
    }));
    const { gateway, endedTree } = await openGateway({
      ...{ world, plugins: [tool], tools: ["tool"], script: [useTool, done], options: { backend } },
      config: {
        plugins: { tool: { retry: { backoff_base: "1h" } } },
        pipelines: [{ name: "lost", on: "dead_letter", steps: [{ uses: "echo" }] }],
      },
    });
    const { job_ids } = await gateway.runs.start({ goal: "Go.", run_id: "R1" }, api);
    const { request, fail } = await tool.next();
    look = async () => {
      look = undefined;
      fail(new Error("Not yet."));
      await eventually(async () => expect(await gateway.jobs.get(request.job_id)).toMatchObject({ status: "queued" }));
    };
    expect(await gateway.jobs.cancel(request.job_id, "user:1")).toBe("cancelled");
    expect(inShort(await endedTree(job_ids[0]))).toEqual([
      ...["agentic-loop succeeded", "tool dead cancelled #2", "agentic-loop succeeded", "echo succeeded"],
    ]);
    expect(await gateway.runs.get("R1")).toMatchObject({
      ...{ status: "escalated", reason: "tool_error", last_error: "cancelled by user:1" },
    });
  });

  describe("a run that is cancelled", () => {
    it("kills the tool that runs for it, and is escalated as cancelled", async () => {
      const tool = heldPlugin("tool");
      const { gateway, endedTree, untilIdle, stream } = await openGateway({
        ...{ world: await newWorld(), plugins: [tool], tools: ["tool"], script: [useTool, done] },
      });
      const { job_ids } = await gateway.runs.start({ goal: "Go.", run_id: "R1" }, api);
      const { signal } = await tool.next();
      await gateway.runs.cancel("R1", "user:1");
      await untilIdle();
      expect(signal.aborted).toBe(true);
      expect(await gateway.runs.get("R1")).toMatchObject({
        status: "escalated",
        reason: "cancelled",
        pending_tool: null,
      });
      expect(inShort(await endedTree(job_ids[0])).slice(0, 2)).toEqual([
        "agentic-loop succeeded",
        "tool dead cancelled",
      ]);
      const ends = (await stream()).filter(({ type }) => type === "agent.escalated" || type === "agent.completed");
      expect(ends).toMatchObject([{ type: "agent.escalated", data: { run_id: "R1", reason: "cancelled" } }]);
      await expect(gateway.runs.cancel("R1", "user:1")).rejects.toMatchObject({ code: "agent_run_ended" });
      await expect(gateway.runs.cancel("R9", "user:1")).rejects.toMatchObject({ code: "agent_run_not_found" });
    });

    it("executes no tool that waits for its turn or for its retry", async () => {
      const tool = plugin("tool", () => {
        throw new Error("Not yet.");
      });
      const { gateway, untilIdle } = await openGateway({
        ...{ world: await newWorld(), plugins: [tool], tools: ["tool"], script: [useTool, done] },
        config: { plugins: { tool: { retry: { backoff_base: "1h" } } } },
      });
      const { job_ids } = await gateway.runs.start({ goal: "Go.", run_id: "R1" }, api);
      await eventually(async () =>
        expect((await gateway.jobs.tree(job_ids[0] ?? ""))[1]).toMatchObject({ attempt: 2 }),
      );
      await gateway.runs.cancel("R1", "user:1");
      await untilIdle();
      expect(await gateway.runs.get("R1")).toMatchObject({ status: "escalated", reason: "cancelled" });
      expect(tool.requests).toHaveLength(1);
    });
  });
});

describe("a run that is cancelled", () => {
  it("while its agent takes a turn executes no tool that this turn still requests", async () => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const tool = plugin("tool");
    const { gateway, endedTree } = await openGateway({
      ...{ plugins: [tool], tools: ["tool"] },
      script: [
        useTool,
        async () => {
          ask();
          await answered;
          return useTool;
        },
        done,
      ],
    });
    const { job_ids } = await gateway.runs.start({ goal: "Go.", run_id: "R1" }, api);
    await asked;
    await gateway.runs.cancel("R1", "user:1");
    answer();
    await endedTree(job_ids[0]);
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "escalated", reason: "cancelled", step: 2 });
    expect(tool.requests).toHaveLength(1);
  });

  it("of an agent without the command cancel kills the tool, and says that the run is the agent's to end", async () => {
    const payload = { run_id: "R1", step: 1, tool: "tool", attempt: 1 };
    const other = plugin("other", (_, call) =>
      call > 0
        ? { state_updates: { runs: { R1: { status: "escalated", reason: "tool_error" } } } }
        : {
            state_updates: { runs: { R1: { status: "running", pending_tool: "tool" } } },
            events: [{ type: "agentic.tool_request.tool", payload }],
          },
    );
    const tool = heldPlugin("tool");
    const { gateway, endedTree } = await openGateway({
      plugins: [other, tool],
      config: {
        plugins: { other: { agent: true } },
        pipelines: [{ name: "t", on: "agentic.tool_request.tool", steps: [{ uses: "tool" }, { uses: "other" }] }],
      },
    });
    const { job_ids } = await gateway.runs.start({ goal: "Go.", run_id: "R1", agent: "other" }, api);
    const { signal } = await tool.next();
    await expect(gateway.runs.cancel("R1", "user:1")).rejects.toMatchObject({
      code: "plugin_command_not_found",
      detail: expect.stringMatching(
        /other declares no command "cancel": the tool .* was cancelled, .* the agent to decide/,
      ),
    });
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["other succeeded", "tool dead cancelled", "other succeeded"]);
    expect(signal.aborted).toBe(true);
    expect(eventPayload(other.requests[1])).toMatchObject({
      run_id: "R1",
      status: "error",
      error: "cancelled by user:1",
    });
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "escalated", reason: "tool_error" });
  });

  it("leaves another run of the same job tree alone", async () => {
    const starts = ["R1", "R2"].map((run_id) => ({ type: "agentic.start", payload: { goal: "Go.", run_id } }));
    const [source, tool] = [plugin("source", () => ({ events: starts })), heldPlugin("tool")];
    const { gateway, endedTree } = await openGateway({
      ...{ plugins: [source, tool], tools: ["tool"], script: [useTool, done] },
      config: {
        service: { max_workers: 2 },
        plugins: { tool: { parallelism: 2 } },
        pipelines: [{ name: "start", on: "agentic.start", steps: [{ uses: "agentic-loop" }] }],
      },
    });
    const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
    const calls = [await tool.next(), await tool.next()];
    const [one, other] = ["R1", "R2"].map((id) => calls.find(({ request }) => eventPayload(request).run_id === id));
    await gateway.runs.cancel("R1", "user:1");
    expect([one?.signal.aborted, other?.signal.aborted]).toEqual([expect.any(Boolean), false]);
    other?.answer("ok");
    await endedTree(job_ids[0]);
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "escalated", reason: "cancelled" });
    expect(await gateway.runs.get("R2")).toMatchObject({ status: "done" });
  });
});
