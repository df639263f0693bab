// The rules of an agent's sides, as the machine goes by them.
import { canonicalName, type ToolMap } from "../../contracts/tools/declaration.ts";
import type { SideRules } from "../../loop/config.ts";
import type { Turns } from "../../loop/records.ts";
import type { Agent } from "../agent.ts";
import type { SideDefinition } from "../definitions/side.ts";
import type { Cast } from "./cast.ts";

/** No run goes on longer than this, whatever its model wants; a side that may take more steps raises it. */
const MOST_STEPS = 250;
const MOST_REPEATED = 8;

/** Null for an agent without sides of its own making: its runs end as conversations do. */
export function sideRules(cast: Cast, tools: ToolMap, turns: Turns): SideRules | null {
  const { agent, definition } = cast;
  if (agent.style !== "standard") return null;
  const named = (name: string | undefined) => (name === undefined ? null : canonicalName(name, tools));
  const { a, b } = agent.sides;
  return {
    isDual: agent.isDual,
    otherSides: (["a", "b"] as const).filter((side) => agent.sides[side].backing.kind !== "prompt"),
    stopOnResponse: definition.stopOnResponse,
    stopTool: named(definition.stopTool),
    stopToolResponseProperty: definition.stopToolResponseProperty ?? null,
    sessionStop: named(definition.sessionStop?.name),
    sessionFail: named(definition.sessionFail?.name),
    maxSteps: { a: a.maxSteps, b: b.maxSteps },
    maxSessionTurns: agent.maxSessionTurns,
    hardCap: mostSteps(agent),
    mostRepeated: MOST_REPEATED,
    turns,
  };
}

export function mostSteps({ sides }: Agent): number {
  return Math.max(MOST_STEPS, sides.a.maxSteps ?? 0, sides.b.maxSteps ?? 0);
}

/** True when a tool of the side ends the session: then stopping without it is a failure. */
export function bindsTerminalTools({ sides }: Agent): boolean {
  const binds = ({ sessionStop, sessionFail }: SideDefinition) =>
    sessionStop !== undefined || sessionFail !== undefined;
  return binds(sides.a) || binds(sides.b);
}
