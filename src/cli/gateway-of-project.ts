// The gateway that a verb runs or checks: a project's own, with its plugins, or one of a file that is named.
import { resolve } from "node:path";
import { isMap } from "../contracts/json.ts";
import type { GatewaySetup } from "../index.ts";
import type { OpenedProject } from "./project.ts";

const USUAL_FILE = "gateway.yaml";

/**
 * What is found where no project is keeps nothing of the tour's. A file that is named takes the place of the project's
 * configuration; plugins, planner and the rest of the project's gateway stay.
 */
export function gatewayOfProject(
  { project, config: projectFile }: Pick<OpenedProject, "project" | "config">,
  file: unknown,
  cwd: string,
): GatewaySetup {
  const { gateway } = projectFile === undefined ? {} : project;
  const setup = isMap(gateway) && "config" in gateway ? (gateway as unknown as GatewaySetup) : undefined;
  if (typeof file === "string") return { ...setup, config: resolve(cwd, file) };
  return setup ?? { config: gateway ?? resolve(cwd, USUAL_FILE) };
}
