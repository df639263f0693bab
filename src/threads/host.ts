// What a worker lends to the threads it runs.
import type { Clock } from "../backend/clock.ts";
import type { Stores } from "../backend/stores.ts";
import type { OnCrashPoint } from "../engine/crash-points.ts";
import type { Memory } from "../memory/memory.ts";
import type { ReadyModel } from "../models/model-choice.ts";
import type { Trust } from "../trust/trust.ts";
import type { Agent } from "./agent.ts";
import type { Counters } from "./counters.ts";
import type { Endpoint } from "./definitions/endpoint.ts";
import type { Registry } from "./definitions/registry.ts";
import type { Progress } from "./progress.ts";
import type { Sealing } from "./secrets/sealing.ts";
import type { LiveTexts } from "./stream/live-texts.ts";
import type { KnownSwitches } from "./switches.ts";

export type Host = {
  readonly stores: Stores;
  readonly agents: ReadonlyMap<string, Agent>;
  /** Everything that was defined, by its name. */
  readonly registry: Registry;
  readonly endpoints: readonly Endpoint[];
  /** The variables of this installation. */
  readonly env: Readonly<Record<string, string>>;
  /** The variables of a user, where somebody keeps them. */
  readonly userEnv?: (userId: string) => Promise<Readonly<Record<string, string>>>;
  /** The models of each agent and prompt: the first to ask and those that take over. */
  readonly models: ReadonlyMap<string, readonly ReadyModel[]>;
  readonly sealing: Sealing;
  /** Who may do what, and what was agreed to. */
  readonly trust: Trust;
  /** What is remembered, and how it is brought into prompts. */
  readonly memory: Memory;
  readonly progress: Progress;
  /** What operators have switched off. */
  readonly switches: KnownSwitches;
  readonly counters: Counters;
  readonly liveTexts: LiveTexts;
  readonly onCrashPoint: OnCrashPoint;
  /** Tells whoever watches over errors. Never throws. */
  readonly report: (error: unknown, threadId: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Where somebody holds the clock: real time then says nothing about what is due. */
  readonly clock?: Clock;
  /** True when other processes work on the same data, so that whoever held a thread before may still be at work. */
  readonly isShared: boolean;
  /** Threads for which something was left and not looked at yet; absent where other processes may leave something too. */
  readonly news?: Set<string>;
  /** How long a thread is held without word from its holder. */
  readonly leaseMs: number;
  /** After every commit, fold the stored records and compare: for tests, since the whole run is read each time. */
  readonly verifies: boolean;
};
