// For tests: configurations from files that are written for one test.

import { folderWith } from "../../yaml/folder-in-test.ts";
import type { LocatedProblem } from "../../yaml/place.ts";
import { showPlace } from "../../yaml/place.ts";
import type { Environment } from "./environment.ts";
import type { GatewayConfig } from "./gateway-config.ts";
import { readGatewayConfig } from "./load-config.ts";

export type ReadInTest = {
  readonly config?: GatewayConfig;
  /** As `file:line:column: sentence`. */
  readonly problems: string[];
  readonly warnings: string[];
};

/** What comes of a file `gateway.yaml` with this text. */
export function readText(text: string, env: Environment = {}): ReadInTest {
  return readFolder({ "gateway.yaml": text }, env);
}

/** What comes of `gateway.yaml` among these files. */
export function readFolder(files: Readonly<Record<string, string | Uint8Array>>, env: Environment = {}): ReadInTest {
  using folder = folderWith(files);
  const result = readGatewayConfig("gateway.yaml", { env, cwd: folder.path });
  if ("problems" in result) return { problems: result.problems.map(showProblem), warnings: [] };
  return { config: result.config, problems: [], warnings: result.config.warnings.map(showProblem) };
}

/** The configuration of a text that has no problems. */
export function configOf(text: string, env: Environment = {}): GatewayConfig {
  const { config, problems } = readText(text, env);
  if (config === undefined) throw new Error(problems.join("\n"));
  return config;
}

export function showProblem(problem: LocatedProblem): string {
  return `${showPlace(problem)}: ${problem.message}`;
}
