// Where the instances of agents are kept that were set up for good. Any spelling of a scope finds the same one.
import type { Identity } from "../contracts/agents/identity.ts";
import type { IdentityScope } from "../contracts/agents/identity-scope.ts";
import type { JsonMap } from "../contracts/json.ts";

/** A scope as somebody has written it. */
export type GivenScope = Pick<IdentityScope, "agent_slug"> & Partial<IdentityScope>;

export interface IdentityStore {
  resolve(scope: GivenScope): Promise<Identity | undefined>;
  get(id: number): Promise<Identity | undefined>;
  /** The identity of a scope, which is made if there is none: only then do `config` and `meta` count. */
  materialize(scope: GivenScope, first?: { readonly config?: JsonMap; readonly meta?: JsonMap }): Promise<Identity>;
  /** Replaces its configuration and meta; undefined when it is gone. */
  update(identity: Identity): Promise<Identity | undefined>;
  /** True, however often. Its number is never given to another. */
  delete(scope: GivenScope): Promise<boolean>;
}
