// The operations on schedules and circuit breakers.
import { z } from "zod";
import type { Operation } from "../../abilities/operation.ts";
import { id } from "../../abilities/shapes.ts";
import type { GatewayDeps } from "./deps.ts";
import { isoTime, pluginName } from "./shapes.ts";

const scheduleShape = z.object({
  plugin: z.string(),
  schedule_id: z.string(),
  command: z.string(),
  when: z.string(),
  status: z.enum(["active", "paused_manual", "paused_invalid", "exhausted"]),
  reason: z.string().nullable(),
  next_run_at: z.iso.datetime().nullable(),
  last_run_at: z.iso.datetime().nullable(),
  last_success_at: z.iso.datetime().nullable(),
});

const breakerShape = z.object({
  plugin: z.string(),
  command: z.string(),
  state: z.enum(["closed", "open", "half_open"]),
  failures: z.int(),
  opened_at: z.iso.datetime().nullable(),
});

const named = z.object({ plugin: pluginName, schedule_id: id.default("default") });

export function scheduleOperations({ define, gateway }: GatewayDeps): readonly Operation[] {
  const { schedules, breakers } = gateway;
  const time = (microseconds: number | null) => (microseconds === null ? null : isoTime(microseconds));
  return [
    define({
      name: "holdfast/list-schedules",
      title: "List schedules",
      description: "Every schedule with its next run, and the circuit breakers of scheduled commands.",
      input: z.object({}),
      output: z.object({ schedules: z.array(scheduleShape), breakers: z.array(breakerShape) }),
      effect: "read",
      capability: "gateway.jobs",
      route: { method: "get", path: "/scheduler/jobs" },
      async execute() {
        const [listed, broken] = await Promise.all([schedules.list(), breakers.list()]);
        return {
          schedules: listed.map(({ definition_hash: _, ...schedule }) => ({
            ...schedule,
            next_run_at: time(schedule.next_run_at),
            last_run_at: time(schedule.last_run_at),
            last_success_at: time(schedule.last_success_at),
          })),
          breakers: broken.map((breaker) => ({ ...breaker, opened_at: time(breaker.opened_at) })),
        };
      },
    }),

    define({
      name: "holdfast/pause-schedule",
      title: "Pause a schedule",
      description: "Queues nothing for the schedule until it is resumed.",
      input: named,
      output: z.object({ paused: z.literal(true) }),
      effect: "write",
      idempotent: true,
      capability: "gateway.manage",
      route: { method: "post", path: "/scheduler/jobs/{plugin}/{schedule_id}/pause" },
      async execute({ plugin, schedule_id }) {
        await schedules.pause(plugin, schedule_id);
        return { paused: true as const };
      },
    }),

    define({
      name: "holdfast/resume-schedule",
      title: "Resume a schedule",
      description: "Takes up a schedule that was paused, from its next run on.",
      input: named,
      output: z.object({ resumed: z.literal(true) }),
      effect: "write",
      idempotent: true,
      capability: "gateway.manage",
      route: { method: "post", path: "/scheduler/jobs/{plugin}/{schedule_id}/resume" },
      async execute({ plugin, schedule_id }) {
        await schedules.resume(plugin, schedule_id);
        return { resumed: true as const };
      },
    }),

    define({
      name: "holdfast/reset-breaker",
      title: "Reset a circuit breaker",
      description: "Closes the circuit breaker of a scheduled command, so that it is scheduled again at once.",
      input: z.object({ plugin: pluginName, command: z.string().min(1).max(100).default("poll") }),
      output: z.object({ reset: z.literal(true) }),
      effect: "write",
      idempotent: true,
      capability: "gateway.manage",
      route: { method: "post", path: "/scheduler/breakers/{plugin}/{command}/reset" },
      async execute({ plugin, command }) {
        await breakers.reset(plugin, command);
        return { reset: true as const };
      },
    }),
  ];
}
