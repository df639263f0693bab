// The operations on the gateway itself: its status, its configuration, pause, resume and reload.
import { z } from "zod";
import type { Operation } from "../../abilities/operation.ts";
import { jsonMap } from "../../abilities/shapes.ts";
import type { GatewayDeps } from "./deps.ts";

const statusShape = z.object({
  name: z.string(),
  is_paused: z.boolean(),
  queue_depth: z.int(),
  jobs: z.record(z.string(), z.int()),
  oldest_due_ms: z.int().nullable(),
  plugins_loaded: z.int(),
  plugins_circuit_open: z.int(),
  pipelines: z.int(),
});

const warningShape = z.object({ file: z.string(), line: z.int(), column: z.int(), message: z.string() });

export function systemOperations({ define, gateway, submitter }: GatewayDeps): readonly Operation[] {
  return [
    define({
      name: "holdfast/gateway-status",
      title: "Read the status of the gateway",
      description: "How many jobs are queued and running, and whether the dispatcher is paused.",
      input: z.object({}),
      output: statusShape,
      effect: "read",
      capability: "gateway.jobs",
      route: { method: "get", path: "/system/status" },
      async execute() {
        const status = await gateway.status();
        return { ...status, jobs: { ...status.jobs } };
      },
    }),

    define({
      name: "holdfast/view-gateway-config",
      title: "Read the gateway's configuration",
      description:
        "The configuration that is running, with every default and its pipelines as they were compiled, secrets redacted, and its warnings.",
      input: z.object({}),
      output: z.object({ config: jsonMap, warnings: z.array(warningShape) }),
      effect: "read",
      capability: "gateway.config",
      route: { method: "get", path: "/config/view" },
      execute: async () => ({ config: gateway.configuration() as never, warnings: [...gateway.warnings()] }),
    }),

    define({
      name: "holdfast/reload-gateway",
      title: "Reload the gateway's configuration",
      description:
        "Reads configuration, pipelines and plugins again. A valid configuration replaces the running one; an invalid one is refused and changes nothing. Jobs that run keep the old one.",
      input: z.object({}),
      output: z.object({ plugins: z.int(), pipelines: z.int(), warnings: z.array(warningShape) }),
      effect: "write",
      idempotent: true,
      capability: "gateway.manage",
      route: { method: "post", path: "/system/reload" },
      async execute() {
        const { warnings, ...reloaded } = await gateway.reload();
        return { ...reloaded, warnings: [...warnings] };
      },
    }),

    define({
      name: "holdfast/pause-gateway",
      title: "Pause the gateway",
      description: "No job is started from now on, in any process; jobs that run go on.",
      input: z.object({}),
      output: z.object({ paused: z.boolean().meta({ description: "False when it was paused already." }) }),
      effect: "write",
      idempotent: true,
      capability: "gateway.manage",
      route: { method: "post", path: "/system/pause" },
      async execute(_, caller) {
        const { user_id, via } = submitter(caller);
        return { paused: await gateway.pause(user_id ?? via) };
      },
    }),

    define({
      name: "holdfast/resume-gateway",
      title: "Resume the gateway",
      description: "Jobs are started again.",
      input: z.object({}),
      output: z.object({ resumed: z.boolean().meta({ description: "False when it was not paused." }) }),
      effect: "write",
      idempotent: true,
      capability: "gateway.manage",
      route: { method: "post", path: "/system/resume" },
      execute: async () => ({ resumed: await gateway.resume() }),
    }),
  ];
}
