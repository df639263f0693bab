// A completion, told in pieces or as a whole.
import type { JsonMap } from "../../contracts/json.ts";
import { operationError } from "../../contracts/operation-error.ts";
import type { Asked } from "../chat/answer-event.ts";
import type { ChatDesk, RunOutcome } from "../chat/chat-desk.ts";
import { followAnswer, type Place } from "../chat/follow-answer.ts";
import { Refused } from "../chat/refused.ts";
import type { StreamEvent } from "../chat/stream-event.ts";
import { statusOf } from "../problem.ts";
import { wireName } from "./completion-request.ts";
import { createCompletionReader, GAP } from "./read-completion.ts";
import { waiting } from "./waiting.ts";

type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

type ToolCall = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
};

type Usage = { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number };

/** How the answer ended. `about` is what only this server tells. */
export type Ending = {
  readonly run: number;
  readonly finish_reason: FinishReason;
  readonly tool_calls: readonly ToolCall[];
  readonly usage: Usage;
  readonly about: JsonMap;
};

export type CompletionPiece = { readonly text: string } | { readonly ending: Ending };

type Telling = {
  readonly threadId: string;
  readonly events: AsyncIterable<StreamEvent>;
  readonly place: Place;
  /** Fires when nobody reads any more, or the server is to end. */
  readonly signal: AbortSignal;
};

/** Words, then how they ended. Throws `Refused` when the run failed, and what following the thread throws. */
export async function* completionPieces(desk: ChatDesk, telling: Telling): AsyncGenerator<CompletionPiece> {
  const { threadId, events, place } = telling;
  const reader = createCompletionReader();
  let run = 0;
  let isAnythingSaid = false;
  for await (const event of followAnswer(events, place)) {
    if (event.type === "begun") ({ run } = event);
    else {
      const text = reader.add(event);
      isAnythingSaid ||= text !== "";
      if (text !== "") yield { text };
    }
  }
  if (telling.signal.aborted)
    throw new Refused(operationError("server_closing", "The answer goes on without a reader."));
  if (run === 0) throw waiting(await desk.pending(threadId));
  const outcome = await desk.outcome(threadId, run);
  if (outcome?.status === "failed") throw failed(outcome);
  const asked = reader.waitsFor();
  if (asked?.kind === "approval") yield { text: (isAnythingSaid ? GAP : "") + approvalText(asked) };
  yield { ending: await endingOf(desk, { threadId, run, outcome, asked }) };
}

type Ended = {
  readonly threadId: string;
  readonly run: number;
  readonly outcome: RunOutcome | undefined;
  readonly asked: Asked | undefined;
};

async function endingOf(desk: ChatDesk, { threadId: thread_id, run, outcome, asked }: Ended): Promise<Ending> {
  const tool_calls = asked?.kind === "client_tool" ? [await callOf(desk, asked)] : [];
  return {
    run,
    finish_reason: tool_calls.length > 0 ? "tool_calls" : finishReason(outcome),
    tool_calls,
    usage: usageOf(outcome),
    about: {
      ...{ thread_id, run, status: outcome?.status ?? "running" },
      ...(asked && { waiting_for: { request_id: asked.request_id, kind: asked.kind, summary: asked.summary } }),
    },
  };
}

async function callOf(desk: ChatDesk, { request_id, tool_name, input }: Asked): Promise<ToolCall> {
  const whole = (await desk.wholeInput(request_id)) ?? input;
  return {
    id: request_id,
    type: "function",
    function: { name: wireName(tool_name), arguments: JSON.stringify(whole) },
  };
}

/** Limits of every kind are told as the one limit that there is a word for. */
function finishReason(outcome: RunOutcome | undefined): FinishReason {
  const { status = "", finish_reason } = outcome ?? {};
  if (finish_reason === "content-filter") return "content_filter";
  const isCut = finish_reason === "length" || ["max_turns", "budget_exceeded", "limit_reached"].includes(status);
  return isCut ? "length" : "stop";
}

function usageOf(outcome: RunOutcome | undefined): Usage {
  const { prompt_tokens = 0, completion_tokens = 0, total_tokens } = (outcome?.usage ?? {}) as Partial<Usage>;
  return { prompt_tokens, completion_tokens, total_tokens: total_tokens ?? prompt_tokens + completion_tokens };
}

/** Nothing in this protocol asks a person, so it is said in words, and what to answer stands beside them. */
function approvalText({ request_id, summary, tool_name }: Asked): string {
  return `[Waiting for approval: ${summary === "" ? tool_name : summary} (request ${request_id})]`;
}

/** What went wrong is never the mistake of who asked. */
function failed({ failure }: RunOutcome): Refused {
  const { message, code } = failure ?? {};
  const words = typeof message === "string" && message !== "" ? message : "The run failed.";
  const isTelling = typeof code === "string" && statusOf(code) >= 500;
  return new Refused(operationError(isTelling ? code : "provider_turn_failed", words));
}
