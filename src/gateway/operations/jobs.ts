// The operations on jobs: read, list, follow a tree, read logs, cancel.
import { z } from "zod";
import { defined } from "../../abilities/defined.ts";
import type { Operation } from "../../abilities/operation.ts";
import { id, listPlace } from "../../abilities/shapes.ts";
import type { JobQuery } from "../../backend/gateway/job-store.ts";
import { readPlace, writePlace } from "../../contracts/list-place.ts";
import { operationError } from "../../contracts/operation-error.ts";
import type { JobDetails, JobView, JobWithPayload } from "../gateway.ts";
import type { GatewayDeps } from "./deps.ts";
import { describeJob, isoTime, jobId, jobShape, jobWithPayloadShape, statusesOf, statusFilter } from "./shapes.ts";

const PAGE = 50;
const LONGEST_PAGE = 200;

const attemptShape = z.object({
  attempt: z.int(),
  outcome: z.string(),
  reason: z.string().nullable(),
  exit_code: z.int().nullable(),
  status: z.string().meta({ description: "What became of the job." }),
  started_at: z.iso.datetime().nullable(),
  ended_at: z.iso.datetime(),
  response: z.string().nullable().optional(),
  stderr: z.string().nullable().optional(),
  error: z.string().nullable().optional(),
});

const logShape = jobWithPayloadShape.extend({
  attempts: z.array(attemptShape),
  transitions: z.array(
    z.object({ from: z.string().nullable(), to: z.string(), reason: z.string().nullable(), at: z.iso.datetime() }),
  ),
});

const query = z.object({
  plugin: id.optional(),
  command: id.optional(),
  status: statusFilter.optional(),
  submitted_by: id.optional(),
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  limit: z.coerce.number().int().min(1).max(LONGEST_PAGE).default(PAGE),
  after: listPlace.optional().meta({ description: "The place that the page before named as next." }),
});

export function jobOperations({ define, gateway, permits, submitter }: GatewayDeps): readonly Operation[] {
  const { jobs } = gateway;

  async function page(
    read: (query: JobQuery) => Promise<readonly JobView[]>,
    { status, from, to, after, ...filters }: z.output<typeof query>,
  ) {
    const place = after === undefined ? undefined : readPlace(after);
    if (after !== undefined && !place) return operationError("invalid_input", `"${after}" is no place in this list.`);
    return await read({
      ...defined(filters),
      // One more than is shown tells whether there are more.
      limit: filters.limit + 1,
      ...(status !== undefined && { statuses: statusesOf(status) }),
      ...(from !== undefined && { from: Date.parse(from) * 1_000 }),
      ...(to !== undefined && { to: Date.parse(to) * 1_000 }),
      ...(place && { after: place }),
    });
  }

  return [
    define({
      name: "holdfast/list-jobs",
      title: "List jobs",
      description: "The jobs of the gateway, newest first.",
      input: query,
      output: z.object({ jobs: z.array(jobShape), next: z.string().nullable() }),
      effect: "read",
      capability: "gateway.jobs",
      route: { method: "get", path: "/jobs" },
      async execute(input, { principal }) {
        const found = await page(jobs.list, input);
        if (!isList(found)) return found;
        const showsResults = await permits(principal, "gateway.results");
        const shown = found.slice(0, input.limit);
        return { jobs: shown.map((job) => describeJob(job, showsResults)), next: nextPlace(found, input.limit) };
      },
    }),

    define({
      name: "holdfast/get-job",
      title: "Read a job",
      description: "The status of a job, its payload, its result or its last error, and its times.",
      input: z.object({ job_id: jobId }),
      output: jobWithPayloadShape,
      effect: "read",
      capability: "gateway.jobs",
      route: { method: "get", path: "/job/{job_id}" },
      async execute({ job_id }, { principal }) {
        return describeJob(await jobs.get(job_id), await permits(principal, "gateway.results"));
      },
    }),

    define({
      name: "holdfast/get-job-tree",
      title: "Read a job with all its descendants",
      description: "Every job of the tree that the job belongs to, oldest first.",
      input: z.object({ job_id: jobId }),
      output: z.object({ root_job_id: z.string(), jobs: z.array(jobShape) }),
      effect: "read",
      capability: "gateway.jobs",
      route: { method: "get", path: "/job/{job_id}/tree" },
      async execute({ job_id }, { principal }) {
        const { root_job_id } = await jobs.get(job_id);
        const showsResults = await permits(principal, "gateway.results");
        return { root_job_id, jobs: (await jobs.tree(root_job_id)).map((job) => describeJob(job, showsResults)) };
      },
    }),

    define({
      name: "holdfast/list-job-logs",
      title: "Read the logs of jobs",
      description:
        "Jobs with every attempt and every change of status, newest first, also those that have left the queue. Responses and stderr only with gateway.results; payloads only with a job_id.",
      input: query.extend({
        job_id: jobId.optional().meta({ description: "Only this job." }),
        include_result: z
          .stringbool()
          .or(z.boolean())
          .default(true)
          .meta({ description: "False: without payloads, results, responses, errors and stderr." }),
      }),
      output: z.object({ logs: z.array(logShape), next: z.string().nullable() }),
      effect: "read",
      capability: "gateway.jobs",
      route: { method: "get", path: "/job-logs" },
      async execute({ job_id, include_result, ...input }, { principal }) {
        const found = job_id === undefined ? await page(jobs.log, input) : [await jobs.get(job_id)];
        if (!isList(found)) return found;
        const showsResults = include_result && (await permits(principal, "gateway.results"));
        const logs = await Promise.all(
          found.slice(0, input.limit).map(async (job) => describeLog(job, await jobs.details(job.id), showsResults)),
        );
        return { logs, next: job_id === undefined ? nextPlace(found, input.limit) : null };
      },
    }),

    define({
      name: "holdfast/cancel-job",
      title: "Cancel a job",
      description: "A queued job ends at once; of a running one the process group is killed.",
      input: z.object({ job_id: jobId }),
      output: z.object({ job_id: z.string(), status: z.enum(["cancelled", "requested"]) }),
      effect: "destroy",
      capability: "gateway.run",
      route: { method: "post", path: "/job/{job_id}/cancel", status: 202 },
      async execute({ job_id }, caller) {
        const { user_id, via } = submitter(caller);
        return { job_id, status: await jobs.cancel(job_id, user_id ?? via) };
      },
    }),
  ];
}

function isList(found: readonly JobView[] | object): found is readonly JobView[] {
  return Array.isArray(found);
}

function nextPlace(found: readonly JobView[], limit: number): string | null {
  const last = found.length > limit ? found[limit - 1] : undefined;
  return last ? writePlace({ created_at: last.created_at, id: last.id }) : null;
}

function describeLog(
  job: JobView | JobWithPayload,
  details: JobDetails,
  showsResults: boolean,
): z.input<typeof logShape> {
  return {
    ...describeJob(job, showsResults),
    attempts: details.attempts.map(({ status, started_at, ended_at, response, stderr, error, ...attempt }) => ({
      ...attempt,
      status,
      started_at: started_at === null ? null : isoTime(started_at),
      ended_at: isoTime(ended_at),
      ...(showsResults && { response, stderr, error }),
    })),
    transitions: details.transitions.map(({ at, ...transition }) => ({ ...transition, at: isoTime(at) })),
  };
}
