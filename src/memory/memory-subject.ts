// For whom memories are read and written: a place, a person and an agent.
import type { Workspace } from "../contracts/workspace.ts";

export type MemorySubject = {
  readonly workspace: Workspace;
  /** 0 is nobody: then no layer of a user is read or written. */
  readonly user_id: number;
  readonly agent_id: number;
  /** Its slug. */
  readonly agent: string;
  /** Where the thread is used, such as `chat`: it says which sources are for it. */
  readonly mode: string;
};

/** Where threads act that were not opened for a place. */
export const USUAL_WORKSPACE: Workspace = Object.freeze({ workspace_type: "site", workspace_id: "default" });

type ActsFor = {
  readonly principal: { readonly acting_user_id: number };
  readonly workspace: Workspace | null;
  readonly context: string;
};

export function memorySubject(
  { principal, workspace, context }: ActsFor,
  agent: { readonly slug: string; readonly id: number },
): MemorySubject {
  return {
    workspace: workspace ?? USUAL_WORKSPACE,
    user_id: principal.acting_user_id,
    agent_id: agent.id,
    agent: agent.slug,
    mode: context,
  };
}
