// Chats of the AI SDK: an unchanged `useChat` talks with a thread. The id of the chat is the caller's own name for the
// thread, and the thread is the truth: what the browser believes about the past is not asked.
import type { Context } from "hono";
import { readJson } from "../body.ts";
import { type ChatDesk, type ChatThread, createChatDesk } from "../chat/chat-desk.ts";
import { afterNextMessage } from "../chat/follow-answer.ts";
import { Refused } from "../chat/refused.ts";
import { sinceAsked } from "../chat/since-asked.ts";
import type { Mount, ServerEnv, ServerHost } from "../door.ts";
import { eventStream } from "../event-stream.ts";
import { problem } from "../problem.ts";
import { answerFrames, streamHeaders } from "./answer-frames.ts";
import { beginOf, type Taken, takeIn } from "./chat-post.ts";
import { readChatRequest } from "./chat-request.ts";
import type { HistoryMessage } from "./history.ts";
import { readHistory, readPageQuery } from "./read-history.ts";
import { createShownWhole, type ShownWhole } from "./shown-whole.ts";

type ChatContext = Context<ServerEnv>;

/** Where chats are: with the agent in the path, or with one that is named or chosen. */
const PATHS = ["/api/chat", "/api/agents/:agent/chat"] as const;

export const chatDoor: Mount = (app, host) => {
  const shown = createShownWhole();
  for (const path of PATHS) {
    app.post(path, (context) => told(context, host, (desk) => post(context, host, desk)));
    app.get(`${path}/:id`, (context) => told(context, host, (desk) => history(context, desk, shown)));
    app.get(`${path}/:id/stream`, (context) => told(context, host, (desk) => resume(context, host, desk, shown)));
  }
};

/** Answers, or tells why not. */
async function told(
  context: ChatContext,
  { holdfast }: ServerHost,
  answer: (desk: ChatDesk) => Promise<Response>,
): Promise<Response> {
  try {
    return await answer(createChatDesk(holdfast, context.get("principal")));
  } catch (thrown) {
    if (thrown instanceof Refused) return problem(context, thrown.refusal);
    throw thrown;
  }
}

async function post(context: ChatContext, host: ServerHost, desk: ChatDesk): Promise<Response> {
  const refusal = context.get("holdStream")?.();
  if (refusal) throw new Refused(refusal);
  const read = await readJson(context);
  if ("refusal" in read) throw new Refused(read.refusal);
  const request = readChatRequest(read.body);
  const agent = context.req.param("agent") ?? request.agent ?? context.req.query("agent");
  const thread = agent === undefined ? await openAny(desk, request.id) : await desk.open(request.id, agent);
  return await stream(context, host, desk, { thread, ...(await takeIn(desk, thread, request)) });
}

/** A chat that was opened with another agent than the usual one stays with it. */
async function openAny(desk: ChatDesk, key: string): Promise<ChatThread> {
  try {
    return await desk.open(key, await desk.defaultAgent());
  } catch (thrown) {
    const isTaken = thrown instanceof Refused && thrown.refusal.code === "thread_key_taken";
    const found = isTaken ? await desk.find(key) : undefined;
    if (found) return found;
    throw thrown;
  }
}

async function stream(
  context: ChatContext,
  { closing }: ServerHost,
  desk: ChatDesk,
  { thread, from, ...taken }: Taken & { readonly thread: ChatThread },
): Promise<Response> {
  const leaving = new AbortController();
  const { id: threadId } = thread;
  const events = await desk.follow(threadId, from, leaving.signal);
  const frames = answerFrames(desk, { threadId, events, ...taken });
  return eventStream(context, frames, { closing, leaving, headers: streamHeaders });
}

/** The conversation as a page shows it that was loaded anew: the end of it, and where what comes before it is. */
async function history(context: ChatContext, desk: ChatDesk, shown: ShownWhole): Promise<Response> {
  const wanted = readPageQuery(context.req.query());
  const thread = await desk.find(context.req.param("id") ?? "");
  if (!thread) return context.json([]);
  const page = await readHistory(desk, thread.id, wanted);
  if (page.before !== undefined) context.header("Link", nextPage(context, page.before));
  if (wanted.before === undefined) {
    if (thread.status === "waiting") await fillIn(desk, thread.id, page.messages);
    if (thread.status !== "running") shown.add(thread.id, thread.position);
  }
  return context.json(page.messages);
}

function nextPage({ req }: ChatContext, before: number): string {
  const query = new URLSearchParams({ ...req.query(), before: String(before) });
  return `<${req.path}?${query}>; rel="next"`;
}

/** The call that a client is to run comes with all that it takes. */
async function fillIn(desk: ChatDesk, threadId: string, messages: readonly HistoryMessage[]): Promise<void> {
  const part = messages.at(-1)?.parts.at(-1);
  if (!part || !("toolCallId" in part) || part.state !== "input-available") return;
  const request = (await desk.pending(threadId)).find(({ kind }) => kind === "client_tool");
  if (request) part.input = (await desk.wholeInput(request.id)) ?? part.input;
}

/** The answer that is being given, or the last one to a page that may not have been told all of it, from its beginning. */
async function resume(context: ChatContext, host: ServerHost, desk: ChatDesk, shown: ShownWhole): Promise<Response> {
  const thread = await desk.find(context.req.param("id") ?? "");
  if (!thread) return context.body(null, 204);
  const { id, run, position, status, at_rest } = thread;
  // A run that waited when it was shown may have gone on since.
  if (at_rest && (run === 0 || shown.take(id, position))) return context.body(null, 204);
  // The run that is told also tells when there was nothing more to wait for.
  const from = run === 0 ? {} : { run };
  if (!at_rest && (status === "idle" || status === "stopped")) {
    // What it is to answer was left for it, and waits to be taken in.
    return await stream(context, host, desk, { thread, from, place: afterNextMessage(run + 1) });
  }
  const { asked } = await sinceAsked(desk, id, run);
  return await stream(context, host, desk, { thread, from, place: beginOf({ run, seq: asked?.seq ?? null }) });
}
