// Where the memories of a layer lie for whoever a thread acts for. Nobody reaches another user's, another agent's or another
// place's memories, because the scope that would name them is never made.
import { memoryProblem, nameProblem } from "../backend/memory-limits.ts";
import { holdfastError } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import * as memoryLayer from "../contracts/memory/memory-layer.ts";
import type { MemoryScope } from "../contracts/memory/memory-scope.ts";
import type { Workspace } from "../contracts/workspace.ts";
import * as workspaces from "../contracts/workspace.ts";
import { type MemorySubject, USUAL_WORKSPACE } from "./memory-subject.ts";

type MemoryLayer = memoryLayer.MemoryLayer;

/** What is the same in every workspace of an installation. */
const EVERYWHERE: Workspace = Object.freeze({ workspace_type: "network", workspace_id: "default" });

/** Null where the layer is a user's and there is none. */
export function scopeOfLayer(layer: MemoryLayer, subject: MemorySubject, filename = ""): MemoryScope | null {
  const { workspace, user_id, agent_id } = subject;
  switch (layer) {
    case "workspace":
    case "shared":
      return { layer, ...workspace, user_id: 0, agent_id: 0, filename };
    case "agent":
      return { layer, ...workspace, user_id: 0, agent_id, filename };
    case "user":
      return user_id === 0 ? null : { layer, ...EVERYWHERE, user_id, agent_id: 0, filename };
    case "principal":
      return user_id === 0 ? null : { layer, ...workspace, user_id, agent_id, filename };
    case "network":
      return { layer, ...EVERYWHERE, user_id: 0, agent_id: 0, filename };
    default:
      return layer satisfies never;
  }
}

/** Whose memory is meant; nobody's in particular, in the usual workspace, unless given. */
export type MemoryOwner = {
  readonly workspace?: Workspace;
  readonly user_id?: number;
  /** The number of the agent's identity. */
  readonly agent_id?: number;
};

/**
 * Where a memory lies, for the program itself. Throws `invalid_argument` for what is no layer, name, user or agent, and where
 * a layer needs a user or an agent; and `invalid_agent_workspace_scope` for what is no workspace.
 */
export function memoryScope(layer: MemoryLayer, filename: string, owner: MemoryOwner = {}): MemoryScope {
  if (memoryLayer.normalize(layer) !== layer) throw invalid("layer must be one of the six layers");
  if (typeof filename !== "string") throw invalid("the name of a memory must be a text");
  if (!isMap(owner)) throw invalid("whose memory is meant must be a map");
  const { user_id = 0, agent_id = 0 } = owner;
  if (!isNumber(user_id) || !isNumber(agent_id)) throw invalid("user_id and agent_id must be whole numbers from 0");
  const subject = { workspace: workspaceOf(owner), user_id, agent_id, agent: "", mode: "" };
  const scope = scopeOfLayer(layer, subject, filename);
  if (!scope) throw invalid(`the layer ${layer} needs a user_id`);
  if (agent_id === 0 && (layer === "agent" || layer === "principal")) {
    throw invalid(`the layer ${layer} needs an agent_id`);
  }
  const problem = memoryProblem(scope);
  if (problem !== undefined) throw invalid(problem);
  return scope;
}

function workspaceOf({ workspace = USUAL_WORKSPACE }: MemoryOwner): Workspace {
  // Before it is read, because reading it takes zeros off its ends.
  const problem = isMap(workspace) ? nameProblem(workspace) : undefined;
  if (problem !== undefined) throw invalid(problem);
  return workspaces.normalize(workspace);
}

function isNumber(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function invalid(detail: string) {
  return holdfastError("invalid_argument", detail);
}
