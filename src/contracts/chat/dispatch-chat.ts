// One turn of a chat: who answers is found, the run id is taken, and whatever comes back is either a record or a refusal.
import { randomBytes } from "node:crypto";
import { identifier, scalarText } from "../coerce.ts";
import { runControlStatus } from "../conversation/run-outcome.ts";
import type { Hooks } from "../hooks.ts";
import { asMap, type JsonMap, seal, snapshotMap } from "../json.ts";
import { isOperationError, type OperationError, operationError } from "../operation-error.ts";
import type { ChatHandlers } from "./chat-handlers.ts";
import { namedFields, safeInput, statedPrincipal } from "./chat-input.ts";
import { type ClaimHost, claimRun } from "./claim-run.ts";
import { chatRunContext, type RunContextHost } from "./run-context.ts";

export type ChatHost = RunContextHost &
  ClaimHost & {
    readonly handlers?: Pick<ChatHandlers, "find"> | undefined;
    readonly hooks?: Hooks | undefined;
  };

/** A refusal, and the word by which listeners know it. */
type Failure = { readonly error: OperationError; readonly reason?: string };

/**
 * What the handler answers, with the run id that was taken for it. Every refusal tells `chatDispatchFailed`; what a handler
 * throws is thrown on, after its run was marked as failed.
 */
export async function dispatchChat(input: unknown, host: ChatHost): Promise<JsonMap | OperationError> {
  const given = safeInput(input);
  const answer = await answered(given, host);
  if (!("error" in answer)) return answer.output;
  const { error, reason = error.code } = answer;
  host.hooks?.emit("chatDispatchFailed", reason, given);
  return error;
}

async function answered(given: JsonMap, host: ChatHost): Promise<{ readonly output: JsonMap } | Failure> {
  const stated = statedPrincipal(given);
  if (isOperationError(stated)) return { error: stated };
  const context = await chatRunContext(given, host);
  if (isOperationError(context)) return { error: context };
  const run_id = identifier(given.run_id) ?? newRunId();
  const request = seal({ ...given, run_id });
  const found = host.handlers?.find(request);
  const handler = (await host.hooks?.apply("chatHandler", found ?? null, request)) ?? found;
  if (!handler) return { error: noHandler, reason: "no_handler" };

  const session_id = identifier(given.session_id);
  const agent = scalarText(given.agent) ?? "";
  const claim = await claimRun({ ...context, run_id, session_id, agent }, host);
  if (isOperationError(claim)) return { error: claim };
  let answer: unknown;
  try {
    answer = await handler(request);
  } catch (thrown) {
    await claim.finish("failed");
    throw thrown;
  }
  const record = isOperationError(answer) ? undefined : asMap(answer);
  if (record === undefined) {
    await claim.finish("failed");
    return isOperationError(answer) ? { error: answer } : { error: invalidResult, reason: "invalid_result" };
  }
  const output: JsonMap = seal({ ...namedFields(snapshotMap(record)), run_id });
  const begun = identifier(output.session_id);
  const refusal = begun === undefined ? undefined : await claim.bind(begun);
  await claim.finish(refusal ? "failed" : runControlStatus(output));
  return refusal ? { error: refusal } : { output };
}

/** A run id that nobody has used. */
export function newRunId(): string {
  return `run_${randomBytes(16).toString("hex")}`;
}

const noHandler = operationError("agents_chat_no_handler", "Nobody here answers in chats.");
const invalidResult = operationError("agents_chat_invalid_result", "The handler did not answer with a map.");
