// Takes a message in: the message and the reply that is owed for it are stored together, so that whoever was told that it
// was received will be answered, whatever happens to this process.
import { sha256 } from "../contracts/canonical-json.ts";
import { HoldfastError } from "../contracts/error.ts";
import { isMap, type JsonMap } from "../contracts/json.ts";
import { isMediaType } from "../contracts/standard/mime-type.ts";
import type { Host } from "../threads/host.ts";
import { createEntry } from "../threads/new-entry.ts";
import { withFiles } from "../threads/sent-files.ts";
import { directBuffer } from "../threads/state/direct-buffer.ts";
import type { AttachmentInput } from "../threads/state/thread-state.ts";
import type { InboundMessage } from "./channel.ts";
import { type Conversation, conversationThread } from "./conversation-thread.ts";
import { asArguments, type RouteName } from "./route.ts";

export const DELIVER_REPLY = "holdfast/deliver-reply";

export type Left = {
  readonly outcome: "stored" | "repeated";
  readonly thread_id: string;
  /** The message among those of its thread. */
  readonly entry_id: string;
};

/** Where a message belongs: in a conversation, or in a thread that is known already. */
export type Place = { readonly conversation: Conversation } | { readonly thread_id: string };

export type Arrived = {
  readonly place: Place;
  readonly provider: string;
  readonly route: RouteName;
  readonly message: InboundMessage;
  /** What the agent is told of where it came from. */
  readonly client_context: JsonMap;
};

/** A thread may end between being found and being written to; the conversation then goes on in another one. */
const MOST_THREADS = 3;

/** Stores a message once, however often it comes. */
export async function leaveMessage(host: Host, arrived: Arrived): Promise<Left> {
  const { place } = arrived;
  if ("thread_id" in place) return await leaveIn(host, place.thread_id, arrived);
  for (let tries = 1; ; tries++) {
    const { id } = await conversationThread(host, place.conversation);
    try {
      return await leaveIn(host, id, arrived);
    } catch (thrown) {
      const isOver = thrown instanceof HoldfastError && endedCodes.has(thrown.code);
      if (!isOver || tries === MOST_THREADS) throw thrown;
    }
  }
}

const endedCodes: ReadonlySet<string> = new Set(["thread_terminated", "thread_not_found"]);

/** The agent's work comes before the reply to it: effects and messages of a thread come in the order of their times. */
const AFTER_THE_MESSAGE_US = 1_000;

async function leaveIn(host: Host, thread_id: string, arrived: Arrived): Promise<Left> {
  const { provider, route, message, client_context } = arrived;
  const { attachments = [], ...kept } = message;
  const files = attachments.filter(isFile);
  const others = attachments.filter((each) => !isFile(each));
  const metadata = { client_context, ...(others.length > 0 && { external_attachments: others }) };
  const content = await withFiles(host, thread_id, { role: "user", content: message.text, metadata }, files);
  const key = `${provider}:${message.message_id}`;
  const entry = createEntry.message(content, { key: key.length <= LONGEST_KEY ? key : sha256(key) });
  const delivery = {
    route,
    entry_id: entry.id,
    message: kept,
    received_at: host.now(),
    failures: 0,
    failing_since: null,
  };
  const args = host.sealing.seal(JSON.stringify(asArguments(delivery)), thread_id);
  const effect = {
    // The same for the same message: a repeat finds the reply owed, or sent, and owes no second one.
    id: `reply-${sha256(key)}`,
    ...{ name: DELIVER_REPLY, args, after: AFTER_THE_MESSAGE_US, manual_run: false, replayed_from: null },
  };
  await directBuffer(host, thread_id).write(
    { write: "entry", thread_id, entry },
    { write: "effect", thread_id, effect },
  );
  const fate = await host.stores.inbox.fate(thread_id, entry.id);
  return { outcome: fate ? "stored" : "repeated", thread_id, entry_id: entry.id };
}

const LONGEST_KEY = 500;

type NewFile = Extract<AttachmentInput, { readonly data: string }>;

function isFile(attachment: unknown): attachment is NewFile {
  if (!isMap(attachment)) return false;
  const { name, mimeType, data } = attachment;
  return typeof name === "string" && typeof mimeType === "string" && isMediaType(mimeType) && typeof data === "string";
}
