// The operations on pipelines: list them, start one, emit an event.
import { z } from "zod";
import { defined } from "../../abilities/defined.ts";
import type { Operation } from "../../abilities/operation.ts";
import { id, jsonMap } from "../../abilities/shapes.ts";
import { isMap } from "../../contracts/json.ts";
import type { GatewayDeps } from "./deps.ts";
import { dedupeKey, describeJob, jobShape, payload } from "./shapes.ts";

const pipelineShape = z.object({
  name: z.string(),
  on: z.string().nullable(),
  on_hook: z.string().nullable(),
  execution_mode: z.enum(["async", "synchronous"]),
  steps: z.array(z.object({ id: z.string(), uses: z.string() })),
});

/** 200 for a pipeline that was waited for, 202 for work that goes on. */
function hasEnded(answer: unknown): 200 | 202 {
  return isMap(answer) && (answer.status === "succeeded" || answer.status === "failed") ? 200 : 202;
}

const startedShape = z.object({
  status: z.enum(["queued", "duplicate", "succeeded", "failed", "timeout_exceeded"]),
  job_id: z.string().nullable(),
  job_ids: z.array(z.string()).optional(),
  timeout_exceeded: z.literal(true).optional(),
  result: jsonMap.nullable().optional().meta({ description: "The response of the last job, once all have ended." }),
  duration_ms: z.int().optional(),
  tree: z.array(jobShape).optional(),
});

export function pipelineOperations({ define, gateway, permits, submitter }: GatewayDeps): readonly Operation[] {
  return [
    define({
      name: "holdfast/list-pipelines",
      title: "List the pipelines of the gateway",
      description: "Every pipeline with its trigger and its steps.",
      input: z.object({}),
      output: z.object({ pipelines: z.array(pipelineShape) }),
      effect: "read",
      capability: "gateway.read",
      route: { method: "get", path: "/pipelines" },
      execute: async () => ({
        pipelines: gateway.pipelines().map((pipeline) => ({ ...pipeline, steps: [...pipeline.steps] })),
      }),
    }),

    define({
      name: "holdfast/run-pipeline",
      title: "Start a pipeline",
      description:
        "Starts a pipeline with an event of its own trigger type. A synchronous pipeline answers once every job of its tree has ended, or with timeout_exceeded while the work goes on.",
      input: z.object({
        name: id,
        payload,
        dedupe_key: dedupeKey.optional(),
        async: z.stringbool().or(z.boolean()).default(false).meta({ description: "Never wait." }),
      }),
      output: startedShape,
      effect: "write",
      capability: "gateway.run",
      route: { method: "post", path: "/pipeline/{name}", status: hasEnded },
      async execute({ name, payload: input, dedupe_key, async: isAsync }, caller) {
        const request = { payload: input, isAsync, ...defined({ dedupe_key }) };
        const result = await gateway.runPipeline(name, request, submitter(caller), caller.signal);
        switch (result.outcome) {
          case "queued": {
            const [first] = result.job_ids;
            return first === undefined
              ? { status: "duplicate" as const, job_id: null }
              : { status: "queued" as const, job_id: first, job_ids: [...result.job_ids] };
          }
          case "timeout_exceeded":
            return { status: "timeout_exceeded" as const, job_id: result.job_id, timeout_exceeded: true as const };
          case "ended": {
            const showsResults = await permits(caller.principal, "gateway.results");
            return {
              status: result.status,
              job_id: result.job_id,
              duration_ms: result.duration_ms,
              ...(showsResults && { result: result.result as never }),
              tree: result.tree.map((job) => describeJob(job, showsResults)),
            };
          }
          default:
            throw result satisfies never;
        }
      },
    }),

    define({
      name: "holdfast/emit-event",
      title: "Emit an event",
      description: "Routes an event to every pipeline that listens for its type. Reserved types are refused.",
      input: z.object({ type: z.string().trim().min(1).max(256), payload, dedupe_key: dedupeKey.optional() }),
      output: z.object({ job_ids: z.array(z.string()), duplicates: z.int() }),
      effect: "write",
      capability: "gateway.run",
      route: { method: "post", path: "/events", status: 202 },
      async execute({ type, payload: input, dedupe_key }, caller) {
        const submitted = await gateway.emit({ type, payload: input, ...defined({ dedupe_key }) }, submitter(caller));
        return { job_ids: [...submitted.job_ids], duplicates: submitted.duplicates.length };
      },
    }),
  ];
}
