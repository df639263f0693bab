// Whether anybody wants to know of a new thread of an agent before anything happens on it.
import type { Agent } from "../agent.ts";
import type { Host } from "../host.ts";

/** True when a hook of its first prompt, or of the agent itself where that has none, waits for new threads. */
export function isToldOfBirth({ registry }: Host, agent: Agent): boolean {
  const own = registry.promptOf(agent, "a")?.hooks ?? [];
  const ids = own.length > 0 ? own : agent.hooks;
  return ids.some((id) => registry.hooks.get(id)?.hook === "after_thread_created");
}
