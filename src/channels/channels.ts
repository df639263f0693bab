// The channels of a runtime: what comes in through them is verified, read, stored and answered for, in this order.
import { agentSlug } from "../contracts/agents/agent-slug.ts";
import { admit, chatInput } from "../contracts/channels/channel-pipeline.ts";
import * as externalMessage from "../contracts/channels/external-message.ts";
import { identifier } from "../contracts/coerce.ts";
import { errorMessage, type HoldfastError, holdfastError } from "../contracts/error.ts";
import { asMap, type Json, type JsonMap, snapshot } from "../contracts/json.ts";
import {
  isOperationError,
  type OperationError,
  operationError,
  operationErrorOf,
} from "../contracts/operation-error.ts";
import type { PendingActionHost } from "../contracts/trust/stage-action.ts";
import { quietly } from "../contracts/when-ready.ts";
import type { Host } from "../threads/host.ts";
import { answerInstead, refuse } from "./answer-instead.ts";
import { type Channel, type InboundMessage, isChannel } from "./channel.ts";
import { type ChannelRequest, channelRequest, type Received } from "./channel-request.ts";
import type { Conversation } from "./conversation-thread.ts";
import { externalFields } from "./external-fields.ts";
import { leaveMessage } from "./leave-message.ts";
import { throughHooks } from "./through-hooks.ts";

/** How a request was taken: 202 once something new is stored, 200 where there is nothing more to do. */
export type Accepted = { readonly status: 200 | 202; readonly body: JsonMap | string };

export interface Channels {
  readonly names: readonly string[];
  /** Takes a request in; answers when what it brought is stored. Refuses with a value, and never throws. */
  receive(name: string, request: Received): Promise<Accepted | OperationError>;
}

/** What a host has a say with in every chat. */
export type FindHooks = () => PendingActionHost;

/** Where a request was taken. */
type At = { readonly host: Host; readonly channel: Channel; readonly hooks: PendingActionHost };

/** Throws `invalid_definition` for what is no channel, a name that is there twice, and an agent that there is not. */
export function checkChannels(channels: readonly Channel[], agents: ReadonlyMap<string, unknown>): void {
  const names = new Set<string>();
  for (const each of channels) {
    if (!isChannel(each)) throw invalid("channels must be made with channel()");
    if (names.has(each.name)) throw invalid(`name is taken by another one (channel ${each.name})`);
    if (!agents.has(each.agent)) throw invalid(`agent "${each.agent}" is not defined (channel ${each.name})`);
    names.add(each.name);
  }
}

/** `hooks`: asked when a message comes, and not before. */
export function createChannels(host: Host, channels: readonly Channel[], hooks: FindHooks = () => ({})): Channels {
  const byName = new Map(channels.map((each) => [each.name, each]));
  return {
    names: [...byName.keys()],
    async receive(name, received) {
      const found = byName.get(name);
      if (!found) return operationError("channel_not_found", `There is no channel "${name}".`);
      try {
        return await take({ host, channel: found, hooks: hooks() }, channelRequest(received, host.now()));
      } catch (thrown) {
        // What is wrong with our own database is none of the sender's business: he only comes again.
        host.report(thrown, "");
        return operationErrorOf(thrown, "internal_error");
      }
    },
  };
}

async function take(at: At, request: ChannelRequest): Promise<Accepted | OperationError> {
  const { channel } = at;
  if (!(await isVerified(channel, request))) {
    return operationError("channel_signature_invalid", "The request is not signed with the secret of this channel.");
  }
  const extracted = await read(channel, request);
  if (isOperationError(extracted)) return extracted;
  if ("answer" in extracted) return { status: 200, body: extracted.answer };
  if ("ignored" in extracted) return { status: 200, body: { status: "ignored", reason: extracted.ignored } };
  const taken: Json[] = [];
  for (const message of extracted.messages) taken.push(await takeMessage(at, message));
  const isNew = taken.some((each) => asMap(each)?.status === "accepted");
  const [only] = taken;
  const body = taken.length === 1 && only !== undefined ? (only as JsonMap) : { messages: taken };
  return { status: isNew ? 202 : 200, body };
}

/** What goes wrong while somebody is recognised recognises nobody. */
async function isVerified({ verify }: Channel, request: ChannelRequest): Promise<boolean> {
  try {
    return (await verify(request)) === true;
  } catch {
    return false;
  }
}

/** What is in the request; all of it is looked at before any of it is stored. */
async function read(channel: Channel, request: ChannelRequest) {
  try {
    const extracted = await channel.extract(request);
    if (!("messages" in extracted)) return extracted;
    return { messages: extracted.messages.map(checked) };
  } catch (thrown) {
    return operationError("channel_payload_invalid", `The request cannot be read: ${errorMessage(thrown)}`);
  }
}

function checked(message: InboundMessage): InboundMessage {
  const message_id = identifier(message.message_id);
  if (message_id === undefined) throw new TypeError("a message has no id");
  return { ...(snapshot(message) as unknown as InboundMessage), message_id };
}

async function takeMessage({ host, channel, hooks }: At, message: InboundMessage): Promise<JsonMap> {
  const { provider, seenSeconds } = channel;
  const { message_id } = message;
  if (message.from_self) return { status: "ignored", reason: "from_self", message_id };
  const { channels: known } = host.stores;
  const scope = `${channel.name}:${provider}`;
  if (await known.seen(scope, message_id)) return { status: "duplicate", message_id };
  const admitted = await admit(message, {
    validate: channel.validate,
    read: (given) => externalMessage.normalize(externalFields(given, { client_name: channel.name, provider })),
    sendError: (text) => refuse(channel, message, text),
  });
  if (isOperationError(admitted)) return { status: "ignored", reason: admitted.code, message_id };
  const conversation: Conversation = {
    connector: channel.name,
    agent: channel.agent,
    // Without a name of its own a conversation is as long as its one message.
    id: admitted.external_conversation_id ?? `message:${message_id}`,
    ...(channel.workspace && { workspace: channel.workspace }),
  };
  const session = hooks.hooks ? await knownSession(host, conversation) : null;
  const input = chatInput(admitted, { agent: agentSlug(channel.agent), client_name: channel.name }, session);
  const answer = await throughHooks(hooks, input, async () => {
    const left = await leaveMessage(host, {
      ...{ place: { conversation }, provider, message: { ...message, text: admitted.text } },
      client_context: input.client_context as JsonMap,
      route: { kind: "channel", name: channel.name },
    });
    return { session_id: left.thread_id, status: left.outcome === "repeated" ? "duplicate" : "accepted" };
  });
  const instead = answer.passed ? undefined : await answerInstead(channel, message, answer.value);
  // Behind the message itself: one that is marked before it is stored would be lost with the process.
  await known.markSeen(scope, message_id, seenSeconds);
  if (!answer.passed) return { ...instead };
  const { status, session_id: thread_id } = answer.result;
  if (status === "accepted") quietly(() => channel.onProcessingStart?.({ message, thread_id }));
  return { status, message_id };
}

/** The thread in which the conversation went on last. */
async function knownSession(host: Host, { connector, agent, id }: Conversation): Promise<string | null> {
  const place = { connector_id: connector, external_conversation_id: id, agent_slug: agent };
  return (await host.stores.channels.session(place)) ?? null;
}

function invalid(detail: string): HoldfastError {
  return holdfastError("invalid_definition", detail);
}
