// The thread in which an external conversation goes on. It acts for the conversation itself: nobody else's threads, files
// and memories are within its reach, and its own are within nobody else's.
import type { ChannelStore } from "../backend/channel-store.ts";
import type { Thread } from "../backend/thread-rows.ts";
import { sha256 } from "../contracts/canonical-json.ts";
import * as principals from "../contracts/trust/principal.ts";
import type { Host } from "../threads/host.ts";
import { openThread } from "../threads/open-thread.ts";

/** Where a conversation is held, and with whom. */
export type Conversation = {
  /** The connection: the name of a channel, or of a bridge and its client. */
  readonly connector: string;
  readonly agent: string;
  readonly id: string;
  readonly workspace?: { readonly workspace_type: string; readonly workspace_id: string };
};

/** What a database can hold in an index, with room for the rest of the key. */
const LONGEST_ID = 200;

/** The thread that goes on, or a new one: the same for everybody who asks at the same time. */
export async function conversationThread(host: Host, conversation: Conversation): Promise<Thread> {
  const { channels, threads } = host.stores;
  const { connector, agent, workspace } = conversation;
  const id = shortened(conversation.id);
  const place = { connector_id: connector, external_conversation_id: conversation.id, agent_slug: agent };
  const base = `channel:${connector}/${agent}/${id}`;
  for (let before = await channels.session(place); ; ) {
    const known = before === undefined ? undefined : await threads.get(before);
    if (known && known.terminated_at === null) return known;
    // A conversation outlives its thread: what follows is named after the one before, so that two find the same.
    const opened = await openThread(host, before === undefined ? base : `${base}/${before}`, {
      agent,
      principal: principalOf(connector, agent, id),
      ...(workspace && { workspace }),
    });
    if (opened.terminated_at === null) return await remembered(channels, place, opened);
    before = opened.id;
  }
}

async function remembered(
  channels: ChannelStore,
  place: Parameters<ChannelStore["setSession"]>[0],
  thread: Thread,
): Promise<Thread> {
  await channels.setSession(place, thread.id);
  return thread;
}

/** Somebody whom nobody here knows, told from others by where he speaks. He holds no capability of any user. */
function principalOf(connector: string, agent: string, id: string): principals.Principal {
  return principals.fromArray({
    effective_agent_id: agent,
    auth_source: "audience",
    audience_id: `channel:${connector}`,
    request_context: "channel",
    owner_type: "channel",
    owner_key: `${connector}:${id}`,
    client_id: connector,
  });
}

/** Ids of services are short; a longer one, or one that no database holds, is told from others by its hash. */
function shortened(id: string): string {
  return id.length <= LONGEST_ID && id.isWellFormed() && !id.includes("\0") ? id : `sha256-${sha256(id)}`;
}
