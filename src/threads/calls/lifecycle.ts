// The tools of a side that mean something for the session: what their calls say is kept for whoever waits for the session.
import type { Write } from "../../backend/write.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
import { normalizePath } from "../../contracts/standard/file-path.ts";
import { type Binding, payloadOf } from "../../contracts/standard/lifecycle-binding.ts";
import { canonicalName } from "../../contracts/tools/declaration.ts";
import * as toolResult from "../../contracts/tools/result.ts";
import type { HeldThread } from "../held-thread.ts";
import type { Host } from "../host.ts";
import type { ThreadRun } from "../thread-run.ts";

export type Lifecycle = { readonly means: "stop" | "fail" | "status"; readonly binding: Binding };

/** What ended the session: `attachments` are paths of this thread. */
export type SessionEnd = {
  readonly status: "success" | "failure";
  readonly text: string;
  readonly attachments: readonly string[];
};

/** What a call of the tool means; undefined for most tools. A prompt that speaks for a call is bound to nothing. */
export function lifecycleOf({ cast, working }: ThreadRun, toolName: string): Lifecycle | undefined {
  if (working.outer.length > 0) return undefined;
  const { sessionFail, sessionStop, sessionStatus } = cast.definition;
  const isBound = (binding: Binding | undefined): binding is Binding =>
    binding !== undefined && canonicalName(binding.name, working.config.tools) === toolName;
  if (isBound(sessionFail)) return { means: "fail", binding: sessionFail };
  if (isBound(sessionStop)) return { means: "stop", binding: sessionStop };
  return isBound(sessionStatus) ? { means: "status", binding: sessionStatus } : undefined;
}

/** The result in place of running the tool when a file that its call names is not there: the session goes on. */
export async function missingFiles(
  { stores }: Host,
  { id }: HeldThread,
  { binding }: Lifecycle,
  parameters: JsonMap,
): Promise<toolResult.ToolResult | undefined> {
  const missing: string[] = [];
  for (const path of payloadOf(binding, parameters, "").attachments ?? []) {
    const file = isConfined(path) ? await stores.files.get(id, normalizePath(path)) : undefined;
    if (!file || file.is_directory) missing.push(JSON.stringify(path));
  }
  if (missing.length === 0) return undefined;
  const error = `There is no file ${missing.join(", ")}. Nothing was reported; name a file that is there, or none.`;
  return toolResult.failure(binding.name, error, { error_type: "file_not_found" });
}

function isConfined(path: string): boolean {
  try {
    normalizePath(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Under these names a thread keeps what would end its session, until that is delivered. One answer may hold several of
 * them, and which one counts is known only after its last call.
 */
export const SESSION_ENDS = {
  session_fail: "holdfast:session_fail",
  session_stop: "holdfast:session_stop",
  state_stop_session: "holdfast:state_stop_session",
} as const;

/** What the success of a bound call leaves behind. */
export function lifecycleWrites(
  { thread }: HeldThread,
  { means, binding }: Lifecycle,
  parameters: JsonMap,
  resultText: string,
): readonly Write[] {
  const { text, attachments } = payloadOf(binding, parameters, resultText);
  if (means !== "status") {
    const [code, status] =
      means === "stop" ? (["session_stop", "success"] as const) : (["session_fail", "failure"] as const);
    return [keptEnd(thread.id, code, { status, text, attachments: attachments ?? [] })];
  }
  return thread.child ? [{ write: "child_status", thread_id: thread.id, status: text }] : [];
}

export function keptEnd(threadId: string, code: keyof typeof SESSION_ENDS, end: SessionEnd): Write {
  return { write: "value", thread_id: threadId, key: SESSION_ENDS[code], value: JSON.stringify(end) };
}

export function readEnd(stored: string | undefined): SessionEnd | null {
  const end: unknown = stored === undefined ? null : JSON.parse(stored);
  return isMap(end) ? (end as SessionEnd) : null;
}
