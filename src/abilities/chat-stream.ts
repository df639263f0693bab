// Talking with an agent, word by word: what it says and calls while it does, and at the end what a chat answers with.
import { z } from "zod";
import { isOperationError, type OperationError, operationErrorOf } from "../contracts/operation-error.ts";
import type { StreamEvent } from "../threads/stream/stream.ts";
import { chatWith } from "./chat.ts";
import type { ChatExtensions } from "./chat-host.ts";
import { type ChatOutput, chatInput } from "./chat-shapes.ts";
import type { Turn } from "./chat-turns.ts";
import { lenientInput } from "./lenient-input.ts";
import type { Operation } from "./operation.ts";
import type { Workbench } from "./reach.ts";
import { reportUnplanned } from "./report-unplanned.ts";

/** The name under which doors call it; its answer is a `ChatStream`, or a refusal. */
export const CHAT_STREAM = "holdfast/chat-stream";

/** A piece of what is said, the call of a tool, or a piece of its arguments as JSON text. */
export type ChatDelta =
  | { readonly type: "content"; readonly text: string }
  | { readonly type: "tool_call"; readonly tool_call_id: string; readonly tool_name: string; readonly index: number }
  | { readonly type: "tool_argument"; readonly tool_call_id: string; readonly text: string; readonly index: number }
  /** What was said since the last call does not count: it is said anew. Who cannot take it back leaves it. */
  | { readonly type: "restarted"; readonly text: "" };

/** Yields deltas and returns what the turn came to. Leaving it stops nothing. */
export type ChatStream = AsyncGenerator<ChatDelta, ChatOutput | OperationError, undefined>;

export function chatStreamOperations(workbench: Workbench, extensions: ChatExtensions = {}): readonly Operation[] {
  const chat = chatWith(workbench, extensions);
  return [
    workbench.define({
      name: CHAT_STREAM,
      title: "Talk with an agent, word by word",
      description: "The same as agents/chat, told while it happens.",
      input: lenientInput(chatInput),
      output: z.custom<ChatStream>(),
      effect: "write",
      capability: "chat",
      doors: ["http", "cli"],
      async execute(input, caller) {
        const begun = Promise.withResolvers<Turn | undefined>();
        const answer = chat(input, caller, begun.resolve).catch((thrown: unknown) => {
          if (extensions.report) reportUnplanned(extensions.report, CHAT_STREAM, thrown);
          return operationErrorOf(thrown, "agents_chat_stream_failed");
        });
        // What is refused before anything began is an answer like any other, and no stream.
        void answer.then(() => begun.resolve(undefined));
        const turn = await begun.promise;
        if (turn) return streamed(turn, answer);
        const output = await answer;
        return isOperationError(output) ? output : atOnce(output);
      },
    }),
  ];
}

// biome-ignore lint/correctness/useYield: who answers at once has nothing to tell before.
async function* atOnce(output: ChatOutput): ChatStream {
  return output;
}

async function* streamed(turn: Turn, answer: Promise<ChatOutput | OperationError>): ChatStream {
  const read = createDeltaReader();
  try {
    for await (const event of turn.stream()) yield* read(event);
  } catch {
    // What goes wrong with the turn its answer tells; that reading it failed says nothing about the turn.
  }
  return await answer;
}

/** Turns the events of a thread into deltas: arguments that were not told piece by piece are told whole with the call. */
function createDeltaReader(): (event: StreamEvent) => readonly ChatDelta[] {
  /** The calls of the step by their ids, in the order in which they were first heard of. */
  let calls = new Map<string, { readonly index: number; hasArguments: boolean }>();

  function call(tool_call_id: string, tool_name: string): readonly ChatDelta[] {
    if (calls.has(tool_call_id)) return [];
    const index = calls.size;
    calls.set(tool_call_id, { index, hasArguments: false });
    return [{ type: "tool_call", tool_call_id, tool_name, index }];
  }

  function argument(tool_call_id: string, text: string): readonly ChatDelta[] {
    const known = calls.get(tool_call_id);
    if (!known || text === "") return [];
    known.hasArguments = true;
    return [{ type: "tool_argument", tool_call_id, text, index: known.index }];
  }

  return (event) => {
    switch (event.type) {
      case "step.started":
        calls = new Map();
        return [];
      case "step.restarted":
        calls = new Map();
        return [{ type: "restarted", text: "" }];
      case "text.delta":
        return [{ type: "content", text: event.text }];
      case "tool_input.delta":
        return [...call(event.tool_call_id, event.tool_name), ...argument(event.tool_call_id, event.text)];
      case "message.added": {
        const { type, payload, metadata } = event.message;
        if (type !== "tool_call" || event.depth !== undefined) return [];
        const id = String(metadata.tool_call_id ?? "");
        const told = call(id, String(payload.tool_name ?? ""));
        const isWhole = calls.get(id)?.hasArguments === true;
        return isWhole ? told : [...told, ...argument(id, JSON.stringify(payload.parameters ?? {}))];
      }
      default:
        return [];
    }
  };
}
