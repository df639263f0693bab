// Why a schedule cannot run, although the configuration is valid: a plugin is a program of its own, whose commands may change.
import type { Manifest } from "../../contracts/gateway/protocol/manifest.ts";
import type { ScheduleSettings } from "../config/gateway-config.ts";

/** Null when it can. */
export function scheduleProblem(
  plugin: { readonly name: string; readonly manifest: Manifest } | undefined,
  { command }: Pick<ScheduleSettings, "command">,
): string | null {
  if (!plugin || plugin.manifest.commands.some(({ name }) => name === command)) return null;
  return `The plugin ${plugin.name} declares no command "${command}".`;
}
