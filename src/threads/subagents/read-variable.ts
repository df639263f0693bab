// The value of a variable as a thread sees it, before there is a run on it.
import { isFlagOn, resolveVariable, type Values } from "../../contracts/standard/env-precedence.ts";
import type { Side } from "../../contracts/standard/side.ts";
import type { Agent } from "../agent.ts";
import type { Relationship } from "../definitions/relationship.ts";
import type { Host } from "../host.ts";

export type ReadVariable = (name: string) => Promise<string | undefined>;

type Sources = {
  /** The thread's own. */
  readonly values: Values;
  readonly userId: string | null;
  readonly agent: Agent;
  readonly sides: readonly Side[];
};

/** Reads variables by the precedence that there is; the user's are asked for once, and only when they are needed. */
export function variableReader(host: Host, { values, userId, agent, sides }: Sources): ReadVariable {
  const prompt = Object.assign({}, ...sides.map((side) => host.registry.promptOf(agent, side)?.env ?? {})) as Values;
  let user: Promise<Values> | undefined;
  return async (name) => {
    user ??= userId === null ? Promise.resolve({}) : Promise.resolve(host.userEnv?.(userId) ?? {});
    const layers = { thread: values, user: await user, instance: host.env, agent: agent.env, prompt };
    return resolveVariable(name, layers)?.value;
  };
}

/** False when the flag that it needs is not on. */
export async function isSwitchedOn({ optional }: Relationship, read: ReadVariable): Promise<boolean> {
  return optional === undefined || isFlagOn(await read(optional));
}
