// Everything that creates a run, as one list of writes: it is there with its inputs and its subject, or not at all.

import { callerIdentity } from "../../abilities/caller-identity.ts";
import type { NewEntry } from "../../backend/inbox.ts";
import type { NewThread } from "../../backend/new-thread.ts";
import type { StoredSubject } from "../../backend/subject-store.ts";
import type { Write } from "../../backend/write.ts";
import { firstHash } from "../../contracts/audit/chain.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { Json, JsonMap } from "../../contracts/json.ts";
import * as principals from "../../contracts/trust/principal.ts";
import type { WorkflowSpec } from "../../contracts/workflows/spec.ts";
import { specHash } from "../../contracts/workflows/spec-hash.ts";
import { type RunNotes, sealRunBody } from "./run-body.ts";
import type { RunHost } from "./run-host.ts";
import { RUN_STATE_VERSION } from "./run-state.ts";

/** The run above a new one. */
export type ParentRun = {
  readonly id: string;
  readonly user_id: string | null;
  /** What the parent waits on; null when it does not wait. */
  readonly requestId: string | null;
  readonly name: string;
  /** It lives on when its parent ends. */
  readonly isDetached: boolean;
};

export type RunOrder = {
  readonly id?: string;
  readonly workflow: WorkflowSpec;
  readonly inputs: JsonMap;
  readonly notes: RunNotes;
  readonly continueOnError: boolean;
  readonly tags: readonly string[];
  /** Under which the same start is the same run; any unless given. */
  readonly key: string | null;
  readonly user_id?: string | null;
  readonly subject?: StoredSubject | null;
  readonly parent?: ParentRun;
  /** How many runs stand above it. */
  readonly depth?: number;
  /** Why it cannot begin. */
  readonly refused?: JsonMap;
  /** The run that it repeats from a step on, with the position of that step. */
  readonly rerun?: { readonly of: string; readonly startsAt: number };
};

export type MadeRun = {
  readonly id: string;
  readonly thread: NewThread;
  /** Those that belong to the row of the thread, and then the same with that row. */
  readonly own: readonly Write[];
  readonly writes: readonly Write[];
};

export function newRun({ threads }: Pick<RunHost, "threads">, order: RunOrder): MadeRun {
  const {
    workflow,
    inputs,
    notes,
    continueOnError,
    tags,
    key,
    parent,
    refused,
    rerun,
    subject = null,
    depth = 0,
  } = order;
  const id = order.id ?? crypto.randomUUID();
  const isChild = parent !== undefined && !parent.isDetached;
  const thread: NewThread = {
    ...{ id, kind: "workflow", key: `holdfast:workflow:${key ?? id}`, agent: "", budget: null },
    ...{ state_version: RUN_STATE_VERSION, hash: firstHash(id), arguments: null, tags },
    parent_id: isChild ? parent.id : null,
    user_id: parent?.user_id ?? order.user_id ?? null,
    child: isChild ? linkOf(parent, workflow.id) : null,
    child_status: isChild ? "running" : null,
    subject: isChild ? null : subject,
  };
  const body = sealRunBody(threads.sealing, id, {
    ...{ spec: workflow.raw, inputs, notes, continue_on_error: continueOnError },
    ...(refused && { refused }),
    ...(depth > 0 && { depth }),
    ...(rerun && { starts_at: rerun.startsAt }),
  });
  const own: Write[] = [
    {
      write: "workflow_run",
      run: {
        ...{ run_id: id, workflow_id: workflow.id, spec_hash: specHash(workflow.raw), body, tags },
        payload_hash: threads.sealing.bind(
          { ...{ workflow: workflow.raw, inputs, tags, notes }, continueOnError, subject: subjectOf(subject) },
          `holdfast:workflow:${key ?? id}`,
        ),
        rerun_of: rerun?.of ?? null,
      },
    },
  ];
  return { id, thread, own, writes: [{ write: "thread", thread }, ...own, begin(id)] };
}

export type Started = { readonly id: string; readonly outcome: "started" | "repeated" };

/**
 * Writes the run in one transaction, with `more` of it. Under a key that was used before it is the run of that key: throws
 * `workflow_key_taken` if that one is another.
 */
export async function writeRun(
  { threads: { stores, onCrashPoint } }: Pick<RunHost, "threads">,
  made: MadeRun,
  more: readonly Write[] = [],
): Promise<Started> {
  await onCrashPoint("before start");
  const { outcome, thread } = await stores.threads.open(made.thread, [...made.own, ...more, begin(made.id)]);
  await onCrashPoint("after start");
  if (outcome === "opened" || thread.id === made.id) return { id: thread.id, outcome: "started" };
  const before = await stores.workflows.get(thread.id);
  const now = made.own.find((write) => write.write === "workflow_run");
  if (before && now?.write === "workflow_run" && before.payload_hash === now.run.payload_hash) {
    return { id: thread.id, outcome: "repeated" };
  }
  throw holdfastError("workflow_key_taken", "The key belongs to a run of another workflow, or with other inputs.");
}

/** A run begins by being due: an entry that it takes with its first commit wakes it in the transaction that creates it. */
export function begin(id: string): Write {
  const entry: NewEntry = {
    ...({ id: `begin:${id}`, kind: "resume", body: "{}", operation: "begin", idempotency_key: "begin" } as const),
    ...{ payload_hash: "", wakes_stopped: true, urgent: false },
  };
  return { write: "entry", thread_id: id, entry };
}

function linkOf({ requestId, name }: ParentRun, workflow: string): NewThread["child"] {
  return {
    ...{ agent: "", relationship: "workflow", side: "a", title: workflow, description: "", blocking: true },
    ...{ resumable: false, receives_messages: "side_a", parent_communication: "implicit", thread_name: name },
    ...{ spawn_group: null, request_id: requestId },
  };
}

/** As whom and where the steps act: a start that differs in that is another one. */
function subjectOf(subject: StoredSubject | null): Json {
  if (!subject) return null;
  const { principal, workspace_type, workspace_id } = subject;
  return { principal: callerIdentity(principals.fromArray(JSON.parse(principal))), workspace_type, workspace_id };
}
