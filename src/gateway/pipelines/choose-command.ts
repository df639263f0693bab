// The command that the job of a step runs.
import { toolRequestSuffix } from "../../contracts/gateway/agent/correlation.ts";
import type { Step } from "../../contracts/gateway/pipelines/pipeline-graph.ts";
import type { GatewayEvent } from "../../contracts/gateway/protocol/event.ts";
import type { Json, JsonMap } from "../../contracts/json.ts";

const HANDLE = "handle";

/** With a problem the job is queued all the same and fails before it starts, so that its agent hears of it. */
export type ChosenCommand = { readonly command: string; readonly problem?: string };

/** The author's command, else the tool command of a request for this very plugin, else `handle`. */
export function chooseCommand(
  step: Pick<Step, "plugin" | "command">,
  { type, payload }: Pick<GatewayEvent, "type" | "payload">,
  /** Those that the plugin declares. */
  commands: readonly string[],
): ChosenCommand {
  const suffix = toolRequestSuffix(type);
  const isTool = suffix !== undefined && (step.plugin === suffix || step.plugin === read(payload, "tool"));
  const command = step.command ?? (isTool ? read(payload, "tool_command") : undefined) ?? HANDLE;
  if (typeof command === "string" && commands.includes(command)) return { command };
  const name = typeof command === "string" ? command.slice(0, 100) : JSON.stringify(command).slice(0, 100);
  return { command: HANDLE, problem: `The plugin ${step.plugin} declares no command "${name}".` };
}

function read(payload: JsonMap, key: string): Json | undefined {
  return Object.hasOwn(payload, key) ? (payload[key] ?? undefined) : undefined;
}
