// The results of client tools that a turn brings: each answers the request of the thread that waits for that call.

import type { Message } from "../contracts/conversation/message.ts";
import { isMap, type Json } from "../contracts/json.ts";
import { jsonOrText } from "../contracts/json-or-text.ts";
import { type OperationError, operationError } from "../contracts/operation-error.ts";
import type { Answer, Request } from "../threads/requests/requests.ts";
import type { Runtime } from "../threads/runtime.ts";
import type { ThreadHandle } from "../threads/thread.ts";
import { defined } from "./defined.ts";
import type { Caller } from "./operation.ts";

/** Submits every result of a continuation; undefined when all were taken, this time or before. */
export async function answerClientTools(
  { requests, authority }: Runtime,
  thread: ThreadHandle,
  continuation: readonly Message[],
  { principal }: Pick<Caller, "principal">,
): Promise<OperationError | undefined> {
  if (!(await authority.within(principal, "requests.answer"))) {
    return operationError("ability_forbidden", "Results of tools take the capability requests.answer.");
  }
  for (const message of continuation) {
    if (message.type !== "tool_result") continue;
    const { tool_call_id } = message.metadata;
    const asked = await newestRequest(requests, thread.id, tool_call_id);
    if (!asked) {
      const detail = `The chat does not wait for the result of call "${String(tool_call_id ?? "")}".`;
      return operationError("agents_chat_tool_call_not_found", detail, { status: 404 });
    }
    await requests.submit(asked.id, answerIn(message), { thread: thread.id, principal: { ...principal } });
  }
  return undefined;
}

const PAGE = 500;

/** Providers use ids again: what waits comes first, then what was asked last. */
async function newestRequest(
  requests: Runtime["requests"],
  thread: string,
  toolCallId: unknown,
): Promise<Request | undefined> {
  if (typeof toolCallId !== "string") return undefined;
  const isMeant = ({ shown }: Request) => shown.tool_call_id === toolCallId;
  const query = { thread, kind: "client_tool", limit: PAGE } as const;
  const pending = (await requests.list({ ...query, status: "pending" })).findLast(isMeant);
  if (pending) return pending;
  let newest: Request | undefined;
  for (let after: string | undefined; ; ) {
    const page = await requests.list({ ...query, ...defined({ after }) });
    newest = page.findLast(isMeant) ?? newest;
    if (page.length < PAGE) return newest;
    after = page.at(-1)?.id;
  }
}

/** A result stands in the payload, and where it does not its text is the content, as JSON if it is that. */
function answerIn({ payload, content }: Message): Answer {
  const { error, success } = payload;
  if (typeof error === "string" && success !== true) return { error };
  if (payload.result !== undefined) return { result: unwrapped(payload.result) };
  return { result: typeof content === "string" ? jsonOrText(content) : content };
}

/** A result as executors give it holds the value beside how it went. */
function unwrapped(result: Json): Json {
  return isMap(result) && result.success === true && "result" in result ? ((result.result ?? null) as Json) : result;
}
