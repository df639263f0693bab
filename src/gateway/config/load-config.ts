// Reads the gateway's configuration: files or an object in, settings or every problem out.
import { dirname, resolve } from "node:path";
import type { LocatedProblem } from "../../yaml/place.ts";
import { createReport } from "../../yaml/report.ts";
import type { Environment } from "./environment.ts";
import type { GatewayConfig } from "./gateway-config.ts";
import { readMaps } from "./includes.ts";
import { mergeMaps } from "./merge-maps.ts";
import { parseSettings } from "./sections/parse-settings.ts";

export type ConfigContext = {
  readonly env: Environment;
  /** Where a relative path starts; places are named relative to it. */
  readonly cwd: string;
  /** Told of every file and folder that is looked for, whether or not it is there. */
  readonly onFile?: ((path: string) => void) | undefined;
};

export type ConfigResult =
  | { readonly config: GatewayConfig }
  /** By place, 50 at most. */
  | { readonly problems: readonly LocatedProblem[] };

/** The configuration at a path, or the one that is passed. Never throws: what cannot be used is a list of problems. */
export function readGatewayConfig(source: string | object, { env, cwd, onFile }: ConfigContext): ConfigResult {
  const report = createReport();
  const maps = readMaps(source, { env, cwd, report, onFile });
  const folder = typeof source === "string" ? dirname(resolve(cwd, source)) : cwd;
  const settings = parseSettings(mergeMaps(maps, report), { env, folder, report });
  const problems = report.problems();
  return problems.length > 0 ? { problems } : { config: { ...settings, warnings: report.warnings() } };
}
