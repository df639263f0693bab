// A thread that was handed over: its new agent becomes active on it.
import type { Batch } from "../batch.ts";
import type { HeldThread } from "../held-thread.ts";
import type { Host } from "../host.ts";
import { immediateChildren } from "../subagents/immediate.ts";
import { agentOf } from "../thread-run.ts";

/** What comes with the agent without being asked for is created in the commit that hands the thread over. */
export async function takeOver(host: Host, held: HeldThread, batch: Batch): Promise<void> {
  const { thread, run } = held;
  const agent = agentOf(host, held);
  const writes = await immediateChildren(host, { thread, agent, run, isNew: false, writes: batch.writes });
  batch.writes.push(...writes);
}
