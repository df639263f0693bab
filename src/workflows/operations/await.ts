// Waiting for a run: so long and no longer, and who waited learns whether to come back.
import { z } from "zod";
import type { Operation } from "../../abilities/operation.ts";
import { plain } from "../../abilities/plain.ts";
import { jsonMap } from "../../abilities/shapes.ts";
import { redactPayload } from "../../contracts/conversation/run-redaction.ts";
import { HoldfastError } from "../../contracts/error.ts";
import { isOperationError } from "../../contracts/operation-error.ts";
import { awaitRun } from "../../contracts/workflows/await-run.ts";
import type { RunHandle } from "../durable/run-handle.ts";
import type { WorkflowDeps } from "./deps.ts";
import { runId } from "./shapes.ts";

const USUAL_MS = 30_000;
const LONGEST_MS = 600_000;

const awaitedShape = z.object({
  schema: z.literal("agents-api/workflow-run-await/v1"),
  run_id: z.string(),
  status: z.string(),
  terminal: z.boolean(),
  reconnectable: z.boolean().meta({ description: "True while waiting again may bring more." }),
  result: jsonMap.nullable(),
  drain: jsonMap.meta({ description: "Nothing is worked off by waiting: runs go on by themselves." }),
});

export function awaitOperations({ workbench: { define, reach }, runFor }: WorkflowDeps): readonly Operation[] {
  return [
    define({
      name: "holdfast/await-workflow-run",
      title: "Wait for a run of a workflow",
      description: "Answers once the run has ended, or after a time, with how it stands then.",
      input: z.object({
        run_id: runId,
        timeout_ms: z.coerce.number().int().min(0).max(LONGEST_MS).default(USUAL_MS),
      }),
      output: awaitedShape,
      effect: "read",
      capability: "workflows.read",
      doors: ["http", "cli", "mcp"],
      forSteps: false,
      waits: true,
      route: { method: "get", path: "/workflow-runs/{run_id}/await" },
      async execute({ run_id, timeout_ms }, { principal, signal }) {
        const run = await runFor(run_id, principal, "read");
        await untilEnded(run, timeout_ms, signal);
        const answer = await awaitRun(run_id, {}, { find: () => run.record() });
        if (isOperationError(answer)) return answer;
        const isWhole = await reach.seesWholeRun(run_id, principal);
        return plain(isWhole ? answer : redactPayload(answer));
      },
    }),
  ];
}

/** Throws `aborted` when the caller has left, and `workflow_run_stuck`. */
async function untilEnded(run: RunHandle, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    await run.result({ signal: signal ? AbortSignal.any([limit, signal]) : limit });
  } catch (thrown) {
    const isLimit = thrown instanceof HoldfastError && thrown.code === "aborted" && signal?.aborted !== true;
    if (!isLimit) throw thrown;
  }
}
