// The official client of OpenAI, pointed at agents: a model is an agent, and a thread keeps the conversation.
import { agent, createHoldfast, tool } from "holdfast";
import { serve } from "holdfast/server";
import { sqlite } from "holdfast/sqlite";
import { callsTool, says, scriptedModel } from "holdfast/testing";
import OpenAI from "openai";
import { z } from "zod";

const where = tool({ name: "client/where", description: "Asks the client where it is.", inputSchema: z.object({}) });
const model = scriptedModel([says("Good morning!"), callsTool("client/where"), says("Then it is 3 o'clock.")]);
const support = agent({ slug: "support", model, tools: [where] });
const holdfast = await createHoldfast({ backend: sqlite(":memory:"), agents: [support] });
await holdfast.grants.grant({ agent: "support", user_id: 7, role: "operator" });
const { token } = await holdfast.tokens.create({ agent: "desk", owner_user_id: 7 });
const server = await serve(holdfast, { port: 0 });

const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: token });
for await (const { id } of client.models.list()) console.log(`model: ${id}`);

const headers = { "X-Holdfast-Thread": "customer-42", "Idempotency-Key": "mail-981" };
const stream = await client.chat.completions.create(
  { model: "support", messages: [{ role: "user", content: "Good morning." }], stream: true },
  { headers },
);
let said = "";
for await (const { choices } of stream) said += choices[0]?.delta.content ?? "";
console.log(`assistant, piece by piece: ${said}`);

const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "What time is it?" }];
const asked = await client.chat.completions.create({ model: "support", messages, metadata: { thread: "customer-42" } });
const [call] = asked.choices[0]?.message.tool_calls ?? [];
console.log(`finish_reason: ${asked.choices[0]?.finish_reason}`);

// The id of the call leads back to the thread.
messages.push({ role: "tool", tool_call_id: call?.id ?? "", content: '{"city":"Lisbon"}' });
const answered = await client.chat.completions.create({ model: "support", messages });
console.log(`assistant: ${answered.choices[0]?.message.content}`);

await server.close();
await holdfast.close();
