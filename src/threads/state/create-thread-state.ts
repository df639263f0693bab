// Makes what tools, hooks, effects and endpoints are given of a thread.
import type { Thread } from "../../backend/thread-rows.ts";
import { snapshot } from "../../contracts/json.ts";
import { checkName } from "../check-arguments.ts";
import type { Host } from "../host.ts";
import { createEntry } from "../new-entry.ts";
import { definitionNotFound, definitionState } from "./definition-state.ts";
import { effectState } from "./effect-state.ts";
import { fileState } from "./file-state.ts";
import { hierarchyState, readArguments } from "./hierarchy-state.ts";
import { messageState } from "./message-state.ts";
import type { StateScope } from "./state-scope.ts";
import type { ThreadState } from "./thread-state.ts";
import { toolState } from "./tool-state.ts";
import { valueState } from "./value-state.ts";
import { variableState } from "./variable-state.ts";

/** The state of a thread. It reads when it is asked, so what it says is never older than that. */
export function createThreadState(host: Host, scope: StateScope): ThreadState {
  return stateWithin(host, scope, new Map());
}

/** Threads that were reached from one another share one family: the way back leads to the same state. */
type Family = Map<string, ThreadState>;

function stateWithin(host: Host, scope: StateScope, family: Family): ThreadState {
  const { thread, buffer, execution } = scope;
  let terminated = thread.terminated_at;

  async function open(other: Thread): Promise<ThreadState> {
    return family.get(other.id) ?? stateWithin(host, await scopeOf(host, scope, other), family);
  }

  const state: ThreadState = {
    threadId: thread.id,
    agentId: thread.agent,
    userId: thread.user_id,
    createdAt: thread.created_at,
    get terminated() {
      return terminated;
    },
    get arguments() {
      return typeof scope.arguments === "function" ? scope.arguments() : scope.arguments;
    },
    execution,
    context: scope.context,
    ...definitionState(host),
    ...effectState(host, scope),
    ...fileState(host, scope),
    ...hierarchyState(host, scope, open),
    ...messageState(host, scope, () => state),
    ...toolState(host, scope),
    ...valueState(host, scope),
    ...variableState(host, scope),
    emit(event, data = null) {
      checkName("event", event);
      buffer.emit(event, snapshot(data));
    },
    async terminate() {
      await buffer.write({ write: "terminate", thread_id: thread.id, stop: createEntry.stop("Terminated.") });
      // The first time counts, and the database says which it was once it is stored.
      terminated ??= (await host.stores.threads.get(thread.id))?.terminated_at ?? host.now() * 1_000;
    },
    stopSession({ result, status = "success", notifyParent = true } = {}) {
      buffer.ask({ session: { status, notifies: notifyParent, ...(result !== undefined && { result }) } });
    },
    runAgent(name) {
      const { agents } = host.registry;
      if (!agents.has(name)) throw definitionNotFound("agent", name, agents.keys());
      buffer.ask({ handoff: name });
    },
  };
  family.set(thread.id, state);
  return state;
}

/** What is said through the state of another thread is said for the same tool, hook or effect. */
async function scopeOf(host: Host, { buffer, tool, effect }: StateScope, thread: Thread): Promise<StateScope> {
  const agent = host.registry.agents.get(thread.agent);
  const given = (await readArguments(host, buffer.writes, thread.id)) ?? {};
  return {
    thread,
    arguments: given,
    buffer: buffer.of(thread.id),
    execution: null,
    agent,
    promptEnv: (agent && host.registry.promptOf(agent, "a")?.env) ?? {},
    ...(tool && { tool: { ...tool, env: {} } }),
    ...(effect && { effect }),
    context: new Map(),
  };
}
