// Opens a thread of an agent that a test is about: one model that talks to people, or two that talk to each other.
import type { HoldfastOptions } from "../../src/holdfast.ts";
import { type Agent, agent, type StandardAgentDefinition } from "../../src/threads/agent.ts";
import { type PromptDefinition, prompt } from "../../src/threads/definitions/define-prompt.ts";
import type { SideInput } from "../../src/threads/definitions/side.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";
import type { World } from "../databases.ts";

/** What a side is made of: what its prompt and its rules say beside what every test takes for granted. */
export type SideOf = Partial<PromptDefinition> & { readonly rules?: Partial<SideInput> };

type About = Partial<StandardAgentDefinition> & { readonly options?: Partial<HoldfastOptions> };

/** A side whose prompt shows the whole conversation, unless it says otherwise. */
export function sideOf(name: string, { rules = {}, ...given }: SideOf): SideInput {
  const whole = { includeChat: true, includePastTools: true };
  return { prompt: prompt({ name, prompt: `You are the ${name}.`, ...whole, ...given }), ...rules };
}

export function helperOf(given: SideOf, about: Partial<StandardAgentDefinition> = {}): Agent {
  return agent({ name: "helper", sideA: sideOf("speaker", given), ...about } as StandardAgentDefinition);
}

export function pairOf(a: SideOf, b: SideOf, about: Partial<StandardAgentDefinition> = {}): Agent {
  const sides = { sideA: sideOf("writer", a), sideB: sideOf("critic", b) };
  return agent({ name: "pair", type: "dual_ai", ...sides, ...about } as StandardAgentDefinition);
}

export async function openHelper(
  world: World,
  given: SideOf,
  { options, ...about }: About = {},
): Promise<ThreadHandle> {
  const { threads } = await world.open(helperOf(given, about), options);
  return await threads.open("c", { agent: "helper" });
}

export async function openPair(
  world: World,
  a: SideOf,
  b: SideOf,
  { options, ...about }: About = {},
): Promise<ThreadHandle> {
  const { threads } = await world.open(pairOf(a, b, about), options);
  return await threads.open("c", { agent: "pair" });
}
