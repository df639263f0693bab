// A channel: how messages of people elsewhere come in, whether they are what they claim to be, and how replies go out.
import { createBrand } from "../contracts/brand.ts";
import { foldConnector } from "../contracts/channels/connector-slug.ts";
import { trimmed } from "../contracts/coerce.ts";
import { holdfastError } from "../contracts/error.ts";
import { isMap, type Json, type JsonMap, type UnknownMap } from "../contracts/json.ts";
import type { OperationError } from "../contracts/operation-error.ts";
import type { ChannelRequest } from "./channel-request.ts";
import { type SecretOptions, verifiedBy } from "./verify-secret.ts";

/** What somebody elsewhere has said, as a channel reads it out of a request. */
export type InboundMessage = {
  readonly text: string;
  /** Names the message: the same one is never answered twice. Without it nobody would know it again. */
  readonly message_id: string;
  /** What goes on under the same name is one conversation. Without it every message is one of its own. */
  readonly conversation_id?: string | null;
  readonly sender_id?: string | null;
  readonly room_kind?: "dm" | "group" | "channel" | null;
  /** True for what the agent itself has sent. */
  readonly from_self?: boolean;
  /** New files as `{ name, mimeType, data }` with base64; anything else is told to the agent as it is. */
  readonly attachments?: readonly Json[];
  /** What `send` needs to find the way back. It is stored with the message. */
  readonly reply_to?: JsonMap;
};

/** What a request comes to: messages, an answer to the service itself, or nothing that is for us. */
export type Extracted =
  | { readonly messages: readonly InboundMessage[] }
  | { readonly answer: JsonMap | string }
  | { readonly ignored: string };

export type OutboundMessage = {
  readonly text: string;
  /** `reply`: what the agent says. `notice`: that it waits for somebody. `error`: that nothing came of it. */
  readonly kind: "reply" | "notice" | "error";
  /** The same for every attempt to send this text: a receiver that keeps them receives it once. */
  readonly idempotency_key: string;
  readonly conversation_id: string | null;
  /** What was said, to which this is the answer. */
  readonly in_reply_to: string;
  readonly sender_id: string | null;
  readonly reply_to: JsonMap;
  readonly thread_id: string;
};

/** Nothing for a message that was sent. What is thrown counts as `later`. */
export type SendOutcome =
  | undefined
  | { readonly outcome: "later"; readonly reason: string; readonly afterMs?: number }
  /** It will not be taken, however often it is tried. */
  | { readonly outcome: "refused"; readonly reason: string };

export type Send = (
  message: OutboundMessage,
  options: { readonly signal: AbortSignal },
) => Promise<SendOutcome> | Promise<void>;

type Moment = { readonly message: InboundMessage; readonly thread_id: string };

export type ChannelOptions = {
  /** Small letters, digits and dashes: `POST /channels/<name>`. */
  readonly name: string;
  /** The slug of the agent that answers. */
  readonly agent: string;
  /** The service behind it; the name of the channel unless given. */
  readonly provider?: string;
  /** Whether a request is what it claims to be. */
  readonly verify?: (request: ChannelRequest) => boolean | Promise<boolean>;
  /** In place of `verify`: an HMAC-SHA256 of the body in a header. Several while one takes the place of another. */
  readonly secret?: string | readonly string[];
  readonly signature?: SecretOptions;
  /** Reads messages out of a request that was verified. What it throws refuses the request. */
  readonly extract: (request: ChannelRequest) => Extracted | Promise<Extracted>;
  readonly send: Send;
  /** Refuses a message; the words of the error are sent back, unless its code is `silent_skip`. */
  readonly validate?: (message: InboundMessage) => OperationError | undefined;
  /** Where threads of this channel act. */
  readonly workspace?: { readonly workspace_type: string; readonly workspace_id: string };
  /** Told to the person while the agent waits for somebody else; null to say nothing. */
  readonly waitingText?: string | null;
  /** How long a reply is tried to be sent; a day unless given. */
  readonly giveUpAfterMs?: number;
  /** How long a message is known again when its thread is gone; a week unless given. */
  readonly seenSeconds?: number;
  /** The message is stored, and will be answered. */
  readonly onProcessingStart?: (moment: Moment) => unknown;
  /** The agent is done. */
  readonly onProcessingEnd?: (moment: Moment) => unknown;
  /** The reply was sent, or it was given up. */
  readonly onComplete?: (moment: Moment & { readonly status: "sent" | "failed" }) => unknown;
};

/** A channel, ready to be listed in `createHoldfast({ channels })`. */
export type Channel = Omit<ChannelOptions, "secret" | "signature"> &
  Required<Pick<ChannelOptions, "provider" | "verify" | "waitingText" | "giveUpAfterMs" | "seenSeconds">>;

const DAY_MS = 86_400_000;
const WEEK_SECONDS = 604_800;
const WAITING = "This needs somebody's decision first. The answer will come here.";

const channels = createBrand();

/** True for what `channel` has made. */
export function isChannel(value: unknown): value is Channel {
  return isMap(value) && channels.has(value);
}

/** Defines a channel. Throws `invalid_definition` with the field that is wrong. */
export function channel(options: ChannelOptions): Channel {
  const given: UnknownMap = isMap(options) ? options : {};
  const name = foldConnector(given.name);
  const invalid = (detail: string) => holdfastError("invalid_definition", `${detail} (channel ${name})`);
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) throw invalid("name must be small letters, digits and dashes");
  if (trimmed(given.agent) === undefined) throw invalid("agent must be the slug of an agent");
  for (const field of ["extract", "send"]) {
    if (typeof given[field] !== "function") throw invalid(`${field} must be a function`);
  }
  if ((given.verify === undefined) === (given.secret === undefined)) {
    throw invalid("verify or secret must be given, and not both: whoever knows the address could speak otherwise");
  }
  if (given.verify !== undefined && typeof given.verify !== "function") throw invalid("verify must be a function");
  const secrets = [options.secret ?? []].flat();
  if (given.secret !== undefined && (secrets.length === 0 || secrets.some((secret) => trimmed(secret) === undefined))) {
    throw invalid("secret must not be blank");
  }
  const { secret, signature, ...rest } = options;
  const made: Channel = {
    waitingText: WAITING,
    giveUpAfterMs: DAY_MS,
    seenSeconds: WEEK_SECONDS,
    ...rest,
    name,
    provider: foldConnector(given.provider) || name,
    verify: options.verify ?? verifiedBy(secrets, signature),
  };
  channels.mark(made);
  return Object.freeze(made);
}
