// The system prompt of whoever speaks, with everything filled in.
import { HoldfastError } from "../../contracts/error.ts";
import type { Json } from "../../contracts/json.ts";
import { asksForVariables, envNames, renderSystemPrompt } from "../../contracts/standard/system-prompt.ts";
import { handedOverWith } from "../cast/handoff.ts";
import type { Host } from "../host.ts";
import type { ThreadState } from "../state/thread-state.ts";
import type { ThreadRun } from "../thread-run.ts";

export async function systemPrompt(host: Host, run: ThreadRun, state: ThreadState): Promise<string> {
  const { registry } = host;
  const { agent, prompt } = run.cast;
  const { parts } = prompt;
  const include = (name: string) => registry.prompts.get(name)?.parts;
  const values = new Map<string, string>();
  for (const name of envNames(parts, include)) {
    const value = await readable(state, name);
    if (value === undefined) continue;
    values.set(name, value);
    run.known.reveal(value);
  }
  const given = run.working.outer.at(-1)?.call?.parameters ?? state.arguments;
  const handed = asksForVariables(parts, include) ? await handedOverWith(host, state.threadId, agent.slug) : {};
  return renderSystemPrompt(parts, {
    include,
    env: (name) => values.get(name),
    variable: (name): Json | undefined => given[name] ?? (run.context.get(name) as Json | undefined) ?? handed[name],
  });
}

/** What is secret does not reach a model, whatever a prompt asks for. */
async function readable(state: ThreadState, name: string): Promise<string | undefined> {
  try {
    if ((await state.envType(name)) === "secret") return undefined;
    return await state.env(name);
  } catch (thrown) {
    if (thrown instanceof HoldfastError && thrown.code === "variable_missing") return undefined;
    throw thrown;
  }
}
