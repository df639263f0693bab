// Sending a message out: to somebody who did not ask, through whoever carries messages of that kind.
import { z } from "zod";
import { dispatchMessage, mayDispatchMessage } from "../contracts/chat/dispatch-message.ts";
import { isOperationError } from "../contracts/operation-error.ts";
import type { ChatExtensions } from "./chat-host.ts";
import type { Operation } from "./operation.ts";
import { plain } from "./plain.ts";
import type { Workbench } from "./reach.ts";
import { id, jsonMap } from "./shapes.ts";

const input = z.object({
  channel: id,
  recipient: z.string().min(1).max(1_024),
  message: z.string().min(1),
  conversation_id: z.string().max(1_024).optional(),
  attachments: z.array(z.json()).max(20).optional(),
  client_context: jsonMap.optional(),
  metadata: jsonMap.optional(),
});

const output = z.object({
  sent: z.boolean(),
  channel: z.string(),
  recipient: z.string(),
  message_id: z.string().optional(),
  metadata: jsonMap.optional(),
});

export function dispatchMessageOperations(
  { define }: Workbench,
  { hooks, carrier }: ChatExtensions = {},
): readonly Operation[] {
  return [
    define({
      name: "agents/dispatch-message",
      title: "Send a message out",
      description: "Sends a message to somebody through a channel.",
      input,
      output,
      effect: "destroy",
      capability: "channels.send",
      route: { method: "post", path: "/dispatch-message" },
      // Who comes as far holds the capability.
      mayCall: (given) => mayDispatchMessage(given, { isAdministrator: true, hooks }),
      async execute(given) {
        const answer = await dispatchMessage(given, { hooks, handler: carrier });
        return isOperationError(answer) ? answer : plain<z.input<typeof output>>(answer);
      },
    }),
  ];
}
