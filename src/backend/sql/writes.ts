// What a batch writes beside a thread's own history, statement by statement. Rows of a thread that is gone are not made.
import type { Statement } from "../sql-driver.ts";
import type { NewFile, Write } from "../write.ts";
import { changeEffect, forgetEffects, scheduleEffect } from "./effects.ts";
import { leaveAnswer, leaveEntry } from "./leave.ts";
import { forgetMemory, keepMemory } from "./memory-statements.ts";
import { insertArguments, insertThread } from "./new-thread.ts";
import { insertRequest } from "./requests.ts";
import { insertSubject } from "./subjects.ts";
import { terminateStatements } from "./terminate.ts";
import { changeInSessions, eraseFromSessions, transcriptStatements } from "./transcript.ts";
import { changeWorkflowStatus, insertWorkflowRun, keepWorkflowStep, removeWorkflowStep } from "./workflow-writes.ts";

/** `holder`: the thread whose lease the batch is written under, if any. */
export function writeStatements(write: Write, holder: string | null): readonly Statement[] {
  switch (write.write) {
    case "value":
      return [keepValue(write.thread_id, write.key, write.value)];
    case "user_value":
      return [keepUserValue(write.user_id, write.key, write.value)];
    case "variable":
      return [keepVariable(write)];
    case "file":
      return keepFile(write.thread_id, write.file);
    case "file_gone":
      return [{ sql: "delete from files where thread_id = $1 and path = $2", params: [write.thread_id, write.path] }];
    case "effect":
      return scheduleEffect(write.thread_id, write.effect, writerOf(write.thread_id, holder));
    case "effect_change":
      return write.to === "completed" || write.to === "failed"
        ? [changeEffect(write), forgetEffects(write.thread_id)]
        : [changeEffect(write)];
    case "thread":
      return [
        { ...insertThread(write.thread), expect: 1 },
        ...insertArguments(write.thread),
        ...insertSubject(write.thread),
      ];
    case "entry":
      return leaveEntry(write.thread_id, write.entry, write);
    case "answer":
      return leaveAnswer(write.thread_id, write.request_id, write);
    case "request":
      return [insertRequest(write.thread_id, write.run, write.request, { unlessTerminated: true })];
    case "child_status":
      return [showChild(write.thread_id, write.status)];
    case "agent":
      return [{ sql: "update threads set agent = $2 where id = $1", params: [write.thread_id, write.agent] }];
    case "transcript":
      return transcriptStatements(write);
    case "transcript_changed":
      return changeInSessions(write.thread_id, write.from);
    case "transcript_erased":
      return eraseFromSessions(write.thread_id, write.seqs);
    case "memory":
      return keepMemory(write, { byAgent: true });
    case "memory_gone":
      return [forgetMemory(write.scope, { byAgent: true })];
    case "workflow_run":
      return insertWorkflowRun(write.run);
    case "workflow_status":
      return [changeWorkflowStatus(write)];
    case "workflow_step":
      return [keepWorkflowStep(write)];
    case "workflow_step_gone":
      return [removeWorkflowStep(write)];
    case "terminate":
      return terminateStatements(write.thread_id, write.stop);
    default:
      return write satisfies never;
  }
}

function writerOf(threadId: string, holder: string | null) {
  if (holder === null) return "somebody outside";
  return holder === threadId ? "its holder" : "another thread";
}

function keepValue(threadId: string, key: string, value: string | null): Statement {
  if (value === null) {
    return { sql: "delete from thread_values where thread_id = $1 and name = $2", params: [threadId, key] };
  }
  const sql = `insert into thread_values (thread_id, name, value) select id, $2, $3 from threads where id = $1
    on conflict (thread_id, name) do update set value = excluded.value`;
  return { sql, params: [threadId, key, value] };
}

function keepUserValue(userId: string, key: string, value: string | null): Statement {
  if (value === null) {
    return { sql: "delete from user_values where user_id = $1 and name = $2", params: [userId, key] };
  }
  const sql = `insert into user_values (user_id, name, value) values ($1, $2, $3)
    on conflict (user_id, name) do update set value = excluded.value`;
  return { sql, params: [userId, key, value] };
}

type VariableWrite = Extract<Write, { write: "variable" }>;

function keepVariable({ thread_id, name, sealed, type, inherited }: VariableWrite): Statement {
  if (sealed === null) {
    return { sql: "delete from variables where thread_id = $1 and name = $2", params: [thread_id, name] };
  }
  const sql = `insert into variables (thread_id, name, sealed, type, inherited)
    select id, $2, $3, $4, $5 from threads where id = $1
    on conflict (thread_id, name) do update
      set sealed = excluded.sealed, type = excluded.type, inherited = excluded.inherited`;
  return { sql, params: [thread_id, name, sealed, type, inherited ? 1 : 0] };
}

function keepFile(threadId: string, file: NewFile): readonly Statement[] {
  const { path, name, mime_type, size, is_directory, hash, width, height, metadata, content } = file;
  const sql = `insert into files (thread_id, path, name, mime_type, size, is_directory, hash, width, height, metadata,
      created_at)
    select id, $2, $3, $4, $5, $6, $7, $8, $9, $10, now_us() from threads
    where id = $1 and ($7 = '' or exists (select 1 from blobs where blobs.hash = $7))
    on conflict (thread_id, path) do update
      set name = excluded.name, mime_type = excluded.mime_type, size = excluded.size,
        is_directory = excluded.is_directory, hash = excluded.hash, width = excluded.width, height = excluded.height,
        metadata = excluded.metadata`;
  const named = [path, name, mime_type, size, is_directory ? 1 : 0, hash, width, height, metadata];
  return [...keepContent(hash, content), { sql, params: [threadId, ...named] }];
}

function keepContent(hash: string, content: Uint8Array | undefined): readonly Statement[] {
  if (!content) return [];
  const sql = "insert into blobs (hash, size, content) values ($1, $2, $3) on conflict (hash) do nothing";
  return [{ sql, params: [hash, content.byteLength, content] }];
}

/** A line or two: it is for a list. */
const LONGEST_STATUS = 2_000;

/** A terminated child stays shown as what it is. */
function showChild(threadId: string, status: string): Statement {
  const sql = "update threads set child_status = $2 where id = $1 and child is not null and terminated_at is null";
  // No text of a database may hold a zero.
  return { sql, params: [threadId, status.replaceAll("\0", "").slice(0, LONGEST_STATUS)] };
}
