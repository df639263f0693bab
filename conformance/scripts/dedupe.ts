// Two jobs, one after the other, in the queue of the product on a database whose clock the script holds.
import type { ClaimedJob, JobStore } from "../../src/backend/gateway/job-store.ts";
import { openStores } from "../../src/backend/sql/open-stores.ts";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { DEDUPE_TTL_MS } from "../../src/contracts/gateway/dedupe.ts";
import { hasEnded, type JobStatus } from "../../src/contracts/gateway/job.ts";
import { createSealedJson } from "../../src/gateway/dispatch/commit/sealed-json.ts";
import { storeChild } from "../../src/gateway/dispatch/commit/store-child.ts";
import { heldClock } from "../../src/testing/held-clock.ts";
import { createSealing } from "../../src/threads/secrets/sealing.ts";

type Identity = { readonly plugin: string; readonly command: string; readonly key?: string | null };
type Existing = Identity & { readonly status: JobStatus; readonly age_h?: number };

const HOUR_MS = 3_600_000;
const WORKER = "worker";

const options = { sealed: createSealedJson(createSealing(new Uint8Array(32))), dedupeKeepUs: DEDUPE_TTL_MS * 1_000 };

/** Whether the second job is dropped; `age_h` passes after the first has come to its status. */
export async function enqueueTwice({ existing, enqueue }: { existing?: Existing | null; enqueue: Identity }) {
  const clock = heldClock();
  const driver = await sqlite(":memory:", { clock }).open();
  try {
    const { jobs } = (await openStores(driver, { keyFingerprint: "conformance" })).gateway;
    if (existing) {
      await jobs.enqueue([newJob(existing, "first")]);
      await bring(jobs, existing.status);
      await clock.advance((existing.age_h ?? 0) * HOUR_MS);
    }
    const [second] = await jobs.enqueue([newJob(enqueue, "second")]);
    return { dropped: second?.outcome === "duplicate" };
  } finally {
    await driver.close();
  }
}

/** Of an event of its own. */
function newJob({ plugin, command, key = null }: Identity, id: string) {
  const nothing = { context_id: null, place: null, waits_for_instance: null, is_exempt: false };
  const job = { id, plugin, command, payload: {}, dedupe_key: key, submitted_by: "api", max_attempts: 4, ...nothing };
  const lineage = { parent_job_id: null, root_job_id: id, user_id: null };
  return storeChild({ ...job, source_event_id: `event of ${id}` }, lineage, options);
}

async function bring(jobs: JobStore, status: JobStatus): Promise<void> {
  if (status === "queued") return;
  const claim = { worker: WORKER, lease_us: HOUR_MS * 1_000, max_workers: 1, parallelism: {} };
  const job = (await jobs.claim(claim)) as ClaimedJob;
  if (!hasEnded(status)) return;
  const sealed = { sealed_response: null, sealed_stderr: null, sealed_error: null };
  await jobs.commit({
    ...{ job, worker: WORKER, contexts: [], children: [], stream: [], max_tree_jobs: 1, exempt: [] },
    settlement: { status, reason: null, sealed_error: null },
    attempt: { attempt: 1, outcome: status, reason: null, exit_code: null, started_at: 0, ...sealed },
  });
}
