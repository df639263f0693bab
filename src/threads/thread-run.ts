// One run of an agent on a thread, in memory: the machine's working memory and who does what it asks for.
import type { HoldfastError } from "../contracts/error.ts";
import type { JsonMap } from "../contracts/json.ts";
import type { Attempted } from "../loop/attempt.ts";
import type { Callbacks } from "../loop/callbacks.ts";
import type { Tell } from "../loop/observe.ts";
import type { Working } from "../loop/working.ts";
import type { Model } from "../models/model.ts";
import type { ReadyModel } from "../models/model-choice.ts";
import type { Agent } from "./agent.ts";
import type { LeftBehind } from "./calls/left-behind.ts";
import type { Cast } from "./cast/cast.ts";
import type { HeldThread } from "./held-thread.ts";
import type { HookSet } from "./hooks/hook-set.ts";
import type { Host } from "./host.ts";
import type { KnownSecrets } from "./secrets/known-secrets.ts";
import type { Side } from "./state/thread-state.ts";
import type { RunTrace } from "./telemetry/run-trace.ts";

export type ThreadRun = {
  /** Who acts now. */
  cast: Cast;
  models: readonly ReadyModel[];
  readonly working: Working;
  readonly tell: Tell;
  readonly abort: AbortController;
  /** Calls into somebody else's code, until the run is cut off. */
  readonly attempt: (call: () => unknown) => Attempted;
  carryOut: Callbacks;
  /** Asks whether the thread is still held here. */
  isHeld: () => Promise<boolean>;
  /** What the model has said of the answer it is giving now. */
  said: string;
  /** What is known of the cost of the attempt at a model that is under way, or was made last. */
  cost: { readonly hasSpoken: boolean; readonly usage?: unknown };
  /** What is told about that attempt beside the answer. */
  attempted: JsonMap | null;
  /** What the code that ran last leaves behind. */
  left: LeftBehind;
  /** Those of whoever acts now. */
  hooks: HookSet;
  /** How far the messages were looked through for files, and whether there were any. */
  filesSeen: { readonly upTo: number; readonly last: unknown; readonly has: boolean };
  /** What its code has read, and what its calls gave away, that nobody may be shown. */
  readonly known: KnownSecrets;
  /** The same with what belongs to the call that was made last. */
  secrets: KnownSecrets;
  /** What the code of this run keeps in memory for each other. */
  readonly context: Map<string, unknown>;
  /** Why nobody can go on with it: whoever spoke in it is not there any more. */
  readonly lost?: HoldfastError;
  /** The spans of it, where somebody traces. */
  trace?: RunTrace;
  /** Configures the machine for who acts now: a side of the thread's agent, or the prompt that speaks for a call of it. */
  act(side: Side): void;
};

export const noneSeen = { upTo: 0, last: undefined, has: false } as const;

export const unspoken = { hasSpoken: false } as const;
export const spoken = { hasSpoken: true } as const;

/** The one whose turn it is: others take over from those that failed. */
export function currentModel({ models, cast }: ThreadRun, { state }: HeldThread): Model {
  const model = models[state?.postponed?.model ?? 0] ?? models[0];
  if (!model) throw new Error(`The agent ${cast.agent.slug} has no model here.`);
  return model.ask;
}

export function agentOf({ agents }: Host, { agent }: HeldThread): Agent {
  const known = agents.get(agent);
  if (!known) throw new Error(`Nobody here knows the agent ${agent}.`);
  return known;
}
