// A thread that nobody will ever see to: its agent is not known here, and no other process works on the same data.
import type { Thread } from "../backend/thread-rows.ts";
import { type HoldfastError, holdfastError } from "../contracts/error.ts";
import type { Host } from "./host.ts";

export function isNobodys({ isShared, agents }: Host, { agent }: Pick<Thread, "agent">): boolean {
  return !isShared && !agents.has(agent);
}

export function nobodyKnows({ id, agent }: Pick<Thread, "id" | "agent">): HoldfastError {
  return holdfastError("agent_not_found", `Nobody here knows the agent "${agent}" of thread "${id}".`);
}
