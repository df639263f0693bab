// A process that is killed takes no child with it: each is there once, is told of once, and stands in the registry as it is.
import { expect, it } from "vitest";
import { callsTool } from "../../src/models/scripted/scripted-model.ts";
import { type Tool, tool } from "../../src/threads/tool.ts";
import { startProcess } from "../another-process.ts";
import { eachDatabase } from "../databases.ts";
import { openMortal } from "../mortal-runtime.ts";
import type { Given } from "./dying-team.ts";
import { actor, creates, finishes, history, lead, onlyChild, results, staying, worker } from "./team.ts";

const dyingTeam = import.meta.resolve("./dying-team.ts");

/** Both go on from whatever they are shown. */
function team(blocking: boolean, tools: readonly Tool[] = []) {
  const boss = actor(({ lines }) => {
    if (lines.length === 1) return creates();
    return lines.some((line) => line.includes("All good.")) ? "Thanks." : "Waiting.";
  });
  const child = actor(({ lines }) => {
    if (tools.length > 0 && !lines.some((line) => line.startsWith("call"))) return callsTool("slow");
    return finishes("All good.");
  });
  const agents = [lead(boss.model, [staying("worker", { blocking })]), worker(child.model, { tools })];
  return { agents, boss, child };
}

eachDatabase((newWorld) => {
  it.each<Omit<Given, "key">>([
    { blocking: true, dies: "in child" },
    { blocking: false, dies: "in child" },
    { blocking: true, dies: "when told" },
    { blocking: false, dies: "when told" },
  ])("[SUB-20, SUB-21, REC-1] after a kill, %o: one child, one delivery, and the registry is right", async (given) => {
    const world = await newWorld();
    expect(await startProcess(world, dyingTeam, { key: "t", ...given }).ended).toMatchObject({ signal: "SIGKILL" });

    const { agents, child } = team(given.blocking);
    const holdfast = await world.open(agents);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    await (await onlyChild(holdfast, thread)).thread.wait();
    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Thanks." });
    const { status, thread: of } = await onlyChild(holdfast, thread);
    expect(status).toBe("idle");
    expect(await of.runs()).toHaveLength(1);
    expect((await history(thread)).filter(({ content }) => content.includes("All good."))).toHaveLength(1);
    // What had ended before the kill is not done again.
    expect(child.shown).toHaveLength(given.dies === "in child" ? 1 : 0);
  });

  it("[SUB-21] a child that ends in a process that never held its parent settles its own entry, and tells it", async () => {
    const world = await newWorld();
    const before = team(false);
    // Dead once the child is there and its parent goes on.
    const doomed = await openMortal(world, before.agents, (point) => {
      return before.boss.shown.length > 1 && point.startsWith("after commit");
    });
    const first = await doomed.threads.open("t", { agent: "lead" });
    void first.send("Go.");
    await doomed.died;

    const { agents } = team(false);
    const holdfast = await world.open(agents);
    const thread = await holdfast.threads.get(first.id);
    await (await onlyChild(holdfast, thread)).thread.wait();
    expect(await thread.wait()).toMatchObject({ final_content: "Thanks." });
    expect((await onlyChild(holdfast, thread)).status).toBe("idle");
  });

  it("[TOOL-14] a tool of a child that a kill has cut off is not run again, and keeps nobody waiting", async () => {
    const world = await newWorld();
    const given = { key: "t", blocking: true, dies: "in tool" } satisfies Given;
    expect(await startProcess(world, dyingTeam, given).ended).toMatchObject({ signal: "SIGKILL" });

    let runs = 0;
    const slow = tool({ name: "slow", description: "Is slow.", timeoutMs: 100, execute: () => runs++ });
    const holdfast = await world.open(team(true, [slow]).agents);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Thanks." });
    const only = await onlyChild(holdfast, thread);
    expect((await results(only.thread))[0]).toMatchObject({ name: "slow", tool_status: "error" });
    expect(runs).toBe(0);
  });
});
