// Handing a run to a person: a tool that an agent may call, if the person behind the thread has agreed to that.
import { z } from "zod";
import { scopeOf } from "../calls/tool-scope.ts";
import { type Tool, tool } from "../tool.ts";
import { decideConsent } from "./decide-consent.ts";

export type EscalationOptions = {
  /** `human/escalate` unless given. */
  readonly name?: string;
  /** What the model is told about when to call it. */
  readonly description?: string;
  /** How long the thread waits for the person; for ever unless given. */
  readonly waitMs?: number;
};

const DESCRIPTION =
  "Hand the conversation to a person, and wait for what that person says. Say why, and sum up what matters.";

/** The thread waits like for a tool of the client: whoever takes over submits the result of the request. */
export function escalation({
  name = "human/escalate",
  description = DESCRIPTION,
  waitMs,
}: EscalationOptions = {}): Tool {
  return tool({
    name,
    description,
    inputSchema: z.object({ reason: z.string().min(1), summary: z.string().optional() }),
    ...(waitMs !== undefined && { waitMs }),
    // Nobody is told before the thread waits: asked again after a crash it asks for the first time.
    idempotent: true,
    async execute(_input, context) {
      const { host, thread } = scopeOf(context);
      const consent = await decideConsent(host, { threadId: thread.id, agent: thread.agent }, "escalate_to_human");
      const of = { success: false, tool_name: context.toolName };
      if (consent.allowed) {
        const error = "The conversation waits for a person.";
        return { ...of, error, status: "runtime_tool_pending", runtime_tool_request: { metadata: { consent } } };
      }
      const error =
        "The user has not agreed to have the conversation handed to a person. Ask first, and do not insist.";
      return { ...of, error, metadata: { error_type: "consent_denied", consent } };
    },
  });
}
