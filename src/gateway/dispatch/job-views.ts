// Jobs as they are shown: opened, and without the secrets that are known.
import type { Job, JobAttempt, JobStore, ListedJob } from "../../backend/gateway/job-store.ts";
import { HoldfastError } from "../../contracts/error.ts";
import { isTooDeep, storableJson } from "../../contracts/gateway/protocol/storable-json.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
import type { AttemptView, JobDetails, JobView, JobWithPayload } from "../gateway.ts";
import type { SealedJson } from "./commit/sealed-json.ts";
import { redactedJson } from "./redacted-json.ts";

export type ViewDeps = {
  readonly jobs: Pick<JobStore, "attempts" | "transitions">;
  readonly sealed: SealedJson;
  /** Replaces known secrets in a text. */
  readonly redact: (text: string) => string;
};

export async function viewJob(deps: ViewDeps, job: ListedJob): Promise<JobView> {
  const { sealed_error, user_id: _u, dedupe_hash: _d, waits_for_instance: _w, ...rest } = job;
  const { sealed, redact } = deps;
  const error = sealed_error === null ? null : opened(() => sealed.openText("error", job.id, sealed_error));
  const last = job.status === "succeeded" ? (await deps.jobs.attempts(job.id)).at(-1) : undefined;
  return {
    ...rest,
    last_error: error === null ? null : redact(error),
    result: last === undefined ? null : resultIn(viewAttempt(deps, job.id, last).response),
  };
}

export async function viewWithPayload(deps: ViewDeps, { sealed_payload, ...job }: Job): Promise<JobWithPayload> {
  const { sealed, redact } = deps;
  const payload = sealed_payload === null ? null : opened(() => sealed.openText("payload", job.id, sealed_payload));
  return {
    ...(await viewJob(deps, job)),
    payload: payload === null ? null : readMap(redactedJson(payload, redact)),
  };
}

export async function viewDetails(deps: ViewDeps, jobId: string): Promise<JobDetails> {
  const [attempts, transitions] = await Promise.all([deps.jobs.attempts(jobId), deps.jobs.transitions(jobId)]);
  return { attempts: attempts.map((attempt) => viewAttempt(deps, jobId, attempt)), transitions };
}

function viewAttempt({ sealed, redact }: ViewDeps, jobId: string, stored: JobAttempt): AttemptView {
  const { attempt, outcome, status, reason, exit_code, started_at, ended_at } = stored;
  const text = (kind: "response" | "stderr" | "error", value: string | null) => {
    const plain = value === null ? null : opened(() => sealed.openText(kind, jobId, value));
    if (plain === null) return null;
    return kind === "response" ? redactedJson(plain, redact) : redact(plain);
  };
  return {
    ...{ attempt, outcome, status, reason, exit_code, started_at, ended_at },
    response: text("response", stored.sealed_response),
    stderr: text("stderr", stored.sealed_stderr),
    error: text("error", stored.sealed_error),
  };
}

/** What was sealed with another key cannot be shown; the rest of the job can. */
function opened(open: () => string): string | null {
  try {
    return open();
  } catch (thrown) {
    if (thrown instanceof HoldfastError && thrown.code === "secret_key_mismatch") return null;
    throw thrown;
  }
}

export function readMap(text: string): JsonMap | null {
  if (isTooDeep(text)) return null;
  try {
    // A response is kept as it was printed, with text and keys that nothing else may hold.
    const value = storableJson(JSON.parse(text));
    return isMap(value) ? (value as JsonMap) : null;
  } catch {
    // A plugin may have printed anything.
    return null;
  }
}

function resultIn(response: string | null): string | null {
  const { result } = (response === null ? null : readMap(response)) ?? {};
  return typeof result === "string" ? result : null;
}
