// The operations on messages: send one and, if wanted, wait for what comes of it; read, edit and delete those there are.
import { z } from "zod";
import type { Thread } from "../backend/thread-rows.ts";
import { isMap } from "../contracts/json.ts";
import type { ThreadHandle } from "../threads/thread.ts";
import { attachmentRefusal, MOST_ATTACHMENTS, mediaType } from "./attachments.ts";
import { entryKey } from "./caller-identity.ts";
import { defined } from "./defined.ts";
import type { Operation } from "./operation.ts";
import type { Workbench } from "./reach.ts";
import { jsonMap, outcomeShape, positionOf, queuedShape, threadId } from "./shapes.ts";

const PAGE = 100;

const content = z.union([z.string(), z.array(z.json()).max(1_000)]);

const attachment = z.union([
  z.string().max(1_024).meta({ description: "The path of a file of the thread." }),
  z.object({ name: z.string().max(1_024), mimeType: mediaType, data: z.string().meta({ description: "Base64." }) }),
]);

type Said = { readonly content: z.output<typeof content>; readonly attachments?: readonly unknown[] | undefined };

/** A model would be asked about nothing, and some providers refuse that ever after. */
function saysSomething({ content: said, attachments = [] }: Said): boolean {
  const isBlank = (words: unknown) => typeof words === "string" && words.trim() === "";
  const isWordless = (part: unknown) => isMap(part) && part.type === "text" && isBlank(part.text);
  return attachments.length > 0 || !(typeof said === "string" ? isBlank(said) : said.every(isWordless));
}

const messageShape = z.object({ seq: z.int(), run: z.int(), step: z.int(), message: jsonMap });

const seq = z.coerce.number().int().min(0).meta({ description: "The number of the message." });

export function messageOperations(workbench: Workbench): readonly Operation[] {
  const { define, reach } = workbench;

  return [
    define({
      name: "holdfast/send-message",
      title: "Send a message",
      description:
        "Leaves a message on a thread. With wait it answers with what the run came to or waits for, else at once.",
      input: z
        .object({
          thread_id: threadId,
          content,
          attachments: z.array(attachment).max(MOST_ATTACHMENTS).optional(),
          silent: z.boolean().optional().meta({ description: "Shown to models, and left out of lists." }),
          wait: z.boolean().default(false),
          queue: z
            .boolean()
            .default(false)
            .meta({ description: "A stopped thread stays stopped, and takes it in later." }),
        })
        .refine(saysSomething, { path: ["content"], error: "there are neither words nor files" }),
      output: z.union([
        outcomeShape,
        queuedShape.extend({
          run: z.int().nullable().meta({ description: "The run that has taken it in, when it was sent before." }),
        }),
      ]),
      effect: "write",
      capability: "threads.write",
      route: { method: "post", path: "/threads/{thread_id}/messages", status: 202 },
      async execute({ thread_id, wait, queue, attachments, silent, ...said }, { principal, key: given, signal }) {
        const thread = await reach.thread(thread_id, principal);
        const refusal = await attachmentRefusal(workbench, attachments, principal);
        if (refusal) return refusal;
        const key = entryKey(principal, given);
        const words = typeof said.content === "string" ? said.content : { role: "user", content: said.content };
        const options = defined({ key, silent, attachments });
        if (wait) return await thread.send(words, { ...options, ...defined({ signal }) });
        // Read before it is left: whatever takes it in comes after that, unless it was left before.
        const sent = key === undefined || queue ? undefined : await thread.left.sent(key);
        const position = positionOf(await thread.status());
        const { id } = await (queue ? thread.queueMessage(words, options) : thread.post(words, options));
        return { status: "queued" as const, id, thread_id, position, run: sent?.run ?? null };
      },
    }),

    define({
      name: "holdfast/list-messages",
      title: "Read the messages of a thread",
      description: "The messages of a thread in their current version, from the oldest on or from the newest.",
      input: z.object({
        thread_id: threadId,
        after: z.coerce.number().int().min(-1).optional().meta({ description: "The number of the last one seen." }),
        limit: z.coerce.number().int().min(1).max(500).default(PAGE),
        order: z.enum(["asc", "desc"]).default("asc").meta({ description: "desc: the newest first." }),
      }),
      output: z.object({ messages: z.array(messageShape), has_more: z.boolean() }),
      effect: "read",
      capability: "threads.read",
      doors: ["http", "cli", "mcp"],
      route: { method: "get", path: "/threads/{thread_id}/messages" },
      async execute({ thread_id, after, limit, order }, { principal }) {
        const thread = await reach.thread(thread_id, principal, "read");
        const found = await thread.messages({ limit: limit + 1, order, ...defined({ after }) });
        const messages = found.slice(0, limit).map((each) => ({ ...each, message: { ...each.message } }));
        return { messages: JSON.parse(JSON.stringify(messages)), has_more: found.length > limit };
      },
    }),

    define({
      name: "holdfast/edit-message",
      title: "Edit a message",
      description: "Puts a message in other words, once no run is under way. Who said it stays.",
      input: z.object({ thread_id: threadId, seq, content }),
      output: z.object({ edited: z.literal(true) }),
      effect: "write",
      capability: "threads.write",
      route: { method: "patch", path: "/threads/{thread_id}/messages/{seq}" },
      async execute({ thread_id, seq: number, content: words }, { principal, key }) {
        const thread = await reach.thread(thread_id, principal);
        const version = typeof words === "string" ? words : { content: words };
        await thread.editMessage(number, version, defined({ key: entryKey(principal, key) }));
        return { edited: true as const };
      },
    }),

    define({
      name: "holdfast/delete-message",
      title: "Delete a message",
      description:
        "Takes a message out of what models are shown, once no run is under way. With erase its content goes for good.",
      input: z.object({ thread_id: threadId, seq, erase: z.stringbool().or(z.boolean()).default(false) }),
      output: z.union([
        z.object({ deleted: z.literal(true) }),
        z.object({
          deleted: z.literal(false).meta({ description: "It is accepted, and will be done." }),
          detail: z.string().meta({ description: "When it will be, and what has it done sooner." }),
        }),
      ]),
      effect: "destroy",
      capability: "threads.write",
      route: { method: "delete", path: "/threads/{thread_id}/messages/{seq}", status: 202 },
      async execute({ thread_id, seq: number, erase }, { principal, key }) {
        const thread = await reach.thread(thread_id, principal);
        if (erase) await thread.eraseMessage(number, { principal, ...defined({ key: entryKey(principal, key) }) });
        else await thread.deleteMessage(number, defined({ key: entryKey(principal, key) }));
        const status = await statusOfChange(thread, erase ? "erasure" : "deletion");
        return status === "made" ? { deleted: true as const } : { deleted: false as const, detail: untilThen[status] };
      },
    }),
  ];
}

/** How the thread stands that has yet to make a change, or that it has made all of this kind. */
async function statusOfChange(thread: ThreadHandle, kind: "erasure" | "deletion") {
  const { status } = await thread.status();
  // Read after the status: what was made in between is made.
  const isMade = (await thread.left.waiting()).every((entry) => entry.kind !== kind);
  return isMade ? "made" : status;
}

const soon = "It is accepted, and done as soon as a process takes the thread up.";

const untilThen: Readonly<Record<Thread["status"], string>> = {
  ...{ idle: soon, stopped: soon, terminated: soon },
  running: "It is accepted, and done once the run that is under way has ended: stop the thread to have it done now.",
  waiting:
    "It is accepted, and done once the run has ended that waits for somebody: answer what it waits for, or stop the thread.",
  stuck: "It is accepted, and done once the thread gets on: an operator has to let it try again.",
};
