// What a chat came to, as a JSON-RPC client is shown it: a task.
import { identifier, scalarText, truthy } from "../coerce.ts";
import { asMap, emptyMap, seal, type UnknownMap } from "../json.ts";

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
  /** What the chat waits for, and under which id it is answered. */
  readonly metadata?: Waiting;
};

type Waiting = { readonly request_id: string; readonly kind: "approval" | "client_tool"; readonly tool_name: string };

/** A chat that does not say whether it is completed is. */
export function taskFromOutput(value: unknown): JsonRpcTask {
  const output = asMap(value) ?? emptyMap;
  const runId = identifier(output.run_id);
  const sessionId = identifier(output.session_id);
  const waiting = waitingIn(output);
  const isCompleted = !Object.hasOwn(output, "completed") || truthy(output.completed);
  return seal({
    id: runId ?? sessionId ?? "run",
    status: {
      state: isCompleted ? "completed" : "input-required",
      message: {
        role: "agent",
        parts: [{ type: "text", text: scalarText(output.reply) || (waiting ? inWords(waiting) : "") }],
        messageId: `${runId ?? "run"}-message`,
        kind: "message",
      },
    },
    ...(sessionId !== undefined && { sessionId }),
    ...(waiting && { metadata: waiting }),
  });
}

function waitingIn(output: UnknownMap): Waiting | undefined {
  const approval = asMap(output.approval_required);
  const request = approval ?? asMap(output.runtime_tool_pending);
  const request_id = identifier(request?.request_id);
  if (request_id === undefined) return undefined;
  return { request_id, kind: approval ? "approval" : "client_tool", tool_name: scalarText(request?.tool_name) ?? "" };
}

/** For whoever shows nothing but words. */
function inWords({ request_id, kind, tool_name }: Waiting): string {
  const what = kind === "approval" ? `approval: ${tool_name}` : `the result of ${tool_name}`;
  return `Waiting for ${what} (request ${request_id})`;
}
