// Who may use which agent, and in which role. A grant is a user's or an audience's; one that names both is the user's, so
// that naming more of somebody never lets in more people.

export type NewGrant = {
  readonly agent_id: string;
  /** 0 for the grant of an audience. */
  readonly user_id: number;
  readonly audience_id: string | null;
  readonly role: string;
  /** Null is no workspace, which is another scope than any workspace. */
  readonly workspace_id: string | null;
  readonly granted_by_user_id: number | null;
  /** JSON of a map. */
  readonly metadata: string;
};

export type StoredGrant = NewGrant & { readonly grant_id: number; readonly granted_at: number };

/** Somebody who may hold a grant. */
export type GrantHolder = { readonly user_id: number } | { readonly audience_id: string };

export interface GrantStore {
  /** There is one for each agent, holder and workspace: another takes its place and keeps its number. */
  grant(grant: NewGrant): Promise<StoredGrant>;
  /** False when there was none. */
  revoke(agentId: string, holder: GrantHolder, workspaceId: string | null): Promise<boolean>;
  get(agentId: string, holder: GrantHolder, workspaceId: string | null): Promise<StoredGrant | undefined>;
  /** In the order they were first granted, in all workspaces. */
  ofAgent(agentId: string): Promise<readonly StoredGrant[]>;
  ofHolder(holder: GrantHolder): Promise<readonly StoredGrant[]>;
}
