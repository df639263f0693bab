// From what a tool returned to the result that is stored: its form, its files, what hooks make of it, and what it means for
// the session. All of that is part of the call, and is committed with it.
import * as message from "../../contracts/conversation/message.ts";
import { errorMessage } from "../../contracts/error.ts";
import { isMap, type JsonMap, snapshot, type UnknownMap } from "../../contracts/json.ts";
import { contentText } from "../../contracts/standard/content-text.ts";
import type { Attachment, StandardToolCall } from "../../contracts/standard/standard-message.ts";
import type { ToolCall } from "../../contracts/tools/call.ts";
import { redact } from "../../contracts/tools/exposure.ts";
import type { HookToolResult } from "../definitions/hook.ts";
import type { HeldThread } from "../held-thread.ts";
import { hookedMessage } from "../hooks/hooked-message.ts";
import { runHook } from "../hooks/run-hook.ts";
import type { Host } from "../host.ts";
import { runState } from "../run-state.ts";
import { messageAttachments } from "../state/message-attachments.ts";
import { KeptWrites } from "../state/state-buffer.ts";
import type { ThreadRun } from "../thread-run.ts";
import type { Tool } from "../tool.ts";
import { type LeftBehind, nothingLeft } from "./left-behind.ts";
import { keptEnd, type Lifecycle, lifecycleWrites } from "./lifecycle.ts";
import type { ToolOutcome } from "./run-tool.ts";
import { isPending, shownReturn, shownThrow } from "./shown-outcome.ts";
import { standardResult } from "./standard-result.ts";

type Finishing = {
  readonly host: Host;
  readonly held: HeldThread;
  readonly run: ThreadRun;
  readonly tool: Tool;
  readonly call: ToolCall;
  readonly lifecycle: Lifecycle | undefined;
};

type Thrown = { readonly threw: unknown };

/** Tools of agents in short form are taken at their word, unless somebody hooks in. */
export async function finishCall(about: Finishing, given: ToolOutcome | Thrown): Promise<ToolOutcome> {
  const { run, tool } = about;
  const outcome = shown(given, about);
  const isPlain = !tool.name.startsWith("standard/") && about.lifecycle === undefined && run.hooks.size === 0;
  if (isPlain || ("returned" in outcome && isPending(outcome.returned))) {
    if ("threw" in outcome) throw outcome.threw;
    return { ...outcome, left: withSession(about, outcome.left) };
  }
  return await finishStandard(about, outcome);
}

/** Whatever a tool came to, without the secrets that it was given, has read or returns. Hooks see no more of it. */
function shown(outcome: ToolOutcome | Thrown, { run, tool }: Finishing): ToolOutcome | Thrown {
  if ("threw" in outcome) return { threw: shownThrow(outcome.threw, run.secrets) };
  return { ...outcome, returned: shownReturn(outcome.returned, run.secrets, tool.secretOutput) };
}

