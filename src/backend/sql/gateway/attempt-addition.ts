// Runs a batch that adds jobs and leaves the duplicates among them out: each time that one refuses the batch, it is tried again
// without that one.
import type { EnqueueOutcome, NewJob } from "../../gateway/job-store.ts";
import type { SqlDriver } from "../../sql-driver.ts";
import { attemptBatch, type Known } from "../attempt-batch.ts";
import * as rows from "../rows.ts";
import { type Addition, type Duplicate, type Guarded, leaveOut } from "./add-jobs.ts";
import { storableEventId } from "./event-id.ts";

export type AdditionOutcome<Refusal> =
  /** Outcomes in the order of the jobs. */
  | { readonly outcome: "committed"; readonly jobs: readonly EnqueueOutcome[] }
  | { readonly outcome: "refused"; readonly refusal: Refusal };

/** `build` gives the statements for what is left of the addition. */
export async function attemptAddition<Refusal extends string>(
  driver: SqlDriver,
  addition: Addition,
  build: (left: Addition) => readonly Guarded<Refusal | Duplicate>[],
  happened: (left: Addition) => Promise<Known | undefined>,
): Promise<AdditionOutcome<Refusal>> {
  const duplicates = new Map<NewJob, EnqueueOutcome>();
  for (let left = addition; ; ) {
    const refusal = await attemptGuarded(driver, build(left), () => happened(left));
    if (refusal === undefined) break;
    if (typeof refusal !== "object") return { outcome: "refused", refusal };
    const { duplicate } = refusal;
    left = leaveOut(left, duplicate);
    duplicates.set(duplicate, {
      outcome: "duplicate",
      existing_job_id: await twinOf(driver, duplicate, left.jobs),
    });
  }
  const jobs = addition.jobs.map((job) => duplicates.get(job) ?? ({ outcome: "queued", job_id: job.id } as const));
  return { outcome: "committed", jobs };
}

/** What refused the batch; undefined when it was committed. */
export async function attemptGuarded<Refusal>(
  driver: SqlDriver,
  guarded: readonly Guarded<Refusal>[],
  happened: () => Promise<Known | undefined>,
): Promise<Refusal | undefined> {
  const statements = guarded.map(({ statement }) => statement);
  const known = await attemptBatch(driver, statements, happened);
  if (known.outcome === "committed") return undefined;
  const refusal = guarded[known.at]?.refusal;
  if (refusal === undefined) throw new Error(`Statement ${known.at} refused the batch for no reason that is known.`);
  return refusal;
}

/** The job that is in the way; null when it is gone since. `others` are those that are added together with it. */
export async function twinOf(driver: SqlDriver, job: NewJob, others: readonly NewJob[]): Promise<string | null> {
  const sibling = others.find((other) => isSameDelivery(other, job));
  if (sibling) return sibling.id;
  const sql = `select id from gateway_jobs where id = $1
    union all select id from gateway_logged_jobs where id = $1
    union all select id from gateway_jobs where parent_job_id = $2 and source_event_id = $3 and plugin = $4
      and command = $5 and coalesce(pipeline, '') = $6 and coalesce(step_id, '') = $7`;
  const [delivered] = await driver.all(sql, [job.id, ...deliveryOf(job)]);
  if (delivered) return rows.text(delivered.id);
  if (!job.dedupe) return null;
  const { hash } = job.dedupe;
  const twin = others.find(({ dedupe }) => dedupe?.hash === hash);
  if (twin) return twin.id;
  const [holder] = await driver.all("select job_id from gateway_dedupe where hash = $1", [hash]);
  return holder ? rows.text(holder.job_id) : null;
}

function isSameDelivery(one: NewJob, other: NewJob): boolean {
  const [own, others] = [deliveryOf(one), deliveryOf(other)];
  return own[0] !== null && own[1] !== null && own.every((value, index) => value === others[index]);
}

/** By what the index tells deliveries apart. */
function deliveryOf({ parent_job_id, source_event_id, plugin, command, place }: NewJob): readonly (string | null)[] {
  const step = [place?.pipeline ?? "", place?.step_id ?? ""];
  return [parent_job_id, storableEventId(source_event_id), plugin, command, ...step];
}
