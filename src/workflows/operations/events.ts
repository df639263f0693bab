// The operations that tell what happens in a run: a page of it, or as it happens. Reading starts nothing, and leaving stops
// nothing.
import { z } from "zod";
import { defined } from "../../abilities/defined.ts";
import type { Operation } from "../../abilities/operation.ts";
import { timeOf } from "../../abilities/shapes.ts";
import { whileReached } from "../../abilities/while-reached.ts";
import { HoldfastError } from "../../contracts/error.ts";
import type { RunEvent } from "../durable/run-events.ts";
import type { WorkflowDeps } from "./deps.ts";
import { runId, time, timeOfStep } from "./shapes.ts";

/** The name under which doors call it; its answer is an `AsyncIterable<ShownRunEvent>`. */
export const FOLLOW_WORKFLOW_RUN = "holdfast/follow-workflow-run";

const eventShape = z.object({
  id: z.string().meta({ description: "Ordered within a run; what comes after it is asked for with it." }),
  type: z.string(),
  at: time,
  attempt: z.int().meta({ description: "Which attempt at the run it belongs to." }),
  path: z.string().optional().meta({ description: "Where the step or the part stands, by positions." }),
  step: z.string().optional().meta({ description: "The id of the step." }),
  as: z.string().optional().meta({ description: "What it came to." }),
  count: z.int().optional().meta({ description: "How many parts were opened." }),
  until: time.nullable().optional(),
});

export type ShownRunEvent = z.input<typeof eventShape>;

const position = z
  .string()
  .regex(/^\d{1,15}\.\d{1,9}$/)
  .max(25)
  .optional()
  .meta({ description: "The id of the last event that was seen; from the beginning unless given." });

export function eventOperations({ workbench: { define, reach }, runFor }: WorkflowDeps): readonly Operation[] {
  return [
    define({
      name: "holdfast/list-workflow-run-events",
      title: "List what happened in a run of a workflow",
      description: "The events of a run, oldest first.",
      input: z.object({
        run_id: runId,
        after: position,
        limit: z.coerce.number().int().min(1).max(1_000).default(200),
      }),
      output: z.object({ events: z.array(eventShape), has_more: z.boolean() }),
      effect: "read",
      capability: "workflows.read",
      doors: ["http", "cli", "mcp"],
      route: { method: "get", path: "/workflow-runs/{run_id}/events" },
      async execute({ run_id, after, limit }, { principal }) {
        const run = await runFor(run_id, principal, "read");
        const found = await run.events({ ...defined({ after }), limit: limit + 1 });
        return { events: found.slice(0, limit).map(shownEvent), has_more: found.length > limit };
      },
    }),

    define({
      name: FOLLOW_WORKFLOW_RUN,
      title: "Follow a run of a workflow",
      description:
        "The events of a run from the beginning or after one, as they are committed, until the run has ended.",
      input: z.object({ run_id: runId, after: position }),
      output: z.custom<AsyncIterable<ShownRunEvent>>(),
      effect: "read",
      capability: "workflows.read",
      doors: ["http", "cli"],
      forSteps: false,
      async execute({ run_id, after }, { principal, signal }) {
        const run = await runFor(run_id, principal, "read");
        const follow = (leaving?: AbortSignal) => shown(run.follow(defined({ after, signal: leaving })));
        // A run stays whose it is.
        if (await reach.ownsRun(run_id, principal)) return follow(signal);
        return whileReached(follow, { isReached: () => isReached(run_id, principal), signal });
      },
    }),
  ];

  async function isReached(id: string, principal: Parameters<typeof reach.run>[1]): Promise<boolean> {
    try {
      await reach.run(id, principal, "read");
      return true;
    } catch (thrown) {
      if (thrown instanceof HoldfastError && thrown.code === "workflow_run_not_found") return false;
      throw thrown;
    }
  }
}

async function* shown(events: AsyncIterable<RunEvent>): AsyncGenerator<ShownRunEvent> {
  for await (const event of events) yield shownEvent(event);
}

export function shownEvent({ at, until, ...event }: RunEvent): ShownRunEvent {
  return { ...event, at: timeOf(at), ...(until !== undefined && { until: timeOfStep(until) }) };
}
