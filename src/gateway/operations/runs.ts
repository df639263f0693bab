// The operations on agent runs: start, read, trace, cancel.
import { z } from "zod";
import { defined } from "../../abilities/defined.ts";
import type { Operation } from "../../abilities/operation.ts";
import { id, jsonMap, LONGEST_ID } from "../../abilities/shapes.ts";
import type { AgentRunView } from "../gateway.ts";
import type { GatewayDeps } from "./deps.ts";
import { dedupeKey } from "./shapes.ts";

const runId = id.meta({ description: "The id of an agent run." });

const withheld = { description: "Only with the capability gateway.results." };

const runShape = z.object({
  run_id: z.string(),
  agent: z.string(),
  job_id: z.string().nullable().meta({ description: "The job that started the run." }),
  status: z.enum(["running", "done", "escalated"]),
  goal: z.string().optional().meta(withheld),
  step: z.int(),
  max_steps: z.int(),
  attempt: z.int(),
  reframes: z.int(),
  max_reframes: z.int(),
  completed_steps: z.array(z.int()),
  pending_step: z.int().nullable(),
  pending_tool: z.string().nullable(),
  pending_since: z.string().nullable(),
  outcome: z.string().nullable().optional().meta(withheld),
  reason: z.string().nullable(),
  last_error: z.string().nullable().optional().meta(withheld),
  workspace_dir: z
    .string()
    .nullable()
    .optional()
    .meta({ description: `The folder with the files of the run, such as artifacts. ${withheld.description}` }),
  created_at: z.string(),
  updated_at: z.string(),
});

export function runOperations({ define, gateway, permits, submitter }: GatewayDeps): readonly Operation[] {
  const { runs } = gateway;
  return [
    define({
      name: "holdfast/list-agent-runs",
      title: "List agent runs",
      description: "The runs that the gateway's agents know of, newest first.",
      input: z.object({
        status: z.enum(["running", "done", "escalated"]).optional(),
        agent: id.optional(),
        limit: z.coerce.number().int().min(1).max(500).default(50),
      }),
      output: z.object({ runs: z.array(runShape) }),
      effect: "read",
      capability: "gateway.jobs",
      route: { method: "get", path: "/runs" },
      async execute({ status, agent, limit }, { principal }) {
        const found = (await runs.list()).filter(
          (run) => (status === undefined || run.status === status) && (agent === undefined || run.agent === agent),
        );
        const showsResults = await permits(principal, "gateway.results");
        return { runs: found.slice(0, limit).map((run) => describeRun(run, showsResults)) };
      },
    }),

    define({
      name: "holdfast/start-agent-run",
      title: "Start an agent run",
      description: "Gives an agent a goal. The agent takes one turn per job and resumes with the result of each tool.",
      input: z.object({
        goal: z.string().trim().min(1).max(100_000),
        context: jsonMap.optional().meta({ description: "What the agent should know; max_steps lowers its budget." }),
        run_id: z.string().trim().min(1).max(LONGEST_ID).optional(),
        agent: id.optional().meta({ description: "The agent's name; agentic-loop unless given." }),
        dedupe_key: dedupeKey.optional(),
      }),
      output: z.object({
        status: z.enum(["queued", "duplicate"]),
        job_id: z.string().nullable(),
        run_id: z.string().nullable(),
      }),
      effect: "write",
      capability: "gateway.run",
      route: { method: "post", path: "/runs", status: 202 },
      async execute({ goal, ...input }, caller) {
        const started = await runs.start({ goal, ...defined(input) }, submitter(caller));
        const [jobId] = started.job_ids;
        return jobId === undefined
          ? { status: "duplicate" as const, job_id: started.duplicates[0] ?? null, run_id: started.run_id }
          : { status: "queued" as const, job_id: jobId, run_id: started.run_id };
      },
    }),

    define({
      name: "holdfast/get-agent-run",
      title: "Read an agent run",
      description: "The state of one agent run.",
      input: z.object({ run_id: runId }),
      output: runShape,
      effect: "read",
      capability: "gateway.jobs",
      route: { method: "get", path: "/runs/{run_id}" },
      execute: async ({ run_id }, { principal }) =>
        describeRun(await runs.get(run_id), await permits(principal, "gateway.results")),
    }),

    define({
      name: "holdfast/trace-agent-run",
      title: "Read the trace of an agent run",
      description: "What the agent wrote into its trace, phase by phase.",
      input: z.object({ run_id: runId }),
      output: z.object({ run_id: z.string(), trace: z.array(jsonMap) }),
      effect: "read",
      capability: "gateway.results",
      route: { method: "get", path: "/runs/{run_id}/trace" },
      execute: async ({ run_id }) => ({ run_id, trace: (await runs.trace(run_id)) as never }),
    }),

    define({
      name: "holdfast/cancel-agent-run",
      title: "Cancel an agent run",
      description: "Kills the tool that runs for it and escalates the run with the reason cancelled.",
      input: z.object({ run_id: runId }),
      output: z.object({ run_id: z.string(), cancelled: z.literal(true) }),
      effect: "destroy",
      capability: "gateway.run",
      route: { method: "post", path: "/runs/{run_id}/cancel", status: 202 },
      async execute({ run_id }, caller) {
        const { user_id, via } = submitter(caller);
        await runs.cancel(run_id, user_id ?? via);
        return { run_id, cancelled: true as const };
      },
    }),
  ];
}

/** `showsResults`: whether the caller may read the goal, the outcome and errors. */
function describeRun(run: AgentRunView, showsResults: boolean): z.input<typeof runShape> {
  const outcome = run.status === "done" ? run.outcome : null;
  return {
    run_id: run.run_id,
    agent: run.agent,
    job_id: run.job_id,
    status: run.status,
    step: run.step,
    max_steps: run.max_steps,
    attempt: run.attempt,
    reframes: run.reframes,
    max_reframes: run.max_reframes,
    completed_steps: [...run.completed_steps],
    pending_step: run.pending_step,
    pending_tool: run.pending_tool,
    pending_since: run.pending_since,
    reason: run.status === "escalated" ? run.reason : null,
    created_at: run.created_at,
    updated_at: run.updated_at,
    ...(showsResults && { goal: run.goal, outcome, last_error: run.last_error, workspace_dir: run.workspace_dir }),
  };
}
