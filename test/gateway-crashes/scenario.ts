// What a scenario is: a configuration with its plugins, what is submitted to the gateway, and what must hold once every job
// has ended, wherever the gateway was killed in between.
import type { PluginRequest } from "../../src/contracts/gateway/protocol/request.ts";
import type { OnCrashPoint } from "../../src/engine/crash-points.ts";
import type { Planner } from "../../src/gateway/agent/planner/planner.ts";
import type { Gateway } from "../../src/gateway/gateway.ts";
import type { BuiltInPlugin } from "../../src/gateway/plugins/resolve-plugins.ts";
import type { RecordedEffect } from "../../src/testing/effect-ledger.ts";
import type { LedgerClient } from "../../src/testing/ledger-client.ts";
import type { Reading } from "./reading.ts";

/** What plugins and planners of a scenario act on. */
export type World = {
  readonly ledger: LedgerClient;
  /** To be told of further places where a crash does harm; each is a crash point. */
  readonly reached: OnCrashPoint;
  readonly page: string;
  /** Of the case. */
  readonly name: string;
  /** Records that a plugin runs; then comes a crash point of its own. */
  executed(step: string, request: PluginRequest): Promise<void>;
};

/** One execution of a plugin, as the process that is never killed has seen it. */
export type SeenExecution = RecordedEffect & { readonly step: string; readonly job_id: string };

/** Everything that is looked at once the work is done. */
export type Ended = {
  readonly reading: Reading;
  readonly workspaces: string;
  /** In the order in which they began. */
  readonly executions: readonly SeenExecution[];
  /** How often the page was asked for. */
  readonly pageRequests: number;
  /** How many processes were killed, or lost their leases. */
  readonly crashes: number;
  /** One of them went on after its leases were over: what it executed then stands out of order. */
  readonly hasSlept: boolean;
};

export type GatewayScenario = {
  readonly name: string;
  config(world: World): string | object;
  plugins?(world: World): readonly BuiltInPlugin[];
  planner?(world: World): Planner;
  /** Submits the work under keys, so that submitting it again after a crash adds nothing. */
  play(gateway: Gateway): Promise<void>;
  /** Points at which processes are killed before a case begins: the scenario is about what they leave. */
  readonly first?: readonly string[];
  /** One job at a time and no delayed retries: jobs end in the order in which they were queued. */
  readonly isInOrder?: boolean;
  /** It begins to work when it is opened, without anything submitted. */
  readonly startsByItself?: boolean;
  /** A sentence for everything that is not as it must be, besides what holds of every queue. */
  check(ended: Ended): Promise<readonly string[]>;
  /** A sentence for everything that must hold at any moment and does not. */
  always?(reading: Reading): Promise<readonly string[]>;
};
