// The operations on plugins: list them, read a manifest, call a command.
import { z } from "zod";
import { defined } from "../../abilities/defined.ts";
import { forbidden, type Operation } from "../../abilities/operation.ts";
import { jsonMap } from "../../abilities/shapes.ts";
import { operationError } from "../../contracts/operation-error.ts";
import type { Plugin } from "../plugins/plugin.ts";
import type { GatewayDeps } from "./deps.ts";
import { dedupeKey, payload, pluginName } from "./shapes.ts";

const commandShape = z.object({
  name: z.string(),
  type: z.enum(["read", "write"]),
  description: z.string(),
  input_schema: jsonMap.optional(),
  output_schema: jsonMap.optional(),
});

const pluginShape = z.object({
  name: z.string(),
  base: z.string().meta({ description: "The plugin that an alias stands for; its own name otherwise." }),
  version: z.string(),
  description: z.string(),
  is_agent: z.boolean(),
  parallelism: z.int(),
  commands: z.array(commandShape),
});

const queuedJobShape = z.object({
  status: z.enum(["queued", "duplicate"]),
  job_id: z.string().nullable().meta({ description: "Of the job that was queued, or of the earlier one." }),
  plugin: z.string(),
  command: z.string(),
});

const CALL_PLUGIN = "holdfast/call-plugin";

export function pluginOperations({ define, gateway, permits, submitter }: GatewayDeps): readonly Operation[] {
  return [
    define({
      name: "holdfast/list-plugins",
      title: "List the plugins of the gateway",
      description: "Every plugin and alias that is loaded, with its commands.",
      input: z.object({}),
      output: z.object({ plugins: z.array(pluginShape) }),
      effect: "read",
      capability: "gateway.read",
      route: { method: "get", path: "/plugins" },
      execute: async () => ({ plugins: gateway.plugins().map(describePlugin) }),
    }),

    define({
      name: "holdfast/get-plugin",
      title: "Read a plugin's manifest",
      description: "The commands of one plugin with their schemas.",
      input: z.object({ plugin: pluginName }),
      output: pluginShape,
      effect: "read",
      capability: "gateway.read",
      route: { method: "get", path: "/plugin/{plugin}" },
      async execute({ plugin }) {
        const found = gateway.plugins().find(({ name }) => name === plugin);
        return found ? describePlugin(found) : operationError("plugin_not_found", `There is no plugin "${plugin}".`);
      },
    }),

    define({
      name: CALL_PLUGIN,
      title: "Call a command of a plugin",
      description:
        "Queues one command. For handle the payload becomes an event of type api.trigger. With gateway.invoke alone only commands of type read may be called.",
      input: z.object({
        plugin: pluginName,
        command: z.string().min(1).max(100),
        payload,
        dedupe_key: dedupeKey.optional(),
      }),
      output: queuedJobShape,
      effect: "write",
      capability: "gateway.run",
      orCapability: "gateway.invoke",
      route: {
        ...{ method: "post", path: "/plugin/{plugin}/{command}", status: 202 },
        // The body belongs to a command: a name that is unknown is a mistake in the request, as in other gateways.
        badRequests: ["plugin_not_found", "plugin_command_not_found"],
      },
      async mayCall({ plugin, command }, { principal }) {
        const type = commandType(gateway.plugins(), plugin, command);
        if (type === "read" || (await permits(principal, "gateway.run"))) return true;
        return forbidden(CALL_PLUGIN, ["gateway.run"]);
      },
      async execute({ plugin, command, payload: input, dedupe_key }, caller) {
        const submitted = await gateway.call(
          plugin,
          command,
          { payload: input, ...defined({ dedupe_key }) },
          submitter(caller),
        );
        const [queued] = submitted.job_ids;
        return queued === undefined
          ? { status: "duplicate" as const, job_id: submitted.duplicates[0] ?? null, plugin, command }
          : { status: "queued" as const, job_id: queued, plugin, command };
      },
    }),
  ];
}

function commandType(plugins: readonly Plugin[], plugin: string, command: string): "read" | "write" {
  const found = plugins.find(({ name }) => name === plugin);
  return found?.manifest.commands.find(({ name }) => name === command)?.type ?? "write";
}

function describePlugin({ name, base, manifest, isAgent, parallelism }: Plugin): z.input<typeof pluginShape> {
  const { version, description, commands } = manifest;
  return {
    ...{ name, base, version, description, is_agent: isAgent, parallelism },
    commands: commands.map((command) => ({ ...command }) as z.input<typeof commandShape>),
  };
}
