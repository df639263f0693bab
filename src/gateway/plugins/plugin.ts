// A plugin as the dispatcher sees it, whether it is a program of its own or runs inside the gateway.

import type { Manifest } from "../../contracts/gateway/protocol/manifest.ts";
import type { PluginRequest } from "../../contracts/gateway/protocol/request.ts";
import type { FailureReason, LogEntry, OkResponse } from "../../contracts/gateway/protocol/response.ts";
import type { JsonMap } from "../../contracts/json.ts";

export type Plugin = {
  /** Its own name, or the alias under which it is configured. */
  readonly name: string;
  /** The name in its manifest. */
  readonly base: string;
  readonly manifest: Manifest;
  readonly config: JsonMap;
  /** Drives agent runs: one job at a time, never a tool of an agent. */
  readonly isAgent: boolean;
  readonly parallelism: number;
  readonly maxAttempts: number;
  readonly backoffBaseMs: number;
  readonly timeoutsMs: Readonly<Record<string, number>>;
  readonly notifyOnComplete: boolean;
  /** Runs one command once. Never throws: everything that can go wrong is an outcome. */
  run(request: PluginRequest, options: RunOptions): Promise<Execution>;
};

export type RunOptions = {
  readonly timeoutMs: number;
  /** Aborted when the job was cancelled or its lease was lost: the process group is killed. */
  readonly signal: AbortSignal;
  /** Aborts the signal when the lease may have run out: for plugins inside the gateway, right before they write. */
  readonly checkLease?: () => void;
  /** The root of the job's tree, for plugins that run inside the gateway. */
  readonly rootJobId?: string;
  /** Called once the plugin runs as a process of its own. */
  readonly onSpawned?: () => void;
};

/** What one execution came to, and what it printed. */
export type Execution = ExecutionOutcome & {
  /** The text of stdout, for the log; empty when there was none. Invalid UTF-8 is replaced. */
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number | null;
};

export type ExecutionOutcome =
  | { readonly outcome: "succeeded"; readonly response: OkResponse; readonly warnings: readonly string[] }
  | {
      readonly outcome: "failed" | "timed_out";
      readonly reason: FailureReason;
      readonly retryable: boolean;
      readonly error: string;
      readonly logs: readonly LogEntry[];
    }
  | { readonly outcome: "aborted" };
