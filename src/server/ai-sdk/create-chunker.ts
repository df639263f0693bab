// Turns an answer into the chunks of a UI message, one event after another.
import type { AnswerEvent, Asked, Call, Result } from "../chat/answer-event.ts";
import type { Chunk } from "./chunk.ts";
import { userMessageId } from "./ids.ts";

export type Chunker = {
  add(event: AnswerEvent): readonly Chunk[];
  /** The request that a client is to answer, if the answer waits for one. */
  waitsFor(): string | undefined;
  /** What is left to be told where the answer ends, or waits. `input`: what the client is to run its tool with. */
  end(input?: unknown): readonly Chunk[];
};

/** Tools whose results a client brings; all others run here, and to a browser that is the provider's side. */
export function isClientTool(toolName: string): boolean {
  return toolName.startsWith("client/");
}

type Part = { readonly type: "text" | "reasoning"; readonly id: string };

/** `known`: approvals that the reader was told of before, where it goes on with an answer. */
export function createChunker(known: readonly string[] = []): Chunker {
  const approvals = new Set(known);
  let parts = 0;
  let open: Part | undefined;
  let isInStep = false;
  /** The call whose arguments are being told. */
  let inputOf: Call | undefined;
  /**
   * A call for the client, until it is known whether it still has to be run. The stream of a thread that waits ends, so a
   * result that comes after it is of a client that was there before: nobody is to run the tool a second time.
   */
  let held: (Call & { readonly request_id?: string }) | undefined;

  function close(): readonly Chunk[] {
    if (!open) return [];
    const { type, id } = open;
    open = undefined;
    return [{ type: `${type}-end`, id }];
  }

  function endStep(): readonly Chunk[] {
    const chunks: Chunk[] = [...close(), ...(isInStep ? [{ type: "finish-step" } as const] : [])];
    isInStep = false;
    return chunks;
  }

  function say(type: Part["type"], delta: string): readonly Chunk[] {
    const before: Chunk[] = [];
    if (open?.type !== type) {
      before.push(...close());
      open = { type, id: `part-${++parts}` };
      before.push({ type: `${type}-start`, id: open.id });
    }
    return [...before, { type: `${type}-delta`, id: open.id, delta }];
  }

  function input({ call_id, tool_name, text }: AnswerEvent & { type: "input" }): readonly Chunk[] {
    const begun: Chunk[] = [];
    if (inputOf?.call_id !== call_id) {
      inputOf = { call_id, tool_name, input: undefined };
      begun.push(...close(), { type: "tool-input-start", toolCallId: call_id, toolName: tool_name, ...by(inputOf) });
    }
    return [...begun, { type: "tool-input-delta", toolCallId: call_id, inputTextDelta: text }];
  }

  function call(made: Call): readonly Chunk[] {
    const before = [...close(), ...notMade(made)];
    inputOf = undefined;
    if (!isClientTool(made.tool_name)) return [...before, available(made)];
    held = made;
    return before;
  }

  /** Arguments that were told of a call that was not made under that id: it must not look unfinished for ever. */
  function notMade(made: Call): readonly Chunk[] {
    if (!inputOf || inputOf.call_id === made.call_id) return [];
    return [
      { type: "tool-output-error", toolCallId: inputOf.call_id, errorText: "It was not called.", ...by(inputOf) },
    ];
  }

  function result(of: Result): readonly Chunk[] {
    const before: Chunk[] = held ? [{ ...available(held), providerExecuted: true }] : [];
    held = undefined;
    return [...before, ...resultChunks(of)];
  }

  return {
    add(event) {
      switch (event.type) {
        case "run":
        case "ended":
          return [];
        case "step": {
          const chunks: Chunk[] = [...endStep(), { type: "start-step" }];
          isInStep = true;
          return chunks;
        }
        case "restarted":
          open = undefined;
          inputOf = undefined;
          return [{ type: "reset-step" }];
        case "text":
        case "reasoning":
          return say(event.type, event.text);
        case "input":
          return input(event);
        case "call":
          return call(event.call);
        case "asked":
          if (event.asked.kind !== "approval") {
            if (held) held = event.asked;
            return [];
          }
          approvals.add(event.asked.request_id);
          return [...pending(), ...approvalChunks(event.asked)];
        case "accepted":
          // A reader cannot be told what became of something that it was not told of.
          if (!approvals.has(event.request_id)) return [];
          return [{ type: "tool-approval-response", approvalId: event.request_id, approved: true }];
        case "result":
          return result(event.result);
        case "user": {
          const { seq, text } = event;
          return [...endStep(), { type: "steering-message", id: userMessageId(seq), parts: [{ type: "text", text }] }];
        }
        default:
          event satisfies never;
          return [];
      }
    },
    waitsFor: () => held?.request_id,
    end: (given) => [...close(), ...pending(given), ...endStep()],
  };

  function pending(given?: unknown): readonly Chunk[] {
    const call = held;
    held = undefined;
    return call ? [available(given === undefined ? call : { ...call, input: given })] : [];
  }
}

function by({ tool_name }: Pick<Call, "tool_name">): { readonly providerExecuted?: true } {
  return isClientTool(tool_name) ? {} : { providerExecuted: true };
}

function available(call: Call): Extract<Chunk, { type: "tool-input-available" }> {
  const { call_id: toolCallId, tool_name: toolName, input } = call;
  return { type: "tool-input-available", toolCallId, toolName, input, ...by(call) };
}

function approvalChunks({ request_id, call_id, summary, preview }: Asked): readonly Chunk[] {
  return [
    {
      ...{ type: "tool-approval-request", toolCallId: call_id, approvalId: request_id },
      approvalDescriptor: { summary, preview },
      ...(summary !== "" && { reason: summary }),
    },
  ];
}

function resultChunks(result: Result): readonly Chunk[] {
  const { call_id: toolCallId, request_id } = result;
  switch (result.came) {
    case "output":
      return [{ type: "tool-output-available", toolCallId, output: result.output ?? null, ...by(result) }];
    case "error":
      return [{ type: "tool-output-error", toolCallId, errorText: result.error, ...by(result) }];
    case "denied": {
      const denied: Chunk = { type: "tool-output-denied", toolCallId };
      if (request_id === undefined) return [denied];
      return [
        { type: "tool-approval-response", approvalId: request_id, approved: false, reason: result.reason },
        denied,
      ];
    }
  }
}
