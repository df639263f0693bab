// A channel as the vectors describe it: what it is sent, what the chat answers, and a log of what it does.
import * as pipeline from "../../src/contracts/channels/channel-pipeline.ts";
import { normalize } from "../../src/contracts/channels/external-message.ts";
import type { JsonMap, UnknownMap } from "../../src/contracts/json.ts";
import { operationError } from "../../src/contracts/operation-error.ts";

type Payload = {
  readonly text: string;
  readonly invalid?: string;
  readonly sender?: string;
  readonly room?: string;
  readonly files?: readonly unknown[];
};

type ChannelCase = {
  readonly channel?: {
    readonly agent?: string;
    readonly provider?: string;
    readonly external_id?: string | null;
    readonly client_name?: string;
  };
  readonly ability?: boolean;
  readonly chat_results: readonly unknown[];
  readonly inbound: readonly Payload[];
};

type Log = (string | undefined)[][];

export async function handleInbound({ channel = {}, ability = true, chat_results, inbound }: ChannelCase) {
  const { agent = "writer", provider = "slack", external_id = "C1", client_name = "slack-bot" } = channel;
  const sessions = new Map<string, string>();
  const seen: unknown[] = [];
  for (const [index, payload] of inbound.entries()) {
    const log: Log = [];
    let asked: JsonMap | null = null;
    let status: string | null = null;
    const { error } = await pipeline.handle(payload, {
      channel: { agent, client_name },
      validate: ({ invalid }) => (invalid === undefined ? undefined : operationError(invalid, "bad input")),
      read: ({ text, sender, room, files }) =>
        normalize({
          ...{ text, connector_id: client_name, external_provider: provider, attachments: files },
          ...{ external_conversation_id: external_id, sender_id: sender, room_kind: room },
        }),
      session: async (conversation) => sessions.get(conversation),
      remember: async (conversation, session) => void sessions.set(conversation, session),
      chat: ability
        ? async (input) => {
            asked = input;
            return chatResult(chat_results[index]);
          }
        : undefined,
      sendResponse: async (text) => void log.push(["send_response", text]),
      sendError: async (text) => void log.push(["send_error", text]),
      onProcessingStart: () => log.push(["processing_start"]),
      onProcessingEnd: () => log.push(["processing_end"]),
      onComplete: (done) => {
        status = done;
        log.push(["complete"]);
      },
    });
    seen.push({ log, payload: asked, status, result_error: error?.code ?? null });
  }
  return seen;
}

function chatResult(given: unknown): unknown {
  const { error } = (given ?? {}) as { error?: { code: string; message: string } };
  return error ? operationError(error.code, error.message) : given;
}

export async function receiveInbound({ job_action, payload }: { job_action: string; payload: Payload & UnknownMap }) {
  const scheduled: unknown[] = [];
  let log: unknown = [];
  await pipeline.receive(payload, {
    jobAction: job_action,
    schedule: async (action, given) => void scheduled.push({ action, args: [given] }),
    run: async (given) => {
      const [handled] = await handleInbound({ chat_results: [{ reply: "ok" }], inbound: [given] });
      log = (handled as { log: unknown }).log;
      return {};
    },
  });
  return { scheduled, log };
}
