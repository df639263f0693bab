// The operations on many runs at once: a page of those that match, each on its own, and how many came to what.
import { z } from "zod";
import type { Operation } from "../../abilities/operation.ts";
import { HoldfastError } from "../../contracts/error.ts";
import { writePlace } from "../../contracts/list-place.ts";
import { isOperationError } from "../../contracts/operation-error.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { RunHandle } from "../durable/run-handle.ts";
import type { WorkflowDeps } from "./deps.ts";
import { runQuery, storedQuery } from "./runs.ts";

const PAGE = 100;

const manyInput = runQuery.extend({ limit: z.coerce.number().int().min(1).max(500).default(PAGE) });

const manyShape = z.object({
  outcomes: z.record(z.string(), z.int()).meta({ description: "How many runs of this page came to what." }),
  has_more: z.boolean(),
  next: z.string().optional(),
});

type Done = z.input<typeof manyShape>;

export function manyOperations(deps: WorkflowDeps): readonly Operation[] {
  const { workbench, workflows, runFor } = deps;
  const { define, reach } = workbench;

  /** Only runs that no other has started as a part of itself: what is done about these is done about their parts. */
  async function each(
    { limit, ...rest }: z.output<typeof manyInput>,
    principal: Principal,
    need: "read" | "act",
    act: (run: RunHandle) => Promise<string>,
  ) {
    const query = storedQuery(rest);
    if (isOperationError(query)) return query;
    const scope = await reach.runScope(principal);
    const found = await workflows.runs({ ...query, ...scope, parent: null, limit: limit + 1 });
    const page = found.slice(0, limit);
    const outcomes: Record<string, number> = {};
    for (const { run_id } of page) {
      const outcome = await outcomeOf(async () => await act(await runFor(run_id, principal, need)));
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
    const last = found.length > limit ? page.at(-1) : undefined;
    const next = last && writePlace({ created_at: last.created_at, id: last.run_id });
    return { outcomes, has_more: last !== undefined, ...(next !== undefined && { next }) } satisfies Done;
  }

  return [
    define({
      name: "holdfast/cancel-workflow-runs",
      title: "Cancel many runs of workflows",
      description: "Asks a page of the runs that match to stop, newest first, and does not wait for them.",
      input: manyInput,
      output: manyShape,
      effect: "destroy",
      idempotent: true,
      capability: "workflows.run",
      orCapability: "workflows.manage",
      route: { method: "post", path: "/workflow-runs/cancel" },
      execute: async (input, { principal }) =>
        await each(input, principal, "read", async (run) => ((await run.requestCancel()) ? "cancelling" : "ended")),
    }),

    define({
      name: "holdfast/retry-workflow-runs",
      title: "Carry many failed runs of workflows on",
      description:
        "Carries a page of the failed runs that match on, newest first. What cannot be is counted by why not.",
      input: manyInput.omit({ status: true }),
      output: manyShape,
      effect: "write",
      capability: "workflows.run",
      orCapability: "workflows.manage",
      route: { method: "post", path: "/workflow-runs/retry" },
      execute: async (input, { principal }) =>
        await each({ ...input, status: "failed" }, principal, "act", async (run) => {
          await run.retry();
          return "retried";
        }),
    }),
  ];
}

/** What came of one of them; the code of why it was refused. */
async function outcomeOf(act: () => Promise<string>): Promise<string> {
  try {
    return await act();
  } catch (thrown) {
    if (thrown instanceof HoldfastError) return thrown.code;
    throw thrown;
  }
}
