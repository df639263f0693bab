// The operations of those who keep runs of workflows going: why one does not go on, and which may be deleted.
import { z } from "zod";
import { defined } from "../../abilities/defined.ts";
import type { Caller, Operation } from "../../abilities/operation.ts";
import type { Workbench } from "../../abilities/reach.ts";
import { id } from "../../abilities/shapes.ts";
import { operationError } from "../../contracts/operation-error.ts";
import type { RunCare } from "./run-care.ts";

/** A run that has just ended may still be looked at. */
const LEAST_IDLE_MS = 3_600_000;

const MOST_PRUNED = 1_000;

const runId = id.meta({ description: "The id of a run of a workflow." });

export function careOperations({ define, reach }: Workbench, care: RunCare): readonly Operation[] {
  /** Runs of everybody are deleted by those who reach them, and not by those who only look after the machine. */
  const managesAll = async (_input: unknown, { principal }: Caller) =>
    (await reach.managesRuns(principal)) && principal.workspace_id === null
      ? true
      : operationError(
          "ability_forbidden",
          "To delete the runs of everybody takes the capability workflows.manage too.",
        );

  return [
    define({
      ...{ name: "holdfast/diagnose-workflow-run", title: "Find out why a run does not go on", capability: "operate" },
      description: "Says in a sentence why a run of a workflow does not go on, and what to type about it.",
      input: z.object({ run_id: runId }),
      output: z.object({
        ...{ run_id: z.string(), cause: z.string(), sentence: z.string(), command: z.string().nullable() },
      }),
      effect: "read",
      route: { method: "get", path: "/workflow-runs/{run_id}/diagnosis" },
      execute: async ({ run_id }) => await care.diagnose(run_id),
    }),

    define({
      ...{ name: "holdfast/prune-workflow-runs", title: "Delete runs that have ended", capability: "operate" },
      description: "Deletes the runs of workflows that ended so long ago, with everything below them, for good.",
      input: z.object({
        idle_ms: z.int().min(LEAST_IDLE_MS).meta({ description: "How long ago they ended at least: an hour or more." }),
        dry_run: z
          .boolean()
          .default(false)
          .meta({ description: "Only list those that would be, without what stands below them." }),
        limit: z.int().min(1).max(MOST_PRUNED).optional().meta({ description: "So many at once; all unless given." }),
        after: id.optional().meta({ description: "The next of the answer before." }),
      }),
      output: z.object({ deleted: z.array(z.string()), next: z.string().optional() }),
      effect: "destroy",
      idempotent: true,
      route: { method: "post", path: "/workflow-runs/prune" },
      mayCall: managesAll,
      async execute({ idle_ms, dry_run, limit, after }) {
        const which = { idleMs: idle_ms, dryRun: dry_run };
        if (limit === undefined) return { deleted: [...(await care.prune(which))] };
        const { deleted, ...next } = await care.prunePage({ ...which, limit, ...defined({ after }) });
        return { deleted: [...deleted], ...next };
      },
    }),
  ];
}
