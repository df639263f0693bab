// The variables of threads as they pass from a parent to its child.
import type { VariableType, Write } from "../../backend/write.ts";
import type { Agent } from "../agent.ts";
import type { Host } from "../host.ts";

/** A value that a thread has itself, opened. */
export type ThreadVariable = { readonly value: string; readonly type: VariableType; readonly inherited: boolean };

export type ThreadVariables = ReadonlyMap<string, ThreadVariable>;

/** What a thread has, with what is about to be written laid over it. */
export async function variablesOfThread(
  { stores, sealing }: Host,
  threadId: string,
  writes: readonly Write[],
): Promise<Map<string, ThreadVariable>> {
  const variables = new Map<string, ThreadVariable>();
  for (const { name, sealed, type, inherited } of await stores.state.variables(threadId)) {
    variables.set(name, { value: sealing.open(sealed, threadId), type, inherited });
  }
  for (const write of writes) {
    if (write.write !== "variable" || write.thread_id !== threadId) continue;
    const { name, sealed, type, inherited } = write;
    if (sealed === null) variables.delete(name);
    else variables.set(name, { value: sealing.open(sealed, threadId), type, inherited });
  }
  return variables;
}

/**
 * What a child has: its parent's values, except the names that are scoped to it, and those that it is given. The values
 * are secrets unless the child declares them as text.
 */
export function variablesOfChild(
  host: Host,
  agent: Agent,
  from: {
    readonly parent: ThreadVariables;
    readonly given: Readonly<Record<string, string>>;
    readonly scopedEnv: readonly string[];
  },
): Map<string, ThreadVariable> {
  const declared = host.registry.variablesOf(agent);
  const scoped = new Set([...from.scopedEnv, ...declared.filter((each) => each.scoped).map(({ name }) => name)]);
  const variables = new Map<string, ThreadVariable>();
  for (const [name, { value, type }] of from.parent) {
    // What is kept for a further instance under NAME__2 is as little for this one as NAME is.
    if (scoped.has(name) || scoped.has(baseName(name))) continue;
    variables.set(name, { value, type, inherited: true });
  }
  const texts = new Set(declared.filter(({ type }) => type === "text").map(({ name }) => name));
  for (const [name, value] of Object.entries(from.given)) {
    variables.set(name, { value, type: texts.has(name) ? "text" : "secret", inherited: false });
  }
  return variables;
}

export function variableWrites({ sealing }: Host, threadId: string, variables: ThreadVariables): readonly Write[] {
  return [...variables].map(([name, { value, type, inherited }]) => ({
    write: "variable",
    thread_id: threadId,
    name,
    sealed: sealing.seal(value, threadId),
    type,
    inherited,
  }));
}

/** The name that a numbered one such as `TOKEN__2` stands beside. */
function baseName(name: string): string {
  return name.replace(/__\d+$/, "");
}
