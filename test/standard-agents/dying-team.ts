// A parent with a child in a process of their own, which is killed where it is told to.
import { callsTool, says } from "../../src/models/scripted/scripted-model.ts";
import { tool } from "../../src/threads/tool.ts";
import type { Program } from "../another-process.ts";
import { actor, creates, finishes, lead, staying, worker } from "./team.ts";

export type Given = {
  readonly key: string;
  readonly blocking: boolean;
  /** In the child's model or in its tool, or as soon as the parent is told of the child's end. */
  readonly dies: "in child" | "in tool" | "when told";
};

const die = (): never => {
  process.kill(process.pid, "SIGKILL");
  throw new Error("Killed.");
};

export const run: Program<Given> = async (open, { key, blocking, dies }) => {
  const boss = actor(({ lines }) => {
    if (lines.length === 1) return creates();
    return lines.some((line) => line.includes("All good.")) ? die() : says("Waiting.");
  });
  const child = actor(() => {
    if (dies === "in tool") return callsTool("slow");
    return dies === "in child" ? die() : finishes("All good.");
  });
  const slow = tool({ name: "slow", description: "Is slow.", timeoutMs: 100, execute: die });
  const tools = dies === "in tool" ? [slow] : [];
  const holdfast = await open([lead(boss.model, [staying("worker", { blocking })]), worker(child.model, { tools })]);
  const thread = await holdfast.threads.open(key, { agent: "lead" });
  await thread.queueMessage("Go.", { key: "go" });
};
