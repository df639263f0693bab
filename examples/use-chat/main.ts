// A browser's chat on a thread: `Chat` is what `useChat` of @ai-sdk/react holds, and takes the same options.
import { Chat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import { agent, createHoldfast, tool } from "holdfast";
import { serve } from "holdfast/server";
import { sqlite } from "holdfast/sqlite";
import { callsTool, says, scriptedModel } from "holdfast/testing";
import { z } from "zod";

const where = tool({ name: "client/where", description: "Asks the browser where it is.", inputSchema: z.object({}) });
const refund = tool({
  name: "shop/refund",
  description: "Refunds an order.",
  inputSchema: z.object({ order: z.string() }),
  actionPolicy: "preview", // a person decides
  execute: ({ order }) => ({ refunded: order }),
});
const model = scriptedModel([
  callsTool("client/where"),
  callsTool("shop/refund", { order: "7" }),
  says("Refunded. It is 3 o'clock in Lisbon, so the money comes today."),
]);
const support = agent({ slug: "support", model, tools: [where, refund] });
const holdfast = await createHoldfast({
  backend: sqlite(":memory:"),
  agents: [support],
  trust: { administrators: [1] },
});
const { token } = await holdfast.tokens.create({ agent: "desk", owner_user_id: 1 });
const server = await serve(holdfast, { port: 0 });

const transport = new DefaultChatTransport<UIMessage>({
  api: `${server.url}/api/agents/support/chat`,
  headers: { authorization: `Bearer ${token}` },
});
const answered = Promise.withResolvers<void>();
const chat = new Chat<UIMessage>({
  id: "customer-42", // the caller's own name for the thread
  transport,
  sendAutomaticallyWhen: ({ messages }) =>
    lastAssistantMessageIsCompleteWithToolCalls({ messages }) ||
    lastAssistantMessageIsCompleteWithApprovalResponses({ messages }),
  onToolCall({ toolCall: { toolCallId } }) {
    console.log("The browser runs its own tool.");
    void chat.addToolOutput({ tool: "client/where", toolCallId, output: { city: "Lisbon" } });
  },
  onFinish({ finishReason }) {
    if (finishReason === "stop") answered.resolve();
  },
});
await chat.sendMessage({ text: "Refund order 7, please. When does the money come?" });
for (const part of chat.lastMessage?.parts ?? []) {
  if (!("approval" in part) || part.state !== "approval-requested") continue;
  console.log(`A person decides: ${part.approval.requestReason}`);
  await chat.addToolApprovalResponse({ id: part.approval.id, approved: true });
}
await answered.promise;
print(chat.messages);

console.log("\nThe page is loaded anew.");
const history = await fetch(`${server.url}/api/agents/support/chat/customer-42`, {
  headers: { authorization: `Bearer ${token}` },
});
const again = new Chat<UIMessage>({ id: "customer-42", transport, messages: (await history.json()) as UIMessage[] });
await again.resumeStream(); // goes on with an answer that is under way; there is none
print(again.messages);

await server.close();
await holdfast.close();

function print(messages: readonly UIMessage[]): void {
  for (const { role, parts } of messages) {
    for (const part of parts) {
      if (part.type === "text") console.log(`${role}: ${part.text}`);
      else if ("output" in part) console.log(`${role}: ${part.type} → ${JSON.stringify(part.output)}`);
    }
  }
}
