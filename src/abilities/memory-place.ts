// Where the memory lies that a caller means. A caller reaches what is remembered about its own user; what several people are
// shown, and what is remembered about others, is for those who manage memories.
import { z } from "zod";
import { holdfastError } from "../contracts/error.ts";
import type { MemoryLayer } from "../contracts/memory/memory-layer.ts";
import type { MemoryScope } from "../contracts/memory/memory-scope.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { Workspace } from "../contracts/workspace.ts";
import { agentNumber } from "../memory/memory.ts";
import { USUAL_WORKSPACE } from "../memory/memory-subject.ts";
import { memoryScope } from "../memory/scope-of-layer.ts";
import { defined } from "./defined.ts";
import type { Workbench } from "./reach.ts";
import { id } from "./shapes.ts";

const layers = ["user", "principal", "agent", "workspace", "shared", "network"] as const satisfies MemoryLayer[];

/** The fields with which operations name a place. */
export const placeFields = {
  layer: z.enum(layers).default("user").meta({ description: "principal: what one agent has noted about the user." }),
  agent: id.optional().meta({ description: "The slug of the agent, for the layers principal and agent." }),
  workspace_type: id.optional(),
  workspace_id: id.optional(),
  user_id: z.coerce.number().int().min(1).optional().meta({ description: "Another user than the one who calls." }),
};

type Place = z.output<z.ZodObject<typeof placeFields>>;

export type MemoryPlace = {
  readonly scope: MemoryScope;
  /** It is about whoever calls. */
  readonly isOwn: boolean;
  readonly isManager: boolean;
};

/** Throws `memory_forbidden`, `agent_not_found`, and `invalid_argument` for a place that there cannot be. */
export async function memoryPlace(
  workbench: Pick<Workbench, "runtime" | "reach">,
  place: Place,
  principal: Principal,
  name = "",
): Promise<MemoryPlace> {
  const { runtime } = workbench;
  const { layer, agent } = place;
  const user_id = place.user_id ?? principal.acting_user_id;
  const isOfUser = layer === "user" || layer === "principal";
  const isOwn = isOfUser && user_id > 0 && user_id === principal.acting_user_id;
  const isManager = await runtime.authority.allows(principal, "memory.manage");
  const workspace = workspaceOf(place);
  if (!isManager && !(isOwn && (layer === "user" || isWithin(principal, workspace)))) {
    throw holdfastError("memory_forbidden", `The layer ${layer} of ${whose(isOfUser, user_id)} is not the caller's.`);
  }
  const isKnown = agent === undefined || runtime.agents.has(agent);
  const agent_id = agent === undefined || !isKnown ? undefined : await agentNumber(runtime.memories, agent);
  const scopeOf = (filename: string) => memoryScope(layer, filename, { workspace, user_id, ...defined({ agent_id }) });
  if (agent !== undefined && !(isKnown && (isManager || (await isTheirs(workbench, agent, principal, scopeOf))))) {
    throw holdfastError("agent_not_found", `There is no agent "${agent}" that the caller may use.`);
  }
  return { scope: scopeOf(name), isOwn, isManager };
}

/** An agent that was taken from somebody stays known to him as long as it remembers something about him. */
async function isTheirs(
  { runtime, reach }: Pick<Workbench, "runtime" | "reach">,
  agent: string,
  principal: Principal,
  scopeOf: (filename: string) => MemoryScope,
): Promise<boolean> {
  if (await reach.agent(agent, principal)) return true;
  const scope = scopeOf("");
  return scope.layer === "principal" && (await runtime.memories.listSubtree(scope, "")).length > 0;
}

function workspaceOf(place: Place): Workspace {
  return namedWorkspace(place) ?? USUAL_WORKSPACE;
}

/** Undefined when none is named. Throws `invalid_argument` for half a name. */
export function namedWorkspace({
  workspace_type,
  workspace_id,
}: Pick<Place, "workspace_type" | "workspace_id">): Workspace | undefined {
  if (workspace_type === undefined && workspace_id === undefined) return undefined;
  if (workspace_type !== undefined && workspace_id !== undefined) return { workspace_type, workspace_id };
  throw holdfastError("invalid_argument", "workspace_type and workspace_id are given together.");
}

/** Whoever acts in one workspace sees no other; threads that were opened for none remember in the usual one. */
function isWithin(principal: Principal, { workspace_id }: Workspace): boolean {
  return [null, workspace_id].includes(principal.workspace_id) || workspace_id === USUAL_WORKSPACE.workspace_id;
}

function whose(isOfUser: boolean, user: number): string {
  if (!isOfUser) return "everybody";
  return user > 0 ? `user ${user}` : "nobody";
}
