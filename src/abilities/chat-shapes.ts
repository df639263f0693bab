// What chats take and answer with.
import { z } from "zod";
import { MOST_ATTACHMENTS } from "./attachments.ts";
import { anyId, jsonMap, note, ownKey } from "./shapes.ts";

const owner = z
  .object({ type: anyId, key: z.string().max(1_024), label: note.optional() })
  .nullish()
  .meta({ description: "Can only repeat who the caller is." });

const workspace = z.object({ workspace_type: anyId, workspace_id: anyId });

/** What is said in one turn, and under which id. */
export const chatInput = z.object({
  agent: anyId.meta({ description: "The slug of the agent." }),
  message: z.string().optional().meta({ description: "What is said; may be absent where input_messages is not." }),
  input_messages: z
    .array(jsonMap)
    .max(100)
    .optional()
    .meta({ description: "Calls of client tools, each with its result: what the chat waits for." }),
  history: z
    .array(z.object({ role: z.enum(["user", "assistant"]), content: z.string() }))
    .max(1_000)
    .optional()
    .meta({ description: "What was said before a new chat; an old one knows it." }),
  session_id: anyId.nullish().meta({ description: "The chat to go on with; a new one unless given." }),
  run_id: ownKey.nullish().meta({ description: "Makes a repeat of the same turn the same turn." }),
  workspace: workspace.optional(),
  workspace_id: anyId.nullish(),
  client_id: anyId.nullish(),
  session_owner: owner,
  attachments: z
    .array(z.union([z.string().max(1_024), jsonMap]))
    .max(MOST_ATTACHMENTS)
    .optional(),
  token_streaming: z.boolean().optional(),
  client_context: jsonMap.optional(),
});

/** What came of a turn. */
export const chatOutput = z.object({
  session_id: z.string(),
  reply: z.string(),
  run_id: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })).optional(),
  completed: z.boolean().optional(),
  status: z.string().optional(),
  structured_output: z.json().optional(),
  runtime_tool_pending: jsonMap.optional().meta({ description: "The call that a client is to run." }),
  approval_required: jsonMap.optional().meta({ description: "What somebody is asked to approve, without secrets." }),
  run_outcome: jsonMap.optional(),
  metadata: jsonMap.optional(),
});

export type ChatOutput = z.output<typeof chatOutput>;

/** Which run of which chat is meant. */
export const runInput = z.object({
  session_id: anyId,
  run_id: ownKey,
  agent: anyId.optional(),
  workspace: workspace.optional(),
  session_owner: owner,
});

export const runShape = z.looseObject({
  run_id: z.string(),
  session_id: z.string(),
  status: z.string(),
  started_at: z.string(),
  updated_at: z.string(),
  metadata: jsonMap,
});
