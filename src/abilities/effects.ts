// The operations on what a thread has scheduled: list it, have it run now, cancel it.
import { z } from "zod";
import type { ScheduledEffect } from "../threads/state/thread-state.ts";
import { defined } from "./defined.ts";
import type { Operation } from "./operation.ts";
import { plain } from "./plain.ts";
import type { Workbench } from "./reach.ts";
import { id, jsonMap, threadId, timeOf } from "./shapes.ts";

const PAGE = 100;

const effectStatus = z.enum(["pending", "processing", "completed", "failed", "agent_canceled", "user_canceled"]);

const effectShape = z.object({
  id: z.string(),
  name: z.string(),
  status: effectStatus,
  scheduled_at: z.iso.datetime(),
  created_at: z.iso.datetime(),
  completed_at: z.iso.datetime().nullable(),
  attempts: z.int(),
  error: z.string().nullable(),
  manual_run: z.boolean(),
  replayed_from: z.string().nullable(),
  args: jsonMap.optional().meta({ description: "Only for those who manage threads, and without its secrets." }),
});

const effectId = id.meta({ description: "The id of the effect." });

export function effectOperations({ define, reach }: Workbench): readonly Operation[] {
  return [
    define({
      name: "holdfast/list-effects",
      title: "List the effects of a thread",
      description: "What a thread has scheduled and what became of it, newest first.",
      input: z.object({
        thread_id: threadId,
        name: id.optional(),
        status: effectStatus.optional(),
        limit: z.coerce.number().int().min(1).max(500).default(PAGE),
      }),
      output: z.object({ effects: z.array(effectShape) }),
      effect: "read",
      capability: "threads.read",
      route: { method: "get", path: "/threads/{thread_id}/effects" },
      async execute({ thread_id, limit, ...query }, { principal }) {
        const { effects } = await reach.thread(thread_id, principal, "read");
        const showsArgs = await reach.managesThreads(principal);
        const found = await effects.list({ ...defined(query), limit, hidesSecrets: true });
        return { effects: found.map((each) => ({ ...shownEffect(each), ...(showsArgs && { args: argsOf(each) }) })) };
      },
    }),

    define({
      name: "holdfast/run-effect",
      title: "Run an effect now",
      description: "Makes an effect due now; of one that has ended, a copy.",
      input: z.object({ thread_id: threadId, effect_id: effectId }),
      output: z.object({
        action: z.enum(["ran", "replayed"]),
        id: z.string().meta({ description: "Of the effect that is due now." }),
      }),
      effect: "write",
      capability: "threads.write",
      route: { method: "post", path: "/threads/{thread_id}/effects/{effect_id}/run", status: 202 },
      async execute({ thread_id, effect_id }, { principal }) {
        const { effects } = await reach.thread(thread_id, principal);
        const done = await effects.run(effect_id);
        return { action: done.action, id: done.action === "replayed" ? done.replayedId : done.id };
      },
    }),

    define({
      name: "holdfast/cancel-effect",
      title: "Cancel an effect",
      description: "Keeps an effect from running that has not begun; it stays in the list as cancelled.",
      input: z.object({ thread_id: threadId, effect_id: effectId }),
      output: z.object({ cancelled: z.literal(true) }),
      effect: "destroy",
      capability: "threads.write",
      route: { method: "post", path: "/threads/{thread_id}/effects/{effect_id}/cancel" },
      async execute({ thread_id, effect_id }, { principal }) {
        await (await reach.thread(thread_id, principal)).effects.cancel(effect_id);
        return { cancelled: true as const };
      },
    }),
  ];
}

function shownEffect(effect: ScheduledEffect): z.input<typeof effectShape> {
  const { id, name, status, attempts, error, completedAt, manualRun, replayedFrom } = effect;
  return {
    ...{ id, name, status, attempts, error, manual_run: manualRun, replayed_from: replayedFrom },
    scheduled_at: timeOf(effect.scheduledAt),
    created_at: timeOf(effect.createdAt),
    completed_at: completedAt === null ? null : timeOf(completedAt),
  };
}

function argsOf({ args }: ScheduledEffect): z.input<typeof jsonMap> {
  return plain(args);
}
