// The same words said at every door at which one can talk with an agent, and all that comes back through it.
import { inspect } from "node:util";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { patientClient } from "../mcp/patient-client.ts";
import type { Served } from "../served-runtime.ts";

type Heard = Readonly<Record<string, string>>;

/** What every door tells somebody who says a word to the helper. */
export async function talkAtDoors(served: Served, token: string, word: string): Promise<Heard> {
  const ask = async (path: string, json?: object) => (await served.ask(token, path, { ...(json && { json }) })).text;
  const heard: Record<string, string> = {};

  const { id } = JSON.parse(await ask("/threads", { agent: "helper" })) as { id: string };
  const following = ask(`/threads/${id}/stream?until=rest`);
  heard["POST /threads/:id/messages"] = await ask(`/threads/${id}/messages`, { content: word, wait: true });
  heard["GET /threads/:id/stream"] = await following;
  heard["GET /threads/:id/stream, afterwards"] = await ask(`/threads/${id}/stream?until=rest`);

  const chat = { id: `chat ${word}`, messages: [{ id: "m-1", role: "user", parts: [{ type: "text", text: word }] }] };
  heard["POST /api/chat"] = await ask("/api/chat?agent=helper", chat);
  heard["GET /api/chat/:id"] = await ask(`/api/chat/${encodeURIComponent(chat.id)}`);
  const other = { ...chat, id: `other ${word}` };
  heard["POST /api/agents/:agent/chat"] = await ask("/api/agents/helper/chat", other);
  heard["GET /api/chat/:id/stream"] = await ask(`/api/chat/${encodeURIComponent(other.id)}/stream`);

  const completion = { model: "helper", messages: [{ role: "user", content: word }] };
  heard["POST /v1/chat/completions"] = await ask("/v1/chat/completions", completion);
  heard["POST /v1/chat/completions, streamed"] = await ask("/v1/chat/completions", { ...completion, stream: true });

  for (const method of ["message/send", "message/stream"]) {
    const params = { message: { role: "user", parts: [{ type: "text", text: word }] } };
    const request = { jsonrpc: "2.0", id: 1, method, params, tokenStreaming: true };
    heard[method] = await ask("/agents-api/v1/agent/helper", request);
  }
  heard["POST /agents-api/v1/chat"] = await ask("/agents-api/v1/chat", { agent: "helper", message: word });
  heard["agents/chat"] = await ask("/agents/helper/chat", { message: word });
  return { ...heard, ...(await overMcp(served, token, word)) };
}

/** What an MCP client is told that asks, and then reads the thread in every way there is. */
async function overMcp({ url }: Served, token: string, word: string): Promise<Heard> {
  const client = patientClient({ versionNegotiation: { mode: "auto" } });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  const [asked, offered, read] = [[], [], []] as [unknown[], unknown[], unknown[]];
  const hear = async <Told>(where: unknown[], telling: Promise<Told>): Promise<Told | undefined> => {
    // A refusal is told as well.
    const told = await telling.catch((thrown: unknown) => void where.push(inspect(thrown, { depth: 9 })));
    where.push(told);
    return told as Told | undefined;
  };
  const onprogress = (told: unknown) => asked.push(told);
  const answer = await hear(
    asked,
    client.callTool({ name: "ask_helper", arguments: { message: word } }, { onprogress }),
  );
  const { thread_id = "none" } = (answer?.structuredContent ?? {}) as { thread_id?: string };
  const { tools = [] } = (await hear(offered, client.listTools())) ?? {};
  const { resources = [] } = (await hear(offered, client.listResources())) ?? {};
  for (const { uri } of resources) await hear(read, client.readResource({ uri }));
  for (const { name, inputSchema } of tools) {
    const { required = [] } = inputSchema as { required?: readonly string[] };
    if (!required.every((field) => field === "thread_id")) continue;
    await hear(read, client.callTool({ name, arguments: required.length > 0 ? { thread_id } : {} }));
  }
  await client.close();
  return {
    "ask_helper over MCP": JSON.stringify(asked),
    "what is offered over MCP": JSON.stringify(offered),
    "what can be read over MCP": JSON.stringify(read),
  };
}
