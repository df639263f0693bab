// What one memory is: whose it is, of which agent, in which place, and its name there.
import { identifier } from "../coerce.ts";
import { asMap, emptyMap, seal } from "../json.ts";
import { userId } from "../trust/user-id.ts";
import * as workspace from "../workspace.ts";

export type MemoryScope = {
  /** Any word: the known layers are where sources are registered, not where memories may lie. */
  readonly layer: string;
  readonly workspace_type: string;
  readonly workspace_id: string;
  /** 0 is nobody in particular, and so is it with the agent. */
  readonly user_id: number;
  readonly agent_id: number;
  /** May hold `/`, which makes folders of it. */
  readonly filename: string;
};

/** A frozen scope; throws `invalid_agent_workspace_scope` when it names no workspace. Layer and filename may be empty. */
export function normalize(value: unknown): MemoryScope {
  const given = asMap(value) ?? emptyMap;
  const { workspace_type, workspace_id } = workspace.normalize(given);
  return seal({
    layer: identifier(given.layer) ?? "",
    workspace_type,
    workspace_id,
    user_id: userId(given.user_id),
    agent_id: userId(given.agent_id),
    filename: identifier(given.filename) ?? "",
  });
}

/**
 * One text for all parts, to be shown and logged. Parts are not escaped, so that two scopes with colons in them can
 * share a key: a store compares the parts.
 */
export function key({ layer, workspace_type, workspace_id, user_id, agent_id, filename }: MemoryScope): string {
  return [layer, workspace_type, workspace_id, user_id, agent_id, filename].join(":");
}
