// The operations that have a run do something: stop, rest, go on, begin again, take an event, be gone.
import { z } from "zod";
import { entryKey } from "../../abilities/caller-identity.ts";
import { defined } from "../../abilities/defined.ts";
import type { Operation } from "../../abilities/operation.ts";
import { id, jsonMap, note, ownKey } from "../../abilities/shapes.ts";
import type { WorkflowDeps } from "./deps.ts";
import { inputs, runId, runShape, shownRun } from "./shapes.ts";

const acting = { capability: "workflows.run", orCapability: "workflows.manage" } as const;

export function steerOperations({ workbench: { define }, workflows, runFor }: WorkflowDeps): readonly Operation[] {
  return [
    define({
      name: "holdfast/cancel-workflow-run",
      title: "Cancel a run of a workflow",
      description: "Stops a run and answers when it has stopped: what can be undone was undone.",
      input: z.object({
        run_id: runId,
        reason: note.optional(),
        wait: z.boolean().default(true).meta({ description: "False: answers at once." }),
      }),
      output: runShape.extend({ requested: z.boolean().meta({ description: "False for a run that had ended." }) }),
      effect: "destroy",
      idempotent: true,
      ...acting,
      // The run may be the step's own.
      forSteps: false,
      route: { method: "post", path: "/workflow-runs/{run_id}/cancel" },
      async execute({ run_id, reason, wait }, { principal, signal }) {
        const run = await runFor(run_id, principal, "read");
        const requested = await run.requestCancel(reason);
        if (wait) await run.result(defined({ signal }));
        return { ...shownRun(await run.summary()), requested };
      },
    }),

    define({
      name: "holdfast/pause-workflow-run",
      title: "Pause a run of a workflow",
      description: "Nothing new begins in the run until it is resumed. What is under way comes to its end.",
      input: z.object({ run_id: runId }),
      output: runShape,
      effect: "write",
      idempotent: true,
      ...acting,
      route: { method: "post", path: "/workflow-runs/{run_id}/pause" },
      async execute({ run_id }, { principal }) {
        const run = await runFor(run_id, principal, "read");
        await run.pause();
        return shownRun(await run.summary());
      },
    }),

    define({
      name: "holdfast/resume-workflow-run",
      title: "Resume a run of a workflow",
      description: "Lets a run that was paused go on.",
      input: z.object({ run_id: runId }),
      output: runShape,
      effect: "write",
      idempotent: true,
      ...acting,
      route: { method: "post", path: "/workflow-runs/{run_id}/resume" },
      async execute({ run_id }, { principal }) {
        const run = await runFor(run_id, principal, "act");
        await run.resume();
        return shownRun(await run.summary());
      },
    }),

    define({
      name: "holdfast/retry-workflow-run",
      title: "Carry a failed run of a workflow on",
      description: "What has succeeded is kept; what failed, and all that comes behind it, is carried out again.",
      input: z.object({
        run_id: runId,
        repeat_unknown: z
          .boolean()
          .default(false)
          .meta({ description: "Also steps of unknown outcome: they may be done twice." }),
      }),
      output: runShape,
      effect: "write",
      ...acting,
      route: { method: "post", path: "/workflow-runs/{run_id}/retry" },
      async execute({ run_id, repeat_unknown }, { principal }) {
        const run = await runFor(run_id, principal, "act");
        await run.retry({ repeatUnknown: repeat_unknown });
        return shownRun(await run.summary());
      },
    }),

    define({
      name: "holdfast/rerun-workflow-run",
      title: "Run a workflow again from a step",
      description: "A new run that takes over the steps before one of this run's, with other inputs if that is wanted.",
      input: z.object({
        run_id: runId,
        from: id
          .optional()
          .meta({ description: "The id of the step that it begins with; the first one unless given." }),
        inputs: inputs.optional().meta({ description: "Those of the run unless given." }),
      }),
      output: runShape,
      effect: "write",
      ...acting,
      route: { method: "post", path: "/workflow-runs/{run_id}/rerun", status: 201 },
      async execute({ run_id, ...options }, { principal, key }) {
        const run = await runFor(run_id, principal, "act");
        const again = await run.rerun(defined({ ...options, key: entryKey(principal, key) }));
        return shownRun(await again.summary());
      },
    }),

    define({
      name: "holdfast/send-workflow-event",
      title: "Send an event to a run of a workflow",
      description: "An event for a step that waits for it, now or later. The same one under the same key is sent once.",
      input: z.object({
        run_id: runId,
        event: id.meta({ description: "The name of the event." }),
        payload: jsonMap.default({}),
        key: ownKey.optional().meta({ description: "Your own name for this event; the Idempotency-Key unless given." }),
      }),
      output: z.object({ run_id: z.string(), event: z.string(), status: z.literal("sent") }),
      effect: "write",
      ...acting,
      route: { method: "post", path: "/workflow-runs/{run_id}/events", status: 202 },
      async execute({ run_id, event, payload, key }, caller) {
        const run = await runFor(run_id, caller.principal, "act");
        const own = entryKey(caller.principal, key ?? caller.key);
        await run.send(event, payload, defined({ key: own }));
        return { run_id, event, status: "sent" as const };
      },
    }),

    define({
      name: "holdfast/delete-workflow-run",
      title: "Delete a run of a workflow",
      description: "Erases a run and all that stands below it, for good.",
      input: z.object({ run_id: runId }),
      output: z.object({ deleted: z.array(z.string()) }),
      effect: "destroy",
      ...acting,
      // The run may be the step's own.
      forSteps: false,
      route: { method: "delete", path: "/workflow-runs/{run_id}" },
      async execute({ run_id }, { principal }) {
        await runFor(run_id, principal, "act");
        return { deleted: [...(await workflows.delete(run_id))] };
      },
    }),
  ];
}
