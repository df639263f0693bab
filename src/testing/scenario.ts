// What a scenario is: agents, and a small program with them that can be begun again from its first line after a crash.
import type { OnCrashPoint } from "../engine/crash-points.ts";
import type { Holdfast, HoldfastOptions } from "../holdfast.ts";
import type { Agent } from "../threads/agent.ts";
import type { Definitions } from "../threads/definitions/registry.ts";
import type { RecordedEffect } from "./effect-ledger.ts";
import type { LedgerClient } from "./ledger-client.ts";

/** What agents act on. */
export type World = {
  /** The world outside. Right after an effect was recorded is a point of its own. */
  readonly ledger: LedgerClient;
  /** To be told of further places where a crash hurts; each is a point. */
  readonly reached: OnCrashPoint;
};

/** What the program of a scenario works with. */
export type Stage = World & { readonly holdfast: Holdfast };

/** What has come of it, for a check of one's own. */
export type Ending = { readonly holdfast: Holdfast; readonly effects: readonly RecordedEffect[] };

export type Scenario = {
  agents(world: World): readonly Agent[];
  /** What agents refer to by name, such as effects and hooks. */
  definitions?(world: World): Partial<Omit<Definitions, "agents">>;
  /**
   * The program. After a crash it is run again from its first line, so it opens threads by their keys and gives a key to
   * everything that it sends.
   */
  run(stage: Stage): Promise<void>;
  /** What must hold in the end besides what is checked of every scenario. What it throws is a violation. */
  check?(ending: Ending): void | Promise<void>;
  /** Further options of `createHoldfast`. */
  readonly options?: Partial<Omit<HoldfastOptions, "backend" | "agents" | "onPoint" | "onError">>;
};

/** A scenario for `crashTest`, which a module exports. */
export function scenario(definition: Scenario): Scenario {
  return definition;
}

export function isScenario(value: unknown): value is Scenario {
  const { agents, run } = (value ?? {}) as Partial<Scenario>;
  return typeof agents === "function" && typeof run === "function";
}
