// What a channel does with a message from outside: is it for us, what is said, which session goes on, what the chat comes
// to, and what is sent back. Sessions, the chat and the sender are ports, so that it is the same in one process or in two.
import { trim, trimmed } from "../coerce.ts";
import { asMap, isMap, type JsonMap, seal, type UnknownMap } from "../json.ts";
import { isOperationError, type OperationError, operationError } from "../operation-error.ts";
import type { ExternalMessage } from "./external-message.ts";
import { clientContext } from "./external-message.ts";

/** What a channel is called, and whom it speaks to. */
export type ChannelIdentity = {
  readonly agent: string;
  /** The name that the chat is told; the connector has it too unless it has one of its own. */
  readonly client_name: string;
};

export type ChannelPorts<Payload> = {
  readonly channel: ChannelIdentity;
  /** An error refuses the message. Its words are sent back, unless its code is `silent_skip`. */
  readonly validate?: ((payload: Payload) => OperationError | undefined) | undefined;
  readonly read: (payload: Payload) => ExternalMessage;
  readonly session: (conversationId: string) => Promise<string | undefined>;
  readonly remember: (conversationId: string, sessionId: string) => Promise<void>;
  /** Runs the chat ability; absent where there is none. */
  readonly chat?: ((input: JsonMap) => Promise<unknown>) | undefined;
  readonly sendResponse: (text: string) => Promise<void>;
  readonly sendError: (text: string) => Promise<void>;
  readonly onProcessingStart?: (() => unknown) | undefined;
  readonly onProcessingEnd?: (() => unknown) | undefined;
  readonly onComplete?: ((status: DeliveryStatus) => unknown) | undefined;
};

export type DeliveryStatus = "sent" | "failed";

/** `status` is absent for what never came to a chat. */
export type Handled = {
  readonly status?: DeliveryStatus;
  readonly result?: UnknownMap;
  readonly error?: OperationError;
};

/** Refuses without a word: a message that is not for us. */
const SILENT_SKIP = "silent_skip";

/** Said where nothing better is known. */
const APOLOGY = "Sorry, something went wrong. Please try again later.";

/** The message, or why it is not answered. Whoever sent it is told unless it is none of his business. */
export async function admit<Payload>(
  payload: Payload,
  { validate, read, sendError }: Pick<ChannelPorts<Payload>, "validate" | "read" | "sendError">,
): Promise<ExternalMessage | OperationError> {
  const refused = validate?.(payload);
  if (refused) {
    if (refused.code !== SILENT_SKIP) await sendError(refused.message);
    return refused;
  }
  const message = read(payload);
  return message.text === "" ? operationError("empty_message", "There is nothing to answer.") : message;
}

/** What the chat ability is asked for a message. */
export function chatInput(message: ExternalMessage, channel: ChannelIdentity, sessionId: string | null): JsonMap {
  const { agent, client_name } = channel;
  return seal({
    agent,
    message: message.text,
    session_id: sessionId,
    attachments: message.attachments,
    client_context: seal({ ...clientContext(message), client_name }),
  });
}

/** The whole way of one message. What a sender throws is thrown on, after `onComplete`. */
export async function handle<Payload>(payload: Payload, ports: ChannelPorts<Payload>): Promise<Handled> {
  const message = await admit(payload, ports);
  if (isOperationError(message)) return { error: message };
  const { external_conversation_id: conversation } = message;
  const sessionId = conversation === null ? null : ((await ports.session(conversation)) ?? null);
  let result: UnknownMap | OperationError;
  ports.onProcessingStart?.();
  try {
    result = await converse(message, sessionId, ports);
  } finally {
    ports.onProcessingEnd?.();
  }
  let status: DeliveryStatus = "failed";
  try {
    status = await deliver(result, { conversation, sessionId }, ports);
  } finally {
    ports.onComplete?.(status);
  }
  return isOperationError(result) ? { status, error: result } : { status, result };
}

async function converse<Payload>(
  message: ExternalMessage,
  sessionId: string | null,
  { chat, channel }: ChannelPorts<Payload>,
): Promise<UnknownMap | OperationError> {
  if (!chat) return operationError("chat_ability_unavailable", "");
  const result = await chat(chatInput(message, channel, sessionId));
  if (isOperationError(result)) return result;
  return asMap(result) ?? operationError("chat_ability_invalid_result", "");
}

type Place = { readonly conversation: string | null; readonly sessionId: string | null };

async function deliver<Payload>(
  result: UnknownMap | OperationError,
  { conversation, sessionId }: Place,
  { remember, sendResponse, sendError }: ChannelPorts<Payload>,
): Promise<DeliveryStatus> {
  if (isOperationError(result)) {
    await sendError(trimmed(result.message) ?? APOLOGY);
    return "failed";
  }
  const session = trimmed(result.session_id);
  if (conversation !== null && session !== undefined && session !== sessionId) await remember(conversation, session);
  const replies = repliesOf(result);
  if (replies.length === 0) {
    await sendError(APOLOGY);
    return "failed";
  }
  for (const reply of replies) await sendResponse(reply);
  return "sent";
}

/** The reply, or where there is none what the assistant said message by message. */
function repliesOf({ reply, messages }: UnknownMap): readonly string[] {
  const whole = trimmed(reply);
  if (whole !== undefined) return [whole];
  const said = Array.isArray(messages) ? messages.filter(isMap) : [];
  return said.flatMap(({ role, content }) => {
    const text = role === "assistant" && typeof content === "string" ? trim(content) : "";
    return text === "" ? [] : [text];
  });
}

/** Takes a payload in: at once, or as a job for later where the channel names one. */
export async function receive<Payload>(
  payload: Payload,
  {
    jobAction,
    schedule,
    run,
  }: {
    readonly jobAction: string;
    readonly schedule: (action: string, payload: Payload) => Promise<void>;
    readonly run: (payload: Payload) => Promise<Handled>;
  },
): Promise<Handled | undefined> {
  if (jobAction === "") return await run(payload);
  await schedule(jobAction, payload);
  return undefined;
}
