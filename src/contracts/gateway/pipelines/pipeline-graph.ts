// A pipeline after compilation: steps and the edges between them. Routing reads nothing else.
import type { Json } from "../../json.ts";
import type { Predicate } from "../../predicates/predicate.ts";

/** A path of the context and where its value comes from; `namespace` claims a whole map below one key. */
export type Claim =
  | { readonly path: string; readonly from: string }
  | { readonly namespace: string; readonly from: string };

/** One job of a pipeline. */
export type Step = {
  readonly id: string;
  /** Where the id is only a number that another step may get: which step it is. Absent for an id that the author gave. */
  readonly digest?: string;
  /** `uses`: a plugin or alias; `switch`: evaluates `predicate` and goes on along the edges of its outcome. */
  readonly kind: "uses" | "switch";
  readonly plugin: string;
  /** True when the plugin drives agent runs. */
  readonly is_agent: boolean;
  /** The command the author named; otherwise the tool command of the request, or `handle`. */
  readonly command?: string;
  readonly predicate?: Predicate;
  /** Of a switch: the plugin whose configuration the predicate reads as `config`; absent before a group of steps. */
  readonly guards?: string;
  /** Payload key to template. */
  readonly with?: Readonly<Record<string, Json>>;
  readonly baggage: readonly Claim[];
  readonly timeout_ms?: number;
  readonly retry?: StepRetry;
  readonly on_error: "bridge" | "none";
  /** Steps that follow; `when` only for exits of a switch. */
  readonly next: readonly Edge[];
};

export type StepRetry = { readonly max_attempts?: number; readonly backoff_base_ms?: number };
export type Edge = { readonly to: string; readonly when?: "true" | "false" };

export type Pipeline = {
  readonly name: string;
  readonly trigger: Trigger;
  readonly predicate?: Predicate;
  readonly execution_mode: "async" | "synchronous";
  /** How long a synchronous caller waits. */
  readonly timeout_ms: number;
  /** The most hops of one instance; null when unlimited. */
  readonly max_depth: number | null;
  readonly entries: readonly string[];
  readonly steps: ReadonlyMap<string, Step>;
  /** Where it was read, for messages. */
  readonly place: { readonly file: string; readonly line: number; readonly column: number };
};

export type Trigger =
  | { readonly on: string; readonly from_plugin?: string }
  | { readonly on_hook: HookSignal; readonly from_plugin?: string };

export const hookSignals = ["job.completed", "job.failed", "job.timed_out"] as const;
export type HookSignal = (typeof hookSignals)[number];

/** Pipelines in the order of the configuration, which is the order in which they are routed to. */
export type PipelineGraph = { readonly pipelines: ReadonlyMap<string, Pipeline> };
