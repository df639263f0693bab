// The place that a run, a session or a memory belongs to: a site, a repository, whatever its type says.
import { identifier } from "./coerce.ts";
import { holdfastError } from "./error.ts";
import { asMap, emptyMap, seal } from "./json.ts";

export type Workspace = { readonly workspace_type: string; readonly workspace_id: string };

// Matched before it is lowered, because lowering turns some letters beyond ASCII into ASCII ones.
const TYPE = /^[A-Za-z][A-Za-z0-9_-]*$/;

/**
 * A workspace whose type is a lower-case word; its id is any text and keeps its case. Throws
 * `invalid_agent_workspace_scope` with the first field that is missing or wrong.
 */
export function normalize(value: unknown): Workspace {
  const given = asMap(value) ?? emptyMap;
  const type = identifier(given.workspace_type);
  if (type === undefined || !TYPE.test(type)) throw invalid("workspace_type must be a letter and any of a-z 0-9 _ -");
  const id = identifier(given.workspace_id);
  if (id === undefined) throw invalid("workspace_id must be a non-empty string");
  return seal({ workspace_type: type.toLowerCase(), workspace_id: id });
}

/** The workspace that a map describes; undefined when it describes none. */
export function read(value: unknown): Workspace | undefined {
  try {
    return asMap(value) && normalize(value);
  } catch {
    return undefined;
  }
}

/** One text for both parts. A type holds no colon, so no two workspaces share a key. */
export function key({ workspace_type, workspace_id }: Workspace): string {
  return `${workspace_type}:${workspace_id}`;
}

function invalid(detail: string) {
  return holdfastError("invalid_agent_workspace_scope", detail);
}
