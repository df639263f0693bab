// The variables that a thread sees: its own values, sealed where they are stored, over those of its user, the process and
// the definitions. No error here ever says a value.
import type { StoredVariable } from "../../backend/state-store.ts";
import type { Thread } from "../../backend/thread-rows.ts";
import type { VariableType, Write } from "../../backend/write.ts";
import { holdfastError } from "../../contracts/error.ts";
import { type Layer, resolveVariable } from "../../contracts/standard/env-precedence.ts";
import { checkName, checkText } from "../check-arguments.ts";
import type { Host } from "../host.ts";
import { isSecretName } from "../secrets/secret-marks.ts";
import { newThreadsIn } from "./require-live.ts";
import type { StateBuffer } from "./state-buffer.ts";
import type { StateScope } from "./state-scope.ts";
import type { ThreadState } from "./thread-state.ts";

type VariableState = Pick<ThreadState, "env" | "envType" | "setEnv" | "instanceEnv">;

export function variableState(host: Host, scope: StateScope): VariableState {
  const { thread, buffer, agent, tool, promptEnv } = scope;

  return {
    async env(name) {
      checkName("name", name);
      const own = await variableOf(host, buffer, thread.id, name);
      const { user_id } = thread;
      const found = resolveVariable(name, {
        thread: own && { [name]: host.sealing.open(own.sealed, thread.id) },
        user: user_id === null ? undefined : await host.userEnv?.(user_id),
        instance: host.env,
        agent: agent?.env,
        tool: tool?.env,
        prompt: promptEnv,
      });
      if (!found) throw holdfastError("variable_missing", `There is no value for the variable "${name}".`);
      const declared = agent && host.registry.variablesOf(agent).find((variable) => variable.name === name);
      const type = found.from === "thread" ? own?.type : declared?.type;
      if (type === "secret" || (type === undefined && isKept(name, found.from))) scope.onSecret?.(found.value);
      return found.value;
    },
    async envType(name) {
      checkName("name", name);
      const own = await variableOf(host, buffer, thread.id, name);
      if (own) return own.type;
      const declared = agent && host.registry.variablesOf(agent).find((variable) => variable.name === name);
      return declared?.type ?? null;
    },
    async setEnv(name, value, { type: given } = {}) {
      checkName("name", name);
      checkText("value", value);
      if (given !== undefined && given !== "text" && given !== "secret") {
        throw holdfastError("invalid_argument", "type must be text or secret.");
      }
      const type = given ?? (await variableOf(host, buffer, thread.id, name))?.type ?? "secret";
      if (type === "secret") scope.onSecret?.(value);
      const heirs = await heirsOf(host, scope, name);
      const write = (thread_id: string, inherited: boolean): Write => {
        return { write: "variable", thread_id, name, sealed: host.sealing.seal(value, thread_id), type, inherited };
      };
      await buffer.write(write(thread.id, false), ...heirs.map((id) => write(id, true)));
    },
    instanceEnv(name) {
      const value = resolveVariable(name, { instance: host.env })?.value ?? null;
      const declared = agent && host.registry.variablesOf(agent).find((variable) => variable.name === name);
      if (value !== null && declared?.type !== "text") scope.onSecret?.(value);
      return value;
    },
  };
}

/** Nobody has said what it is. What an installation or a user was given is not told on; what stands in a definition is. */
function isKept(name: string, from: Layer): boolean {
  return from === "user" || from === "instance" || isSecretName(name);
}

type Kept = { readonly sealed: string; readonly type: VariableType; readonly inherited: boolean };

/** A thread's value of a variable as it is now, sealed. */
async function variableOf(
  { stores }: Host,
  { writes }: StateBuffer,
  threadId: string,
  name: string,
): Promise<Kept | undefined> {
  const written = writes.findLast(
    (write) => write.write === "variable" && write.thread_id === threadId && write.name === name,
  );
  if (written?.write === "variable") {
    const { sealed, type, inherited } = written;
    return sealed === null ? undefined : { sealed, type, inherited };
  }
  const stored: readonly StoredVariable[] = await stores.state.variables(threadId);
  return stored.find((variable) => variable.name === name);
}

/**
 * The descendants that follow a thread in a variable. A name stops at a thread that has a value of its own or whose
 * definitions keep it to themselves: what is below inherits from there.
 */
async function heirsOf(host: Host, { thread, buffer }: StateScope, name: string): Promise<readonly string[]> {
  const descendants: readonly Pick<Thread, "id" | "parent_id" | "agent">[] = [
    ...(await host.stores.threads.descendants(thread.id)),
    ...newThreadsIn(buffer.writes),
  ];
  const heirs: string[] = [];
  const followed = [thread.id];
  for (let parent = followed.shift(); parent !== undefined; parent = followed.shift()) {
    for (const { id, parent_id, agent } of descendants) {
      if (parent_id !== parent || isScoped(host, agent, name)) continue;
      const known = await variableOf(host, buffer, id, name);
      if (known && !known.inherited) continue;
      heirs.push(id);
      followed.push(id);
    }
  }
  return heirs;
}

function isScoped({ registry }: Host, slug: string, name: string): boolean {
  const agent = registry.agents.get(slug);
  return agent !== undefined && registry.variablesOf(agent).some((each) => each.scoped && each.name === name);
}
