// Asking an agent: one message, and what comes of it as it happens. What the run waits for is told, and decided elsewhere.
import { z } from "zod";
import { type OperationError, operationError, operationErrorOf } from "../contracts/operation-error.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { StreamEvent } from "../threads/stream/stream.ts";
import type { SendOutcome, ThreadHandle } from "../threads/thread.ts";
import { entryKey } from "./caller-identity.ts";
import type { ChatExtensions } from "./chat-host.ts";
import { defined } from "./defined.ts";
import { openFor } from "./open-for.ts";
import type { Operation } from "./operation.ts";
import { agentNotFound, type Workbench } from "./reach.ts";
import { reportUnplanned } from "./report-unplanned.ts";
import { id, jsonMap } from "./shapes.ts";

/** The name under which doors call it; its answer is an `AsyncIterable<AskEvent>`, and the last event ends it. */
export const ASK_AGENT = "holdfast/ask-agent";

export type AskEvent =
  /** The thread on which it goes on, whoever stops listening. */
  | { readonly type: "began"; readonly thread_id: string }
  | { readonly type: "said"; readonly text: string }
  | { readonly type: "tool"; readonly call: number }
  | { readonly type: "answered"; readonly answer: AskAnswer }
  | { readonly type: "refused"; readonly refusal: OperationError };

/** What an asked agent came to, or what it waits for. */
export const askAnswer = z.object({
  thread_id: z.string().meta({ description: "To go on with, or to read what happened." }),
  status: z
    .string()
    .meta({ description: "completed, approval_required, runtime_tool_pending, or why it ended early." }),
  reply: z.string(),
  structured_output: z.json().optional(),
  waiting_for: z
    .object({ request_id: z.string(), kind: z.string(), shown: jsonMap })
    .optional()
    .meta({ description: "What somebody has to decide or submit elsewhere before it goes on." }),
});

export type AskAnswer = z.output<typeof askAnswer>;

export const askInput = z.object({
  message: z
    .string()
    .min(1)
    .refine((message) => message.trim() !== "", { error: "is blank" })
    .meta({ description: "What to say to the agent." }),
  thread: id.optional().meta({ description: "The id of a thread to go on with; a new one unless given." }),
});

export function askOperations(
  workbench: Workbench,
  { report = () => undefined }: Pick<ChatExtensions, "report"> = {},
): readonly Operation[] {
  const { define, reach } = workbench;

  async function threadFor(asked: { agent: string; thread?: string | undefined }, principal: Principal, key?: string) {
    const { agent, thread: id } = asked;
    if (id === undefined) return await openFor(workbench, { idempotencyKey: key, madeBy: "ask" }, { agent }, principal);
    if (!(await reach.agent(agent, principal))) throw agentNotFound(agent);
    const thread = await reach.thread(id, principal);
    const { agent: speaks } = await thread.status();
    if (speaks === agent) return thread;
    return operationError("invalid_input", `Thread "${id}" is with the agent "${speaks}", not "${agent}".`);
  }

  return [
    define({
      name: ASK_AGENT,
      title: "Ask an agent",
      description:
        "Says something to an agent, on a new thread or an old one, and tells what comes of it as it happens.",
      input: askInput.extend({ agent: id }),
      output: z.custom<AsyncIterable<AskEvent>>(),
      effect: "write",
      capability: "chat",
      doors: ["mcp"],
      async execute({ message, ...asked }, { principal, key, signal }) {
        const thread = await threadFor(asked, principal, key);
        if ("code" in thread) return thread;
        return asking(thread, message, { report, ...defined({ key: entryKey(principal, key), signal }) });
      },
    }),
  ];
}

/** The message is left at once. Whoever stops listening stops nothing. */
function asking(
  thread: ThreadHandle,
  message: string,
  { report, ...options }: { readonly key?: string; readonly signal?: AbortSignal; report(error: unknown): void },
): AsyncIterable<AskEvent> {
  const sending = thread.send(message, options);
  const events = sending.stream(defined({ signal: options.signal }));
  return (async function* () {
    let hasBegun = false;
    try {
      for await (const event of events) {
        // Whoever was told can leave: the message is stored, and a run has taken it in.
        if (!hasBegun) yield { type: "began", thread_id: thread.id } as const;
        hasBegun = true;
        yield* told(event);
      }
      yield { type: "answered", answer: answerOf(await sending) } as const;
    } catch (thrown) {
      reportUnplanned(report, ASK_AGENT, thrown);
      yield { type: "refused", refusal: operationErrorOf(thrown, "ability_exception") } as const;
    }
  })();
}

function told(event: StreamEvent): readonly AskEvent[] {
  if (event.type === "text.delta") return [{ type: "said", text: event.text }];
  return event.type === "call.begun" ? [{ type: "tool", call: event.call }] : [];
}

function answerOf(outcome: SendOutcome): AskAnswer {
  const { thread_id, status, final_content: reply, structured_output, waiting_for } = outcome;
  return JSON.parse(JSON.stringify({ thread_id, status, reply, structured_output, waiting_for }));
}
