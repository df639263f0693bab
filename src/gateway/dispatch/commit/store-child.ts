// A child as a row of the queue.
import type { NewContext, NewJob } from "../../../backend/gateway/job-store.ts";
import { dedupeIdentity } from "../../../contracts/gateway/dedupe.ts";
import type { PipelinePlace } from "../../../contracts/gateway/job.ts";
import type { Child, Context } from "./new-child.ts";
import type { SealedJson } from "./sealed-json.ts";

export type Lineage = {
  readonly parent_job_id: string | null;
  readonly root_job_id: string;
  readonly user_id: string | null;
};

export type StoreOptions = { readonly sealed: SealedJson; readonly dedupeKeepUs: number };

export function storeChild(child: Child, lineage: Lineage, { sealed, dedupeKeepUs }: StoreOptions): NewJob {
  const { payload, dedupe_key: _key, is_exempt: _exempt, ...row } = child;
  const identity = dedupeIdentity(child);
  return {
    ...row,
    ...lineage,
    // Keyed: without the key a secret that the step is given could be guessed from the digest.
    place: row.place && withKeyedDigest(row.place, sealed),
    sealed_payload: sealed.seal("payload", child.id, payload),
    dedupe: identity === undefined ? null : { hash: sealed.digest(identity), keep_us: dedupeKeepUs },
  };
}

function withKeyedDigest({ step_digest, ...place }: PipelinePlace, sealed: SealedJson): PipelinePlace {
  return step_digest === undefined ? place : { ...place, step_digest: sealed.digest(step_digest) };
}

export function storeContext(context: Context, rootJobId: string, sealed: SealedJson): NewContext {
  const { accumulated, ...row } = context;
  return { ...row, root_job_id: rootJobId, sealed_accumulated: sealed.seal("context", context.id, accumulated) };
}

export type StoredRows = {
  child(child: Child, lineage: Lineage): NewJob;
  context(context: Context, rootJobId: string): NewContext;
};

/** The same rows, each sealed once however often their commit is tried. */
export function createStoredRows(options: StoreOptions): StoredRows {
  const children = new Map<Child, NewJob>();
  const contexts = new Map<Context, NewContext>();
  return {
    child: (child, lineage) => kept(children, child, () => storeChild(child, lineage, options)),
    context: (context, rootJobId) => kept(contexts, context, () => storeContext(context, rootJobId, options.sealed)),
  };
}

function kept<Key, Row>(rows: Map<Key, Row>, key: Key, make: () => Row): Row {
  const row = rows.get(key) ?? make();
  rows.set(key, row);
  return row;
}
