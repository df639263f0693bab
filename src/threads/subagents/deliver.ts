// What a child's last commit of a run tells its parent, how it settles in the parent's registry, and whether it ends there.
import type { NewEntry } from "../../backend/inbox.ts";
import type { ChildLink } from "../../backend/new-thread.ts";
import type { StoredRequest } from "../../backend/request-store.ts";
import type { Thread } from "../../backend/thread-rows.ts";
import type { Write } from "../../backend/write.ts";
import { stableHash } from "../../contracts/canonical-json.ts";
import * as message from "../../contracts/conversation/message.ts";
import { HoldfastError } from "../../contracts/error.ts";
import { type JsonMap, snapshot } from "../../contracts/json.ts";
import * as words from "../../contracts/standard/child-messages.ts";
import type { Host } from "../host.ts";
import { createEntry } from "../new-entry.ts";
import { awaitedRequest, keptRequest } from "../requests/awaited-request.ts";
import { copyFiles } from "../state/copy-files.ts";
import { type CopiedFiles, noFiles } from "./child-order.ts";

/** How a run of the child ended. */
export type ChildEnd = {
  /** The reason, as a word. */
  readonly code: string;
  /** What a tool or code said when it ended the session; null when nothing did. */
  readonly session: {
    readonly status: "success" | "failure";
    readonly text: string;
    /** Paths of the child's files. */
    readonly attachments: readonly string[];
  } | null;
  /** What was said last. */
  readonly lastMessage: string;
  /** False: the parent is not to be told, unless it waits. */
  readonly notifies: boolean;
  /** Its agent has tools that end the session: to stop without them is a failure. */
  readonly bindsTerminalTools: boolean;
  /** What went wrong, where something did. */
  readonly failure?: string;
  /** What the same commit writes for the child before. */
  readonly writes?: readonly Write[];
};

export type Delivery = {
  readonly writes: readonly Write[];
  /** What the child's own history keeps of it, when something was handed over. */
  readonly notice: message.Message | null;
  readonly status: string;
  readonly terminates: boolean;
};

/** Nothing for a thread that is nobody's child, and for one that was terminated: its parent was told then. */
export async function deliveryOf(host: Host, child: Thread, end: ChildEnd): Promise<Delivery> {
  const { id, parent_id: parentId, child: link } = child;
  if (parentId === null || link === null) return { writes: [], notice: null, status: "idle", terminates: false };
  if (await isTerminated(host, child)) return { writes: [], notice: null, status: "terminated", terminates: true };
  const awaited = await requestOf(host, { id, parentId, link }, end.writes ?? []);
  const speaks = end.notifies && link.parent_communication === "implicit";
  const said = saidBy(end);
  const told = awaited || speaks ? await handOver(host, { id, parentId, link, end, said }) : undefined;
  const success = told?.report.success ?? said.success;
  const status = success ? "idle" : "failed";
  const terminates = !link.resumable;
  const writes: Write[] = [
    ...(told
      ? [...told.files.writes, awaited ? answer(parentId, awaited, link, told) : entry(parentId, link, told)]
      : []),
    ...(awaited ? [keptRequest(id, null)] : []),
    { write: "child_status", thread_id: id, status },
    ...(terminates ? [terminated(id)] : []),
  ];
  return { writes, notice: told ? noticeOf(parentId, success) : null, status, terminates };
}

/** Read anew: somebody may have terminated it while it ran. */
async function isTerminated({ stores }: Host, { id, terminated_at }: Thread): Promise<boolean> {
  return terminated_at !== null || (await stores.threads.get(id))?.terminated_at != null;
}

type Said = { readonly success: boolean; readonly text: string; readonly attachments: readonly string[] };

function saidBy({ code, session, lastMessage, bindsTerminalTools, failure }: ChildEnd): Said {
  if (session) return { success: session.status === "success", text: session.text, attachments: session.attachments };
  if (bindsTerminalTools) return { success: false, text: words.endedWithoutTool(code, failure), attachments: [] };
  if (failure !== undefined) return { success: false, text: words.endedEarly(code, failure), attachments: [] };
  return { success: true, text: lastMessage, attachments: [] };
}

