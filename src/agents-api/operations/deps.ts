// What the operations of the Agents API on workflows are built with.
import type { Capability } from "../../abilities/capabilities.ts";
import type { Caller } from "../../abilities/operation.ts";
import type { Hooks } from "../../contracts/hooks.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { RunHost } from "../../workflows/durable/run-host.ts";
import type { WorkflowDeps } from "../../workflows/operations/deps.ts";
import { mayUseWorkflows, type WorkflowWish } from "../workflows/workflow-permission.ts";

export type AgentsApiDeps = WorkflowDeps & {
  readonly hooks?: Hooks | undefined;
  readonly host: RunHost;
};

/**
 * Whether the caller may: as the capabilities say that would be enough, or as the host's own seam does. A host may hand out what
 * no caller holds, and lifts no ceiling by that.
 */
export function permits({ workbench: { runtime }, hooks }: AgentsApiDeps) {
  const { authority } = runtime;
  return async (
    wish: WorkflowWish,
    input: JsonMap,
    { principal }: Pick<Caller, "principal">,
    enough: readonly [Capability, ...Capability[]],
  ): Promise<boolean> => {
    const held = await Promise.all(enough.map((each) => authority.allows(principal, each)));
    const isAdministrator = held.includes(true);
    const may = await mayUseWorkflows(wish, input, { isAdministrator, hooks });
    return may && (isAdministrator || (await authority.within(principal, enough[0])));
  };
}
