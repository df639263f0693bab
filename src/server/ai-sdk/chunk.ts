// The pieces of the AI SDK's UI message stream that this door sends: protocol v1 as package `ai` 7 reads it.

export type FinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "interrupted" | "other";

/** What an answer tells about itself, beside what it says. */
export type AnswerMetadata = {
  readonly thread_id: string;
  readonly run: number;
  readonly status?: string;
  readonly usage?: unknown;
};

type OfCall<Type extends string> = { readonly type: Type; readonly toolCallId: string };
type ByServer = { readonly providerExecuted?: true };

export type Chunk =
  | { readonly type: "start"; readonly messageId?: string; readonly messageMetadata?: AnswerMetadata }
  | { readonly type: "start-step" | "finish-step" | "reset-step" }
  | { readonly type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; readonly id: string }
  | { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly delta: string }
  | (OfCall<"tool-input-start"> & { readonly toolName: string } & ByServer)
  | (OfCall<"tool-input-delta"> & { readonly inputTextDelta: string })
  | (OfCall<"tool-input-available"> & { readonly toolName: string; readonly input: unknown } & ByServer)
  | (OfCall<"tool-approval-request"> & {
      readonly approvalId: string;
      readonly approvalDescriptor: unknown;
      readonly reason?: string;
    })
  | {
      readonly type: "tool-approval-response";
      readonly approvalId: string;
      readonly approved: boolean;
      readonly reason?: string;
    }
  | (OfCall<"tool-output-available"> & { readonly output: unknown } & ByServer)
  | (OfCall<"tool-output-error"> & { readonly errorText: string } & ByServer)
  | OfCall<"tool-output-denied">
  | {
      readonly type: "steering-message";
      readonly id: string;
      readonly parts: { readonly type: "text"; readonly text: string }[];
    }
  | { readonly type: "error"; readonly errorText: string }
  | { readonly type: "finish"; readonly finishReason: FinishReason; readonly messageMetadata?: AnswerMetadata };