type Family = { readonly id: string; readonly parentId: string; readonly link: ChildLink };

/** What the parent is waiting on, if the run that has ended was about that. */
async function requestOf(
  host: Host,
  { id, link }: Family,
  writes: readonly Write[],
): Promise<StoredRequest | undefined> {
  if (!link.blocking) return undefined;
  const requestId = await awaitedRequest(host, id, writes);
  const request = requestId === undefined ? undefined : await host.stores.requests.get(requestId);
  return request?.status === "pending" ? request : undefined;
}

type Told = { readonly report: words.ChildReport; readonly files: CopiedFiles };

/** The report with the files copied. A result whose files are not there any more is told as a failure, with its words. */
async function handOver(
  host: Host,
  { id, parentId, link, end, said }: Family & { readonly end: ChildEnd; readonly said: Said },
): Promise<Told> {
  const about = { reference: id, name: link.thread_name };
  try {
    // Whatever the child has it may hand over, wherever it has put it.
    const from = { from: id, fromBuffer: { writes: end.writes ?? [] }, anywhere: true };
    const { attachments: paths } = said;
    const files = paths.length === 0 ? noFiles : await copyFiles(host, { ...from, to: parentId, paths });
    const places = files.copied.map(({ attachment }) => attachment.path);
    return { report: { ...about, ...said, text: words.withPaths(said.text, files.copied), paths: places }, files };
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError) || !FILE_PROBLEMS.has(thrown.code)) throw thrown;
    const text = words.filesNotHandedOver(said.text, thrown.detail);
    return { report: { ...about, success: false, text, paths: [] }, files: noFiles };
  }
}

const FILE_PROBLEMS: ReadonlySet<string> = new Set([
  "file_not_found",
  "invalid_file_path",
  "file_is_directory",
  "too_many_files",
]);

function attachmentsOf({ files }: Told): JsonMap {
  if (files.copied.length === 0) return {};
  return { attachments: snapshot(files.copied.map(({ attachment }) => attachment)) };
}

function answer(parentId: string, { id }: StoredRequest, link: ChildLink, told: Told): Write {
  const { reference, name, success, text, paths } = told.report;
  const metadata = { subagent_id: reference, ...attachmentsOf(told) };
  const body: JsonMap = success
    ? { success, result: { text, reference, name, status: "idle", attachments: paths }, metadata }
    : { success, error: words.failureNote(told.report), metadata: { ...metadata, error_type: "subagent_failed" } };
  const written = { body: JSON.stringify(body), payload_hash: stableHash(body) };
  // Somebody may stop the parent just now: then it finds the result in its inbox.
  return { write: "answer", thread_id: parentId, request_id: id, ...written, otherwise: messageFor(link, told) };
}

/** A silent message, written by whoever the side that owns the child listens to. */
function entry(parentId: string, link: ChildLink, told: Told): Write {
  return { write: "entry", thread_id: parentId, entry: messageFor(link, told) };
}

function messageFor({ side }: ChildLink, told: Told): NewEntry {
  const role = side === "a" ? "user" : "assistant";
  const metadata = { subagent_id: told.report.reference, ...attachmentsOf(told) };
  return createEntry.queuedMessage({ role, content: words.reportNote(told.report), metadata }, { silent: true });
}

function terminated(id: string): Write {
  return { write: "terminate", thread_id: id, stop: createEntry.stop("The subagent has delivered what it was for.") };
}

function noticeOf(parentId: string, success: boolean): message.Message {
  return message.text("system", words.handoffNote(success), {
    silent: true,
    status_kind: "subagent_event",
    subagent_event: "parent_handoff",
    handoff_kind: success ? "result" : "failure",
    parent_thread_id: parentId,
  });
}
