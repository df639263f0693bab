// For whom the memories of a thread are read and written, as it stands now.
import { type MemorySubject, memorySubject } from "../../memory/memory-subject.ts";
import type { Agent } from "../agent.ts";
import type { Host } from "../host.ts";
import { subjectOf } from "../subject.ts";

export async function subjectOfMemory(
  { stores, memory }: Host,
  { threadId, agent }: { readonly threadId: string; readonly agent: Agent },
): Promise<MemorySubject> {
  const { slug } = agent;
  return memorySubject(subjectOf(agent, await stores.subjects.get(threadId)), { slug, id: await memory.agentId(slug) });
}
