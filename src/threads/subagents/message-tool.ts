// The tool with which a model writes to a child that is there.
import type { JsonMap } from "../../contracts/json.ts";
import { deliveredNote, notActive } from "../../contracts/standard/child-messages.ts";
import { readMessageArguments } from "../../contracts/standard/create-arguments.ts";
import { type Tool, tool } from "../tool.ts";
import { type CallScope, callScope } from "./call-scope.ts";
import { childEntries } from "./child-entries.ts";
import { copiedTo } from "./copied-to.ts";
import { liveChild } from "./live-children.ts";
import { type Refusal, refusal } from "./refusal.ts";
import { toldSchema } from "./told-schema.ts";

export const MESSAGE = "subagent_message";
/** The name that it had before. */
export const SEND = "send_to_agent";

export function messageTool(name: typeof MESSAGE | typeof SEND): Tool {
  return tool({
    name,
    description: "Sends a message to a subagent that was created before. It goes on with everything it knows.",
    inputSchema: toldSchema(schema),
    idempotent: true,
    repeatable: true,
    execute: (input, context) => send(callScope(context), input),
  });
}

const schema: JsonMap = {
  type: "object",
  required: ["referenceId", "message", "attachments"],
  properties: {
    referenceId: { type: "string", description: "The reference that you got when it was created." },
    message: { type: "string" },
    attachments: {
      type: "array",
      items: { type: "string" },
      description: "Paths of your files that it gets a copy of; [] for none.",
    },
  },
};

async function send(scope: CallScope, given: JsonMap): Promise<JsonMap | Refusal> {
  const read = readMessageArguments(given);
  if (!read.ok) return refusal(read.error, "invalid_arguments");
  const { reference, message, attachments } = read.value;
  // The files are looked at with the other arguments: what is wrong with them is told, whoever they are for.
  const files = await copiedTo(scope, reference, attachments);
  if ("success" in files) return files;
  const child = await liveChild(scope, reference);
  if (!child) return refusal(notActive(reference), "subagent_not_active", { reference });
  const { receives_messages: receives, thread_name: name } = child.link;
  const entries = childEntries({ receives, message, arguments: null, copied: files.copied, requestId: null });
  await scope.buffer.write(
    ...files.writes,
    ...entries.map((entry) => ({ write: "entry", thread_id: child.id, entry, child_status: "running" }) as const),
  );
  const result = { text: deliveredNote(name), reference, name, status: "running" };
  return { success: true, result, metadata: { subagent_id: reference } };
}
