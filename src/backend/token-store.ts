// Bearer tokens. What is kept is their hash, from which nobody can make one; the token itself is never seen here.

export type NewToken = {
  readonly agent_id: string;
  readonly owner_user_id: number;
  /** SHA-256 in lower-case hex. */
  readonly token_hash: string;
  readonly token_prefix: string;
  readonly label: string;
  /** JSON of a list; null where nothing is restricted. */
  readonly allowed_capabilities: string | null;
  /** As it was given, since what is no time counts as over. */
  readonly expires_at: string | null;
  readonly client_id: string | null;
  readonly workspace_id: string | null;
  /** JSON of a map. */
  readonly metadata: string;
  /** True for one that lets nobody in to its agent unless its user was granted it. */
  readonly by_grant: boolean;
};

export type StoredToken = Omit<NewToken, "token_hash"> & {
  /** From 1, and never given twice. */
  readonly token_id: number;
  /** Null once the token is revoked: then nothing is left that it could be known by. */
  readonly token_hash: string | null;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
};

/** Those that match every field that is given. */
export type TokensQuery = {
  readonly agent_id?: string;
  readonly owner_user_id?: number;
  readonly workspace_id?: string;
  /** Revoked ones too. */
  readonly revoked: boolean;
  /** The number of the last one that was seen. */
  readonly after: number;
  readonly limit: number;
};

export interface TokenStore {
  create(token: NewToken): Promise<StoredToken>;
  /** The token that has this hash, unless it is revoked. */
  find(hash: string): Promise<StoredToken | undefined>;
  /** Notes that it was used at this time, in microseconds, unless a use is noted that is not older than `idle_us` then. */
  touch(tokenId: number, used_at: number, idle_us: number): Promise<void>;
  /** False when the agent has no such token, or none any more. */
  revoke(tokenId: number, agentId: string): Promise<boolean>;
  /** How many there were to revoke. */
  revokeAll(agentId: string): Promise<number>;
  /** Also when it is revoked. */
  get(tokenId: number): Promise<StoredToken | undefined>;
  /** In the order of their creation; revoked ones too. */
  list(agentId: string): Promise<readonly StoredToken[]>;
  /** A page of the tokens of all agents, in the order of their creation. */
  page(query: TokensQuery): Promise<readonly StoredToken[]>;
  /** Whether anybody holds a token; with `revoked`, whether anybody ever has. */
  exist(options: { readonly revoked: boolean }): Promise<boolean>;
}
