// The gateway that a verb runs or checks: a project's own, with its plugins, or one of a file that is named.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { GatewaySetup } from "../index.ts";
import { setupOf, usualGatewayFile } from "./gateway/gateway-setup.ts";
import type { OpenedProject } from "./project.ts";

/**
 * What is found where no project is keeps nothing of the tour's. A file that is named takes the place of the project's
 * configuration; plugins, planner and the rest of the project's gateway stay.
 */
export function gatewayOfProject(opened: OpenedProject, file: unknown, cwd: string): GatewaySetup {
  const setup = ownSetup(opened);
  return typeof file === "string"
    ? { ...setup, config: resolve(cwd, file) }
    : (setup ?? { config: usualGatewayFile(cwd) });
}

/** The same where no file is named, unless there is none. */
export function gatewayHere(opened: OpenedProject, cwd: string): GatewaySetup | undefined {
  return ownSetup(opened) ?? (existsSync(usualGatewayFile(cwd)) ? { config: usualGatewayFile(cwd) } : undefined);
}

function ownSetup({ project: { gateway }, hasTourGateway }: OpenedProject): GatewaySetup | undefined {
  return gateway === undefined || hasTourGateway ? undefined : setupOf(gateway);
}
