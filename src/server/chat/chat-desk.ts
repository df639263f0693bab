// What chats ask of the runtime, for one caller: every line of it is a call of an ability.
import type { z } from "zod";
import { FOLLOW_THREAD } from "../../abilities/follow.ts";
import { isRefusal } from "../../abilities/operation.ts";
import type { standingShape, threadShape } from "../../abilities/shapes.ts";
import type { Json, JsonMap } from "../../contracts/json.ts";
import { operationError } from "../../contracts/operation-error.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { Holdfast } from "../../holdfast.ts";
import type { ThreadMessage } from "./message-text.ts";
import { Refused } from "./refused.ts";
import type { StreamEvent } from "./stream-event.ts";

export type ChatThread = z.output<typeof threadShape>;
type FoundThread = z.output<typeof standingShape>;

export type NumberedMessage = {
  readonly seq: number;
  readonly run: number;
  readonly step: number;
  readonly message: ThreadMessage;
};

export type PendingRequest = {
  readonly id: string;
  readonly thread_id: string;
  readonly run: number;
  readonly kind: "client_tool" | "approval" | "child" | "variables";
  readonly tool_name: string;
  readonly shown: JsonMap;
};

export type Attachment = { readonly name: string; readonly mimeType: string; readonly data: string };

type Message = { readonly content: string; readonly attachments?: readonly Attachment[]; readonly key?: string };

/** A message that was left. `run`: the one that has taken it in, when it was left before and that is all that is known. */
export type Sent = { readonly id: string; readonly position: string | null; readonly run: number | null };

/** Where a thread is followed from: after an event, from the beginning of a run, or from its own. */
export type From = { readonly after?: string; readonly run?: number };

type MessagesPage = { readonly messages: readonly NumberedMessage[]; readonly has_more: boolean };

type Asking = { readonly key?: string | undefined; readonly signal?: AbortSignal };

/** What a run came to, or waits for. */
export type RunOutcome = {
  readonly status: string;
  readonly completed?: boolean;
  readonly finish_reason?: string;
  readonly usage?: JsonMap;
  readonly failure?: JsonMap;
};

export type Answer =
  | { readonly decision: "accepted" | "rejected"; readonly reason?: string }
  | { readonly result: Json }
  | { readonly error: string };

/** Everything throws `Refused`. */
export type ChatDesk = ReturnType<typeof createChatDesk>;

export function createChatDesk({ abilities }: Pick<Holdfast, "abilities">, principal: Principal) {
  async function ask<Shape>(name: string, input: JsonMap, { key, signal }: Asking = {}): Promise<Shape> {
    const caller = { principal, door: "http", ...(key !== undefined && { key }), ...(signal && { signal }) } as const;
    const answer = await abilities.call(name, input, caller);
    if (isRefusal(answer)) throw new Refused(answer);
    return answer as Shape;
  }

  async function agents(): Promise<readonly { readonly slug: string }[]> {
    return (await ask<{ agents: { slug: string }[] }>("agents/list-accessible-agents", {})).agents;
  }

  return {
    agents,

    /** The thread of a key, if there is one: looking for it opens none. */
    find(key: string): Promise<FoundThread | undefined> {
      return unless("thread_not_found", ask<FoundThread>("holdfast/find-thread", { key }));
    },

    /** The agent that is meant when none is named. */
    async defaultAgent(): Promise<string> {
      const [first] = await agents();
      if (first) return first.slug;
      throw new Refused(operationError("agent_not_found", "There is no agent that the caller may use."));
    },

    open(key: string, agent: string): Promise<ChatThread> {
      return ask<ChatThread>("holdfast/open-thread", { agent, key });
    },

    /** A thread that nobody has named; the same one for the same idempotency key. */
    openUnnamed(agent: string, key: string | undefined): Promise<ChatThread> {
      return ask<ChatThread>("holdfast/open-thread", { agent }, { key });
    },

    /** Leaves a message, and lets a stopped thread go on; the same answer for a repeat under the same key. */
    send(thread_id: string, { content, attachments = [], key }: Message): Promise<Sent> {
      const input = {
        thread_id,
        content,
        ...(attachments.length > 0 && { attachments: attachments.map((file) => ({ ...file })) }),
      };
      return ask<Sent>("holdfast/send-message", input, { key });
    },

    /** Has the model asked once more, and does not wait for it. */
    async wake(thread_id: string, key: string): Promise<void> {
      await ask("holdfast/continue-thread", { thread_id, wait: false }, { key });
    },

    async deleteMessage(thread_id: string, seq: number, key: string): Promise<void> {
      await ask("holdfast/delete-message", { thread_id, seq }, { key });
    },

    /** From a place in the thread to where it rests, or until the signal fires. */
    follow(thread_id: string, from: From, signal: AbortSignal): Promise<AsyncIterable<StreamEvent>> {
      return ask<AsyncIterable<StreamEvent>>(FOLLOW_THREAD, { thread_id, until_rest: true, ...from }, { signal });
    },

    /** The newest ones first, a page at a time, as they are asked for. `before`: only those before that number. */
    async *lastMessages(thread_id: string, limit: number, before?: number): AsyncGenerator<MessagesPage> {
      for (let after = before; ; ) {
        const wanted = { order: "desc", limit, ...(after !== undefined && { after }) };
        const page = await ask<MessagesPage>("holdfast/list-messages", { thread_id, ...wanted });
        yield page;
        after = page.messages.at(-1)?.seq;
        if (!page.has_more) return;
      }
    },

    /** The message of a number, if it is there and was not deleted. */
    async message(thread_id: string, seq: number): Promise<NumberedMessage | undefined> {
      const page = { after: seq - 1, limit: 1 };
      const { messages } = await ask<MessagesPage>("holdfast/list-messages", { thread_id, ...page });
      return messages.find((numbered) => numbered.seq === seq);
    },

    /** What the thread waits for that somebody outside can answer. */
    async pending(thread_id: string): Promise<readonly PendingRequest[]> {
      const { requests } = await ask<{ requests: PendingRequest[] }>("holdfast/list-requests", {
        ...{ thread_id, status: "pending" },
      });
      return requests.filter(({ kind }) => kind === "approval" || kind === "client_tool");
    },

    async submit(request_id: string, answer: Answer): Promise<PendingRequest> {
      const input = { request_id, ...answer };
      return (await ask<{ request: PendingRequest }>("holdfast/submit-request", input)).request;
    },

    /**
     * What a client is to run a tool with, secrets included, which nobody is shown who only reads along; undefined when
     * nobody waits for it any more.
     */
    async wholeInput(request_id: string): Promise<unknown> {
      try {
        const { whole } = await ask<{ whole?: JsonMap }>("holdfast/get-request", { request_id });
        return whole?.parameters;
      } catch (thrown) {
        if (thrown instanceof Refused) return undefined;
        throw thrown;
      }
    },

    async outcome(thread_id: string, run: number): Promise<RunOutcome | undefined> {
      const found = ask<{ outcome: RunOutcome | null }>("holdfast/get-run", { thread_id, run });
      return (await unless("run_not_found", found))?.outcome ?? undefined;
    },
  };
}

/** What was asked for, or undefined when it was refused with that code. */
async function unless<Found>(code: string, found: Promise<Found>): Promise<Found | undefined> {
  try {
    return await found;
  } catch (thrown) {
    if (thrown instanceof Refused && thrown.refusal.code === code) return undefined;
    throw thrown;
  }
}
