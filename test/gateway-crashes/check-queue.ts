// What must hold of every queue once its work is done, however often processes were killed: read from the tables, so that
// nothing is believed because a gateway says so.
import type { Row } from "../../src/backend/sql-driver.ts";
import type { Reading } from "./reading.ts";

const ENDED: readonly unknown[] = ["succeeded", "failed", "timed_out", "dead"];
const UNSUCCESSFUL: readonly unknown[] = ["failed", "timed_out", "dead"];

/** Which plugin evaluates conditions: its jobs have no entries in the stream when they end. */
const SWITCH = "core.switch";

export async function checkQueue(reading: Reading, { isInOrder = false } = {}): Promise<readonly string[]> {
  const jobs = await reading.rows("select * from gateway_jobs order by seq");
  return [
    ...checkEnds(jobs),
    ...checkParents(jobs),
    ...(await checkAttempts(reading, jobs)),
    ...(await checkTrees(reading, jobs)),
    ...(await checkBelongings(reading, jobs)),
    ...(await checkStream(reading, jobs)),
    ...(isInOrder ? checkOrder(jobs) : []),
  ];
}

function describe({ seq, plugin, command, status }: Row): string {
  return `job ${seq} (${plugin}.${command}, ${status})`;
}

function checkEnds(jobs: readonly Row[]): string[] {
  return jobs.flatMap((job) => {
    const isOver = ENDED.includes(job.status) && job.due_at === null && job.completed_at !== null;
    if (!isOver) return [`${describe(job)} has not ended`];
    return job.lease_by === null && Number(job.lease_until) === 0 ? [] : [`${describe(job)} is leased still`];
  });
}

/** A child is there because of how its parent ended, and once for each event and step. */
function checkParents(jobs: readonly Row[]): string[] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const problems: string[] = [];
  const deliveries = new Map<string, Row>();
  for (const job of jobs) {
    if (job.parent_job_id === null) continue;
    const parent = byId.get(job.parent_job_id);
    if (!parent) {
      problems.push(`${describe(job)} has no parent`);
      continue;
    }
    const isOfFailure = job.submitted_by === "bridge" || job.submitted_by === "dead_letter";
    const fits = isOfFailure ? UNSUCCESSFUL.includes(parent.status) : !UNSUCCESSFUL.includes(parent.status);
    if (job.submitted_by !== "hook" && !fits) {
      problems.push(`${describe(job)} was queued by ${describe(parent)} as ${job.submitted_by}`);
    }
    const { parent_job_id, source_event_id, plugin, command, pipeline, step_id } = job;
    const delivery = JSON.stringify([parent_job_id, source_event_id, plugin, command, pipeline, step_id]);
    const twin = deliveries.get(delivery);
    if (twin) problems.push(`${describe(job)} is the same as ${describe(twin)}`);
    deliveries.set(delivery, job);
  }
  return problems;
}

/** Every execution is in the log of its job, the lost ones too, and one of them has ended it. */
async function checkAttempts(reading: Reading, jobs: readonly Row[]): Promise<string[]> {
  const attempts = await reading.rows("select * from gateway_attempts order by job_id, epoch");
  const byJob = Map.groupBy(attempts, ({ job_id }) => job_id);
  return jobs.flatMap((job) => {
    const own = byJob.get(job.id) ?? [];
    const numbers = own.map(({ attempt }) => Number(attempt));
    const problems: string[] = [];
    if (String(numbers) !== String(own.map((_, index) => index + 1)) || own.length !== Number(job.attempt)) {
      problems.push(`${describe(job)} is at attempt ${job.attempt}, and its log has the attempts ${numbers}`);
    }
    const statuses = own.map(({ status }) => status);
    if (statuses.at(-1) !== job.status || statuses.slice(0, -1).some((status) => status !== "queued")) {
      problems.push(`${describe(job)} has a log that says ${statuses.join(", ")}`);
    }
    return problems;
  });
}

/** The counters are what counting comes to, and no identity is held by a job that has ended. */
async function checkTrees(reading: Reading, jobs: readonly Row[]): Promise<string[]> {
  const trees = await reading.rows("select * from gateway_trees order by root_job_id");
  const problems = trees.flatMap(({ root_job_id, jobs: counted, outstanding, ended_at }) => {
    const own = jobs.filter((job) => job.root_job_id === root_job_id && job.submitted_by !== "bridge").length;
    const isRight = Number(counted) === own && Number(outstanding) === 0 && ended_at !== null;
    return isRight ? [] : [`the tree ${root_job_id} counts ${counted} of ${own} jobs, ${outstanding} outstanding`];
  });
  const roots = new Set(jobs.map(({ root_job_id }) => root_job_id));
  if (trees.length !== roots.size) problems.push(`there are ${trees.length} trees of ${roots.size} roots`);
  const held = await reading.rows("select job_id, holders from gateway_dedupe where holders <> 0");
  return [...problems, ...held.map(({ job_id, holders }) => `an identity has ${holders} holders, the last ${job_id}`)];
}

/** Payloads and contexts are there with their jobs, and no others. */
async function checkBelongings(reading: Reading, jobs: readonly Row[]): Promise<string[]> {
  const payloads = (await reading.rows("select job_id from gateway_payloads")).map(({ job_id }) => job_id);
  const contexts = (await reading.rows("select id from gateway_contexts")).map(({ id }) => id);
  const named = new Set(jobs.flatMap(({ context_id }) => (context_id === null ? [] : [context_id])));
  const ids = jobs.map(({ id }) => id);
  return [
    ...(isSame(payloads, ids) ? [] : [`there are ${payloads.length} payloads of ${ids.length} jobs`]),
    ...(isSame(contexts, [...named]) ? [] : [`there are ${contexts.length} contexts, and jobs name ${named.size}`]),
  ];
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return String([...one].sort()) === String([...other].sort());
}

/** The stream says once of every job that it was queued and how it ended; its ids rise by one. */
async function checkStream(reading: Reading, jobs: readonly Row[]): Promise<string[]> {
  const stream = await reading.stream();
  const [control] = await reading.rows("select stream_id from gateway_control");
  const problems: string[] = [];
  const isCounted = stream.every(({ id }, index) => id === index + 1);
  if (!isCounted || stream.length !== Number(control?.stream_id ?? 0)) problems.push("ids of the stream are missing");
  for (const job of jobs) {
    const own = stream.filter(({ data }) => data.job_id === job.id).map(({ type }) => type);
    const ends = own.filter((type) => type === "job.completed" || type === "job.failed" || type === "job.timed_out");
    const wanted = job.plugin === SWITCH ? 0 : 1;
    if (ends.length !== wanted) problems.push(`the stream tells ${ends.length} ends of ${describe(job)}`);
    const starts = own.filter((type) => type === "job.enqueued").length;
    const isTold = job.submitted_by === "api" || (job.submitted_by === "route" && job.plugin !== SWITCH);
    if (isTold ? starts !== 1 : starts > 1)
      problems.push(`the stream tells ${starts} times that ${describe(job)} was queued`);
  }
  return problems;
}

/** First queued, first done. */
function checkOrder(jobs: readonly Row[]): string[] {
  return jobs.flatMap((job, index) => {
    const before = jobs[index - 1];
    if (!before || Number(before.completed_at) <= Number(job.completed_at)) return [];
    return [`${describe(job)} ended before ${describe(before)}, which was queued earlier`];
  });
}
