// A job that was executed, and what its execution leads to.
import type { PipelinePlace } from "../../../contracts/gateway/job.ts";
import type { Step } from "../../../contracts/gateway/pipelines/pipeline-graph.ts";
import type { FactOutput } from "../../../contracts/gateway/protocol/manifest.ts";
import type { OkResponse } from "../../../contracts/gateway/protocol/response.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import type { Emitter } from "../../pipelines/resolve.ts";
import type { Child, Context, StreamEvent } from "../commit/new-child.ts";
import type { Failure, Settlement } from "./settle.ts";

/** A job that was executed, as far as applying depends on it. */
export type ExecutedJob = {
  readonly id: string;
  readonly plugin: string;
  readonly command: string;
  readonly attempt: number;
  readonly max_attempts: number;
  readonly context_id: string | null;
  readonly place: PipelinePlace | null;
  readonly step: Step | undefined;
  /** Accumulated. */
  readonly context: JsonMap;
  /** The event that it ran with. */
  readonly input: Emitter["input"];
  readonly isAgent: boolean;
  readonly notifiesOnComplete: boolean;
  readonly factOutputs: readonly FactOutput[];
  readonly backoffBaseMs: number;
};

/** How the execution came out. */
export type Outcome =
  | { readonly kind: "ok"; readonly response: OkResponse }
  | { readonly kind: "failed"; readonly failure: Failure };

export type Applied = {
  readonly settlement: Settlement;
  readonly state?: {
    readonly value: JsonMap;
    readonly facts: readonly { readonly fact_type: string; readonly value: JsonMap }[];
  };
  readonly children: readonly Child[];
  readonly contexts: readonly Context[];
  readonly stream: readonly StreamEvent[];
  readonly warnings: readonly string[];
};

/** `run`: the agent run that goes on while the job emits. */
export function emitterOf({ id, plugin, place, context, input }: ExecutedJob, run: string | undefined): Emitter {
  return { job_id: id, plugin, place, context, input, run };
}
