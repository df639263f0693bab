// The operations on runs of workflows as the Agents API names them: how far one is, what happened in it, and stopping it.
import { z } from "zod";
import { lenientInput } from "../../abilities/lenient-input.ts";
import type { Caller, Door, Operation } from "../../abilities/operation.ts";
import { plain } from "../../abilities/plain.ts";
import { anyId, id, jsonMap } from "../../abilities/shapes.ts";
import { identifier } from "../../contracts/coerce.ts";
import type { WatchedRunHost } from "../../contracts/conversation/watched-runs.ts";
import { type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { isOperationError, type OperationError, operationError } from "../../contracts/operation-error.ts";
import { reconcileBranch } from "../../workflows/in-memory/reconcile-branch.ts";
import { recordShape } from "../../workflows/operations/shapes.ts";
import { mayUseWorkflows } from "../workflows/workflow-permission.ts";
import { cancelWorkflowRun, getWorkflowRun, listWorkflowRunEvents } from "../workflows/workflow-runs.ts";
import { type AgentsApiDeps, permits } from "./deps.ts";
import { watchedRuns } from "./run-control.ts";

const readingDoors: readonly Door[] = ["http", "cli", "mcp"];

const runInput = z.object({ run_id: id });

const runShape = z.object({
  run_id: z.string(),
  status: z.string(),
  started_at: z.string(),
  updated_at: z.string(),
  metadata: jsonMap,
  workflow_id: z.string().optional(),
  session_id: z.string().optional(),
  executor_id: z.string().optional(),
  queued_message_id: z.string().optional(),
  position: z.int().optional(),
  cancelled: z.boolean().optional(),
});

const eventsShape = runShape.extend({
  events: z.array(
    z.object({
      id: z.string(),
      type: z.string(),
      created_at: z.string(),
      metadata: jsonMap,
      message: z.string().optional(),
    }),
  ),
  cursor: z.string(),
  has_more: z.boolean(),
});

type Watch = (input: unknown, host: WatchedRunHost) => Promise<unknown>;

export function runOperations(deps: AgentsApiDeps): readonly Operation[] {
  const { workbench, hooks, host } = deps;
  const { define, reach } = workbench;
  const mayUse = permits(deps);

  /** The handlers of a host that keeps runs itself come first. A record is not redacted for callers who may see the whole run. */
  function watching<Answer>(watch: Watch) {
    return async (input: Record<string, unknown>, { principal }: Caller): Promise<Answer | OperationError> => {
      const runs = watchedRuns(deps, principal);
      const answer = await watch(input, { runs, hooks, mayReadUnredacted });
      return isOperationError(answer) ? answer : plain<Answer>(answer);

      async function mayReadUnredacted(given: JsonMap): Promise<boolean> {
        const isAdministrator = await reach.seesWholeRun(String(given.run_id ?? ""), principal);
        return await mayUseWorkflows("unredacted", given, { isAdministrator, hooks });
      }
    };
  }

  /** Everybody reads what is within reach; a host may say otherwise. */
  const mayRead = (input: unknown) => mayUseWorkflows("read", input, { mayRead: true, hooks });

  return [
    define({
      name: "agents/get-workflow-run",
      title: "Look at a run of a workflow in run control",
      description:
        "Tells how far a run is. What it was given and has made is redacted for those who may not start runs.",
      input: lenientInput(runInput),
      output: runShape,
      effect: "read",
      capability: "workflows.read",
      doors: readingDoors,
      mayCall: mayRead,
      execute: watching<z.input<typeof runShape>>(getWorkflowRun),
    }),

    define({
      name: "agents/list-workflow-run-events",
      title: "List what happened in a run of a workflow in run control",
      description: "A page of the events of a run, oldest first, and how far it is.",
      input: lenientInput(runInput.extend({ cursor: anyId.optional(), limit: z.coerce.number().int().optional() })),
      output: eventsShape,
      effect: "read",
      capability: "workflows.read",
      doors: readingDoors,
      mayCall: mayRead,
      execute: watching<z.input<typeof eventsShape>>(listWorkflowRunEvents),
    }),

    define({
      name: "agents/cancel-workflow-run",
      title: "Ask a run of a workflow to stop",
      description: "Asks a run to stop and says whether it still could. It does not wait until the run has stopped.",
      input: lenientInput(runInput),
      output: runShape.extend({ cancelled: z.boolean() }),
      effect: "destroy",
      idempotent: true,
      capability: "workflows.run",
      // The seam may let in who holds nothing.
      orCapability: "workflows.read",
      mayCall: (input, caller) => mayUse("cancel", snapshotMap(input), caller, ["workflows.run", "workflows.manage"]),
      execute: watching<z.input<typeof runShape> & { cancelled: boolean }>(cancelWorkflowRun),
    }),

    define({
      name: "agents/reconcile-workflow-branch",
      title: "Bring what a branch of a workflow came to",
      description:
        "For runs that a host's own recorder keeps, whose branches are carried out elsewhere. Durable runs carry theirs out themselves.",
      input: lenientInput(z.object({ run_id: id, handle_id: id, branch_result: jsonMap })),
      output: recordShape,
      effect: "write",
      idempotent: true,
      capability: "workflows.manage",
      async execute(input, { principal }) {
        const runId = identifier(input.run_id) ?? "";
        if (await watchedRuns(deps, principal).get(runId)) return carriesOutItself(runId);
        const { hooks, stepTypes, functions, stepHandlers } = host;
        const operations = host.operations(principal);
        const answer = await reconcileBranch(input, { hooks, stepTypes, functions, stepHandlers, operations });
        return isOperationError(answer) ? answer : plain(answer);
      },
    }),
  ];
}

function carriesOutItself(runId: string): OperationError {
  const message = `The run "${runId}" carries its branches out itself, and waits for none of them elsewhere.`;
  return operationError("agents_reconcile_workflow_branch_unknown_handle", message);
}
