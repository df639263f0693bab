// The HTTP door in a program of your own: a token, a thread, a message, and the answer.
import { agent, createHoldfast } from "holdfast";
import { serve } from "holdfast/server";
import { sqlite } from "holdfast/sqlite";
import { says, scriptedModel } from "holdfast/testing";

const model = scriptedModel([says("Good morning.")]);
const desk = agent({ slug: "desk", description: "Says good morning.", model });
const holdfast = await createHoldfast({ backend: sqlite(":memory:"), agents: [desk] });
const { token } = await holdfast.tokens.create({ agent: "desk", owner_user_id: 7 });
const server = await serve(holdfast, { port: 0 });

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": path };
  const response = await fetch(`${server.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return (await response.json()) as Record<string, unknown>;
}

const thread = await post("/threads", { agent: "desk", key: "first" });
const outcome = await post(`/threads/${thread.id}/messages`, { content: "Hello", wait: true });
console.log(`${thread.agent}: ${outcome.final_content} (${outcome.status})`);

const stranger = await fetch(`${server.url}/threads`);
const { code, hint } = (await stranger.json()) as { code: string; hint: string };
console.log(`${stranger.status} ${code}: ${hint}`);

await server.close();
await holdfast.close();
