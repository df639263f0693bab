// A child as a row of the queue.
import type { NewContext, NewJob } from "../../backend/gateway/job-store.ts";
import type { Child, Context } from "./new-child.ts";
import type { SealedJson } from "./sealed-json.ts";

export type Lineage = {
  readonly parent_job_id: string | null;
  readonly root_job_id: string;
  readonly user_id: string | null;
};

export type StoreOptions = { readonly sealed: SealedJson; readonly dedupeKeepUs: number };

export function storeChild(child: Child, lineage: Lineage, { sealed, dedupeKeepUs }: StoreOptions): NewJob {
  const { payload, dedupe_key, is_exempt: _, ...row } = child;
  return {
    ...row,
    ...lineage,
    sealed_payload: sealed.seal("payload", child.id, payload),
    dedupe: dedupe_key === null ? null : { hash: dedupeHash(sealed, dedupe_key, child), keep_us: dedupeKeepUs },
  };
}

/** The identity of a job for dedupe: the key within one command of one plugin. */
function dedupeHash(sealed: SealedJson, key: string, { plugin, command }: Pick<Child, "plugin" | "command">): string {
  return sealed.digest(JSON.stringify([key, plugin, command]));
}

export function storeContext(context: Context, rootJobId: string, sealed: SealedJson): NewContext {
  const { accumulated, ...row } = context;
  return { ...row, root_job_id: rootJobId, sealed_accumulated: sealed.seal("context", context.id, accumulated) };
}
