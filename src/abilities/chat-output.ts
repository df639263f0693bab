// What a run came to, as a chat tells it.
import type { Message } from "../contracts/conversation/message.ts";
import type { RunStatus } from "../contracts/conversation/run-control.ts";
import * as runOutcome from "../contracts/conversation/run-outcome.ts";
import { observe } from "../contracts/conversation/tool-observability.ts";
import { isMap, type JsonMap, snapshotMap } from "../contracts/json.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { RunOutcome } from "../threads/outcome.ts";
import type { Runtime } from "../threads/runtime.ts";
import type { SendOutcome, ThreadHandle } from "../threads/thread.ts";
import type { ChatOutput } from "./chat-shapes.ts";
import { plain } from "./plain.ts";

type Told = { readonly outcome: SendOutcome; readonly run_id: string; readonly principal: Principal };

export async function chatOutputOf(
  { requests, authority }: Runtime,
  thread: ThreadHandle,
  { outcome, run_id, principal }: Told,
): Promise<ChatOutput> {
  const own = (await messagesOfRun(thread, outcome.run)).filter(({ metadata }) => metadata.silent !== true);
  const said = own.filter(isSaid).map((message) => ({ role: message.role, content: wordsOf(message) }));
  const { final_content, structured_output, waiting_for } = outcome;
  const status = await runStatus(thread, outcome, run_id);
  const lastWords = said.findLast(({ role }) => role === "assistant")?.content ?? "";
  const isClientTool = waiting_for !== undefined && waiting_for.kind === "client_tool";
  const mayRun = isClientTool && (await authority.within(principal, "requests.answer"));
  return plain({
    session_id: thread.id,
    run_id,
    reply: final_content === "" ? lastWords : final_content,
    messages: said,
    completed: outcome.completed,
    status,
    ...(structured_output !== undefined && { structured_output }),
    ...(isClientTool && {
      runtime_tool_pending: {
        ...waiting_for.shown,
        // The secrets of a call are for whoever runs it.
        ...(mayRun && (await requests.open(waiting_for.request_id).catch(() => ({})))),
        request_id: waiting_for.request_id,
      },
    }),
    ...(waiting_for?.kind === "approval" && {
      approval_required: { ...waiting_for.shown, request_id: waiting_for.request_id },
    }),
    run_outcome: toldOutcome(outcome, status),
    metadata: { agents_api: { tool_observability: observed(own) } },
  });
}

/** What outcomes of threads are called where a chat has another word for them. */
const words: Readonly<Record<string, RunStatus>> = {
  max_turns: "budget_exceeded",
  limit_reached: "budget_exceeded",
  blocked: "failed",
};

/** The status of a run that has ended or waits. One that was stopped because somebody cancelled it was cancelled. */
export async function runStatus(thread: ThreadHandle, { status }: RunOutcome, runId: string): Promise<RunStatus> {
  if (status === "interrupted" && (await thread.left.stop(cancelKey(runId)))) return "cancelled";
  return words[status] ?? (status as RunStatus);
}

/** The key under which a run of a chat is stopped, once. */
export function cancelKey(runId: string): string {
  return `cancel ${runId}`;
}

function toldOutcome({ status: own, completed, failure, budget }: RunOutcome, status: RunStatus): JsonMap {
  const stop = own in words ? { stop_reason: own } : {};
  const result = { status, completed, ...(failure && { failure }), ...(budget !== undefined && { budget }) };
  return snapshotMap(runOutcome.normalize(stop, result));
}

/** How many are read at once, from the end: a run is mostly short, whatever came before it. */
const PAGE = 100;

async function messagesOfRun(thread: ThreadHandle, run: number): Promise<readonly Message[]> {
  const { next_message } = await thread.status();
  for (let count = PAGE; ; count *= 4) {
    const after = Math.max(-1, next_message - 1 - count);
    const found = await thread.messages({ after });
    if (after > -1 && (found[0]?.run ?? run) >= run) continue;
    return found.flatMap((each) => (each.run === run ? [each.message] : []));
  }
}

function isSaid({ type, role }: Message): boolean {
  const isWords = type !== "tool_call" && type !== "tool_result" && type !== "approval_required";
  return isWords && (role === "user" || role === "assistant");
}

function wordsOf({ content }: Message): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? (content as readonly unknown[]) : [content];
  return parts.flatMap((part) => (isMap(part) && typeof part.text === "string" ? [part.text] : [])).join("\n");
}

/** The calls of a run without what went in and came out. */
function observed(messages: readonly Message[]): JsonMap {
  const events: JsonMap[] = [];
  const results: JsonMap[] = [];
  for (const { type, payload, metadata } of messages) {
    const { tool_name = "" } = payload;
    const tool_call_id = metadata.tool_call_id ?? "";
    const turn_count = payload.turn ?? 0;
    if (type === "tool_call") {
      const parameters = payload.parameters ?? {};
      events.push({ type, tool_name, tool_call_id, turn_count, metadata: { parameters } });
    } else if (type === "tool_result") {
      const { success = false } = payload;
      events.push({ type, tool_name, tool_call_id, turn_count, metadata: { success, rejected: isRejected(payload) } });
      results.push({ tool_call_id, tool_name, result: payload });
    }
  }
  return observe(events, results);
}

function isRejected({ metadata }: JsonMap): boolean {
  return isMap(metadata) && metadata.error_type === "approval_rejected";
}
