// One JSON object per plugin (per alias), and the facts that were recorded beside it. Values are sealed by the caller.

export type PluginState = {
  readonly sealed_state: string;
  /** Of an agent: for whom its runs were started. */
  readonly sealed_owners: string | null;
  readonly revision: number;
  readonly updated_at: number;
};

export type Fact = {
  readonly seq: number;
  readonly plugin: string;
  readonly fact_type: string;
  readonly command: string;
  readonly job_id: string;
  readonly sealed_value: string;
  readonly created_at: number;
};

/** Written by the commit of a job (`JobCommit.state`), and by operators. */
export interface PluginStateStore {
  get(plugin: string): Promise<PluginState | undefined>;
  /** By plugin. */
  list(): Promise<readonly (PluginState & { readonly plugin: string })[]>;
  /** Replaces the state if it still has this revision, 0 where there is none; for operators. */
  replace(plugin: string, sealedState: string, revision: number, sealedOwners?: string | null): Promise<boolean>;
  /** Oldest first, behind `after`. Numbers rise in the order of commits. */
  facts(query: {
    readonly plugin: string;
    readonly fact_type?: string;
    readonly after?: number;
    readonly limit: number;
  }): Promise<readonly Fact[]>;
}
