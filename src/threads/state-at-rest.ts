// The state of a thread for code that runs outside of any run: effects and endpoints.
import type { Thread } from "../backend/thread-rows.ts";
import type { JsonMap } from "../contracts/json.ts";
import type { Agent } from "./agent.ts";
import { invokeTool } from "./calls/invoke-tool.ts";
import { castOf } from "./cast/casting.ts";
import type { Host } from "./host.ts";
import type { KnownSecrets } from "./secrets/known-secrets.ts";
import { keepSecrets } from "./secrets/state-secrets.ts";
import { createThreadState } from "./state/create-thread-state.ts";
import type { StateScope } from "./state/state-scope.ts";
import type { ThreadState } from "./state/thread-state.ts";

export async function stateAtRest(
  host: Host,
  thread: Thread,
  { secrets, ...written }: Pick<StateScope, "buffer" | "effect"> & { readonly secrets?: KnownSecrets },
): Promise<ThreadState> {
  const { registry, sealing, stores } = host;
  const agent = registry.agents.get(thread.agent);
  const sealed = await stores.threads.arguments(thread.id);
  const invoke = agent && registry.promptOf(agent, "a") ? invoker(agent) : undefined;
  const state: ThreadState = createThreadState(host, {
    ...written,
    ...(secrets && { onSecret: (value: string) => secrets.add(value) }),
    thread,
    agent,
    arguments: () => (sealed === null ? {} : (JSON.parse(sealing.open(sealed, thread.id)) as JsonMap)),
    execution: null,
    // Nobody speaks; what the first side sets is what the thread's own code goes by.
    promptEnv: (agent && registry.promptOf(agent, "a")?.env) ?? {},
    context: new Map(),
    ...(invoke && { invoke }),
  });
  if (secrets) keepSecrets(state, () => secrets);
  return state;

  /** What the first side may call. */
  function invoker(of: Agent): NonNullable<StateScope["invoke"]> {
    const { signal } = new AbortController();
    const key = written.effect?.id ?? crypto.randomUUID();
    const { buffer } = written;
    const within = { host, thread, buffer, signal, key, ...(secrets && { secrets }) };
    return (name, args) => invokeTool({ ...within, state, cast: castOf(host, of, "a") }, name, args);
  }
}
