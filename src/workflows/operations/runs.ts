// The operations that tell of runs: which there are, the record of one, and how far it is.
import { z } from "zod";
import { defined } from "../../abilities/defined.ts";
import type { Door, Operation } from "../../abilities/operation.ts";
import { plain } from "../../abilities/plain.ts";
import { anyId, id, listPlace } from "../../abilities/shapes.ts";
import type { WorkflowQuery } from "../../backend/workflow-store.ts";
import { redactPayload } from "../../contracts/conversation/run-redaction.ts";
import { type ListPlace, readPlace, writePlace } from "../../contracts/list-place.ts";
import { isOperationError, type OperationError, operationError } from "../../contracts/operation-error.ts";
import type { WorkflowDeps } from "./deps.ts";
import { recordShape, runId, runShape, runStatus, shownRun, timeFilter } from "./shapes.ts";
import { shownTree, treeShape } from "./tree.ts";

const doors: readonly Door[] = ["http", "cli", "mcp"];

const PAGE = 50;
const MOST_CHILDREN = 100;

/** Which runs are meant. */
export const runQuery = z.object({
  workflow_id: id.optional(),
  status: runStatus.optional(),
  tag: id.optional(),
  from: timeFilter.optional().meta({ description: "Those that were started then or later." }),
  to: timeFilter.optional().meta({ description: "Those that were started then or earlier." }),
  after: listPlace.optional().meta({ description: "The next of the page before." }),
});

/** The query for the store; a refusal for what is no place in the list. */
export function storedQuery({
  from,
  to,
  after,
  ...filters
}: z.output<typeof runQuery>): Omit<WorkflowQuery, "limit"> | OperationError {
  const place: ListPlace | undefined = after === undefined ? undefined : readPlace(after);
  if (after !== undefined && !place) return operationError("invalid_input", `"${after}" is no place in this list.`);
  return {
    ...defined(filters),
    ...(from !== undefined && { from: Date.parse(from) * 1_000 }),
    ...(to !== undefined && { to: Date.parse(to) * 1_000 }),
    ...(place && { behind: place }),
  };
}

export function runOperations({ workbench: { define, reach }, workflows, runFor }: WorkflowDeps): readonly Operation[] {
  return [
    define({
      name: "holdfast/list-workflow-runs",
      title: "List runs of workflows",
      description: "Runs, the newest first: one's own, or everybody's for who manages workflows.",
      input: runQuery.extend({
        parent: anyId.optional().meta({ description: "Those that this run has started as parts of itself." }),
        limit: z.coerce.number().int().min(1).max(500).default(PAGE),
      }),
      output: z.object({ runs: z.array(runShape), has_more: z.boolean(), next: z.string().optional() }),
      effect: "read",
      capability: "workflows.read",
      doors,
      route: { method: "get", path: "/workflow-runs" },
      async execute({ limit, parent, ...rest }, { principal }) {
        const query = storedQuery(rest);
        if (isOperationError(query)) return query;
        const scope = await reach.runScope(principal);
        const found = await workflows.runs({ ...query, ...scope, ...defined({ parent }), limit: limit + 1 });
        const page = found.slice(0, limit);
        const last = found.length > limit ? page.at(-1) : undefined;
        return {
          runs: page.map(shownRun),
          has_more: last !== undefined,
          ...(last && { next: writePlace({ created_at: last.created_at, id: last.run_id }) }),
        };
      },
    }),

    define({
      name: "holdfast/get-workflow-run",
      title: "Read a run of a workflow",
      description: "The record of a run. What it was given and has made is redacted for those who may not start runs.",
      input: z.object({ run_id: runId }),
      output: recordShape,
      effect: "read",
      capability: "workflows.read",
      doors,
      route: { method: "get", path: "/workflow-runs/{run_id}" },
      async execute({ run_id }, { principal }) {
        const record = await (await runFor(run_id, principal, "read")).record();
        if (await reach.seesWholeRun(run_id, principal)) return plain(record);
        // Who may list runs knows of which workflow they are.
        return plain({ ...(redactPayload(record) as object), workflow_id: record.workflow_id });
      },
    }),

    define({
      name: "holdfast/get-workflow-run-tree",
      title: "See how far a run of a workflow is",
      description:
        "The steps of a run and how they stand, with the number of their parts, and the runs that it has started.",
      input: z.object({ run_id: runId }),
      output: treeShape,
      effect: "read",
      capability: "workflows.read",
      doors,
      route: { method: "get", path: "/workflow-runs/{run_id}/steps" },
      async execute({ run_id }, { principal }) {
        const tree = await (await runFor(run_id, principal, "read")).tree();
        const children = await workflows.runs({ parent: run_id, limit: MOST_CHILDREN });
        return shownTree(tree, children, await reach.seesWholeRun(run_id, principal));
      },
    }),
  ];
}