async function finishStandard(about: Finishing, outcome: ToolOutcome | Thrown): Promise<ToolOutcome> {
  const { host, held, run, tool, lifecycle, call } = about;
  const kept = new KeptWrites({ hasRun: true });
  const before = "left" in outcome ? outcome.left : nothingLeft;
  kept.writes.push(...before.writes);
  kept.entries.push(...before.entries);
  const raw = "threw" in outcome ? { success: false, error: errorMessage(outcome.threw) } : outcome.returned;
  const hooked = await hookResult(about, kept, viewOf(raw));
  const given = standardResult(hooked.result);
  const scope = { thread: held.thread, buffer: kept };
  const { attachments, writes } = await messageAttachments(host, scope, given.attachments ?? []);
  kept.writes.push(...writes);
  const text = given.success ? resultText(given.result) : given.error;
  const listed = attachments.length > 0 && lifecycle === undefined;
  const told = listed ? `${text}\n\nFiles: ${attachments.map(({ path }) => path).join(", ")}` : text;
  const shown = hooked.isDropped ? told : await hookMessage(told, given.success, attachments);
  if (given.success && lifecycle) {
    const told = redact(call.parameters, tool.declaration);
    kept.writes.push(...lifecycleWrites(held, lifecycle, told, text));
  }
  const metadata = {
    ...metadataOf(raw),
    ...(attachments.length > 0 && { attachments }),
    ...(hooked.isDropped && { removed: true }),
  };
  const result = given.success
    ? { success: true, result: typeof given.result === "string" || shown !== text ? shown : (given.result ?? shown) }
    : { success: false, error: shown };
  const made = { ...result, tool_name: tool.name, ...(Object.keys(metadata).length > 0 && { metadata }) };
  // What hooks have made of it may hold what they have read.
  const returned = run.hooks.size > 0 ? shownReturn(made, run.secrets) : made;
  const left: LeftBehind = {
    writes: kept.writes,
    entries: kept.entries,
    events: [...before.events, ...kept.events],
    control: { ...before.control, ...kept.control },
  };
  // What a failed call asked for it has not come to ask.
  return { returned, left: given.success ? withSession(about, left) : { ...left, control: {} } };

  function viewOf(value: unknown): HookToolResult {
    const read = standardResult(value);
    const files = read.attachments ? { attachments: read.attachments } : {};
    if (!read.success) return { status: "error", error: read.error, ...files };
    return { status: "success", result: snapshot(read.result ?? null), ...files };
  }

  /** The words of the result as hooks want them stored. */
  async function hookMessage(words: string, success: boolean, files: readonly Attachment[]): Promise<string> {
    if (!run.hooks.has("before_create_message")) return words;
    const { id, function: made } = standardCall(about);
    const metadata = { tool_call_id: id, attachments: files };
    const row = message.toolResult({ content: words, tool_name: made.name, payload: { success }, metadata });
    const scopeOfHook = { host, state: runState(host, held, run, kept, tool) };
    return contentText((await hookedMessage(run.hooks, scopeOfHook, row)).content);
  }

  async function hookResult(_about: Finishing, buffer: KeptWrites, view: HookToolResult) {
    if (run.hooks.size === 0) return { result: view as UnknownMap, isDropped: false };
    const scopeOfHook = { host, state: runState(host, held, run, buffer, tool) };
    const made = standardCall(about);
    await runHook(run.hooks, "tool_call_done", scopeOfHook, made, view);
    const name = view.status === "success" ? "after_tool_call_success" : "after_tool_call_failure";
    const after = await runHook(run.hooks, name, scopeOfHook, made, view);
    if ("dropped" in after) return { result: view as UnknownMap, isDropped: true };
    const stored = await runHook(run.hooks, "before_store_tool_result", scopeOfHook, made, after.value);
    return { result: ("value" in stored ? stored.value : after.value) as UnknownMap, isDropped: false };
  }
}

/** The call that is open, as hooks see it. */
export function standardCall({ call, run }: Pick<Finishing, "call" | "run">): StandardToolCall {
  const { id = "", name = call.tool_name, exposure } = run.working.call ?? {};
  // Hooks are shown what everybody is shown of a call.
  const args = JSON.stringify(exposure?.parameters ?? {});
  return { id, type: "function", function: { name, arguments: args } };
}

function metadataOf(returned: unknown): JsonMap {
  const metadata = isMap(returned) ? returned.metadata : undefined;
  return isMap(metadata) ? (snapshot(metadata) as JsonMap) : {};
}

function resultText(result: unknown): string {
  if (result === undefined || result === null || result === "") return "The tool succeeded.";
  return typeof result === "string" ? result : JSON.stringify(result);
}

/** What code ends the session with is kept like what a bound tool ends it with. */
function withSession({ held, run }: Finishing, left: LeftBehind): LeftBehind {
  const { session } = left.control;
  if (!session) return left;
  const { result = "", ...rest } = session;
  const end = keptEnd(held.id, "state_stop_session", {
    status: session.status,
    text: run.secrets.clean(result),
    attachments: [],
  });
  return { ...left, writes: [...left.writes, end], control: { ...left.control, session: rest } };
}
