// Agents for clients of OpenAI: a model is an agent, and a completion is a run of one of its threads.
import type { Context } from "hono";
import { operationError } from "../../contracts/operation-error.ts";
import { readJson } from "../body.ts";
import { type ChatDesk, createChatDesk } from "../chat/chat-desk.ts";
import { Refused, refusalOf } from "../chat/refused.ts";
import type { Mount, ServerEnv, ServerHost } from "../door.ts";
import { eventStream, type Frame } from "../event-stream.ts";
import { problem, problemOf } from "../problem.ts";
import { type CompletionPiece, completionPieces, type Ending } from "./completion.ts";
import { type CompletionRequest, checkTools, readCompletionRequest } from "./completion-request.ts";
import { converse } from "./conversation.ts";
import { openAiError } from "./openai-errors.ts";

type CompletionContext = Context<ServerEnv>;

/** Names the thread that a request is part of. */
const THREAD_HEADER = "x-holdfast-thread";

export const openAiDoor: Mount = (app, host) => {
  app.get("/v1/models", (context) => told(context, host, (desk) => models(context, desk)));
  app.get("/v1/models/:model", (context) => told(context, host, (desk) => model(context, desk)));
  app.post("/v1/chat/completions", (context) => told(context, host, (desk) => complete(context, host, desk)));
};

async function told(
  context: CompletionContext,
  { holdfast }: ServerHost,
  answer: (desk: ChatDesk) => Promise<Response>,
): Promise<Response> {
  try {
    return await answer(createChatDesk(holdfast, context.get("principal")));
  } catch (thrown) {
    // Clients repeat what failed by themselves, and without a key the tools would run a second time.
    const headers = context.req.header("idempotency-key") === undefined ? { "x-should-retry": "false" } : {};
    return problem(context, refusalOf(thrown), headers);
  }
}

async function models(context: CompletionContext, desk: ChatDesk): Promise<Response> {
  return context.json({ object: "list", data: (await desk.agents()).map(({ slug }) => shownModel(slug)) });
}

async function model(context: CompletionContext, desk: ChatDesk): Promise<Response> {
  const slug = context.req.param("model") ?? "";
  if ((await desk.agents()).some((agent) => agent.slug === slug)) return context.json(shownModel(slug));
  throw new Refused(
    operationError("agent_not_found", `There is no agent "${slug}" that the caller may use.`, { param: "model" }),
  );
}

function shownModel(slug: string) {
  return { id: slug, object: "model", created: 0, owned_by: "holdfast" };
}

async function complete(context: CompletionContext, host: ServerHost, desk: ChatDesk): Promise<Response> {
  const read = await readJson(context);
  if ("refusal" in read) throw new Refused(read.refusal);
  const request = readCompletionRequest(read.body);
  checkTools(request, host.holdfast.agents.get(request.model)?.tools.keys() ?? []);
  const refusal = request.stream === true ? context.get("holdStream")?.() : undefined;
  if (refusal) throw new Refused(refusal);
  const { threadId, from, place } = await converse(desk, request, {
    threadKey: context.req.header(THREAD_HEADER) ?? request.metadata?.thread,
    key: context.req.header("idempotency-key"),
  });
  const leaving = new AbortController();
  // Whoever writes a stream notices by itself when nobody reads it any more.
  const signal = request.stream === true ? leaving.signal : AbortSignal.any([context.req.raw.signal, host.closing]);
  const events = await desk.follow(threadId, from, signal);
  const pieces = completionPieces(desk, { threadId, place, events, signal });
  const about = { created: Math.floor(Date.now() / 1_000), model: request.model };
  if (request.stream === true) {
    const frames = completionFrames(pieces, request, { ...about, threadId }, context.get("requestId"));
    return eventStream(context, frames, { closing: host.closing, leaving });
  }
  return context.json(await wholeCompletion(pieces, { ...about, threadId }));
}

type About = { readonly created: number; readonly model: string; readonly threadId: string };

async function wholeCompletion(pieces: AsyncIterable<CompletionPiece>, { threadId, ...about }: About): Promise<object> {
  let content = "";
  let ending: Ending | undefined;
  for await (const piece of pieces) {
    if ("text" in piece) content += piece.text;
    else ({ ending } = piece);
  }
  const { run, finish_reason, tool_calls = [], usage, about: holdfast } = ending ?? ({} as Partial<Ending>);
  const message = {
    ...{ role: "assistant", content: content === "" && tool_calls.length > 0 ? null : content, refusal: null },
    ...(tool_calls.length > 0 && { tool_calls }),
  };
  return {
    ...{ id: `chatcmpl-${threadId}-${run}`, object: "chat.completion", ...about },
    choices: [{ index: 0, message, finish_reason, logprobs: null }],
    ...{ usage, holdfast },
  };
}

async function* completionFrames(
  pieces: AsyncIterable<CompletionPiece>,
  { stream_options }: CompletionRequest,
  { threadId, ...about }: About,
  requestId: string,
): AsyncGenerator<Frame> {
  const hasUsage = stream_options?.include_usage === true;
  const chunk = (more: object): Frame => {
    const body = {
      id: `chatcmpl-${threadId}`,
      object: "chat.completion.chunk",
      ...about,
      ...(hasUsage && { usage: null }),
      ...more,
    };
    return { data: JSON.stringify(body) };
  };
  const choice = (delta: object, finish_reason: string | null = null) => [
    { index: 0, delta, finish_reason, logprobs: null },
  ];
  try {
    yield chunk({ choices: choice({ role: "assistant", content: "" }) });
    for await (const piece of pieces) {
      if ("text" in piece) {
        yield chunk({ choices: choice({ content: piece.text }) });
        continue;
      }
      const { tool_calls, finish_reason, usage, about: holdfast } = piece.ending;
      for (const [index, call] of tool_calls.entries()) {
        yield chunk({ choices: choice({ tool_calls: [{ index, ...call }] }) });
      }
      yield chunk({ choices: choice({}, finish_reason), holdfast });
      if (hasUsage) yield chunk({ choices: [], usage });
    }
  } catch (thrown) {
    yield { data: JSON.stringify(openAiError(problemOf(refusalOf(thrown), requestId))) };
  }
  yield { data: "[DONE]" };
}
