// The children that a thread has without asking for them, when its agent becomes active on it.
import type { Write } from "../../backend/write.ts";
import type { Agent } from "../agent.ts";
import type { Host } from "../host.ts";
import { type Parent, parentOf } from "./child-order.ts";
import { immediateWrites } from "./new-child.ts";

/**
 * What creates them, and theirs. For a thread that is about to be stored (`isNew`), and for one that was handed over:
 * what is live already is not created again.
 */
export async function immediateChildren(
  host: Host,
  {
    thread,
    agent,
    run,
    isNew,
    writes,
  }: {
    readonly thread: Parent["thread"];
    readonly agent: Agent;
    readonly run: number;
    readonly isNew: boolean;
    /** What is written for the thread in the same commit before. */
    readonly writes: readonly Write[];
  },
): Promise<readonly Write[]> {
  const sides = ["a", "b"] as const;
  const hasAny = sides.some((side) => host.registry.relationshipsOf(agent, side).some((each) => each.immediate));
  if (!hasAny) return [];
  return await immediateWrites(host, { parent: await parentOf(host, thread, writes), agent, run, isNew });
}
