// What a chat came to, as a JSON-RPC client is shown it: a task.
import { identifier, scalarText, truthy } from "../coerce.ts";
import { asMap, emptyMap, seal } from "../json.ts";

export type JsonRpcTask = {
  readonly id: string;
  readonly status: {
    readonly state: "completed" | "input-required";
    readonly message: {
      readonly role: "agent";
      readonly parts: readonly { readonly type: "text"; readonly text: string }[];
      readonly messageId: string;
      readonly kind: "message";
    };
  };
  readonly sessionId?: string;
};

/** A chat that does not say whether it is completed is. */
export function taskFromOutput(value: unknown): JsonRpcTask {
  const output = asMap(value) ?? emptyMap;
  const runId = identifier(output.run_id);
  const sessionId = identifier(output.session_id);
  const isCompleted = !Object.hasOwn(output, "completed") || truthy(output.completed);
  return seal({
    id: runId ?? sessionId ?? "run",
    status: {
      state: isCompleted ? "completed" : "input-required",
      message: {
        role: "agent",
        parts: [{ type: "text", text: scalarText(output.reply) ?? "" }],
        messageId: `${runId ?? "run"}-message`,
        kind: "message",
      },
    },
    ...(sessionId !== undefined && { sessionId }),
  });
}
