// The doors that are no operations, each asked about something of somebody's by its name.
import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { patientClient } from "../mcp/patient-client.ts";
import type { Answer, Served } from "../served-runtime.ts";
import type { Belongings } from "./two-tenants.ts";

/** What is named; `nothing`: names of nothing that anybody has. */
export type Named = Pick<
  Belongings,
  | "thread_id"
  | "chat_id"
  | "session_id"
  | "run_id"
  | "key"
  | "file"
  | "client"
  | "approval"
  | "effect"
  | "memory"
  | "workflow_run"
>;

const none = "nothing-of-anybodys";
const place = { thread_id: none, request_id: none, run_id: none };

export const nothing: Named = {
  ...{ thread_id: none, chat_id: none, session_id: none, run_id: none, key: none, file: `${none}.txt`, memory: none },
  workflow_run: none,
  ...{ client: place, approval: place, effect: { thread_id: none, effect_id: none } },
};

type Asks = (served: Served, token: string, named: Named) => Promise<Pick<Answer, "status" | "text">>;

const user = (text: string) => ({ id: "m-1", role: "user", parts: [{ type: "text", text }] });

const get =
  (path: (named: Named) => string): Asks =>
  (served, token, named) =>
    served.ask(token, path(named));

const post =
  (path: string, body: (named: Named) => object): Asks =>
  (served, token, named) =>
    served.ask(token, path, { json: body(named) });

/** What a browser says, and then what it says about an approval that it claims to have been asked for. */
const chatted =
  (path: string): Asks =>
  async (served, token, { key, approval }) => {
    const said = user("Hello.");
    const first = await served.ask(token, path, { json: { id: key, messages: [said] } });
    const part = { type: "dynamic-tool", toolName: "shop/pay", toolCallId: "call-1-1", state: "approval-responded" };
    const parts = [{ ...part, input: {}, approval: { id: approval.request_id, approved: true } }];
    const answer = { id: "holdfast-answer-1-0", role: "assistant", parts };
    const second = await served.ask(token, path, { json: { id: key, messages: [said, answer] } });
    return { status: second.status, text: `${first.text}\n${second.text}` };
  };

const rpc = (method: string) =>
  post("/agents-api/v1/agent/helper", ({ chat_id, run_id }) => ({
    ...{ jsonrpc: "2.0", id: 1, method },
    params: { sessionId: chat_id, id: run_id, message: { role: "user", parts: [{ type: "text", text: "Hello." }] } },
  }));

const completion = (stream: boolean): Asks =>
  post("/v1/chat/completions", ({ client }) => ({
    ...{ model: "helper", stream },
    messages: [
      { role: "user", content: "look" },
      { role: "tool", content: "seen", tool_call_id: client.request_id },
    ],
  }));

/** By the routes that the server has beside those of its operations; null where nothing of anybody's can be named. */
export const namedAtDoors: Readonly<Record<string, readonly Asks[] | null>> = {
  "GET /": null,
  "GET /health": null,
  "GET /ready": null,
  "GET /openapi.json": null,
  "GET /reference": null,
  "GET /abilities": null,
  "GET /abilities/*": null,
  "GET /v1/models": null,
  "GET /v1/models/:model": null,
  // Who comes here is known by a signature.
  "POST /channels/:name": null,
  // Every operation by its name is asked for elsewhere.
  "POST /abilities/*": null,
  "POST /auth/stream-ticket": [
    async (served, token, { thread_id }) => {
      const pathname = `/threads/${thread_id}/stream`;
      const { text } = await served.ask(token, "/auth/stream-ticket", { json: { pathname } });
      return await served.ask(undefined, `${pathname}?ticket=${JSON.parse(text).ticket}`);
    },
  ],
  "GET /threads/:thread_id/stream": [get(({ thread_id }) => `/threads/${thread_id}/stream?until=rest`)],
  "GET /workflow-runs/:run_id/stream": [get(({ workflow_run }) => `/workflow-runs/${workflow_run}/stream`)],
  "GET /threads/:thread_id/content/:path": [get(({ thread_id, file }) => `/threads/${thread_id}/content/${file}`)],
  "PUT /threads/:thread_id/content/:path": [
    (served, token, { thread_id, file }) =>
      served.ask(token, `/threads/${thread_id}/content/${file}`, {
        ...{ method: "PUT", body: "mine", headers: { "content-type": "text/plain" } },
      }),
  ],
  "GET /api/chat/:id": [get(({ key }) => `/api/chat/${key}`), get(({ thread_id }) => `/api/chat/${thread_id}`)],
  "GET /api/chat/:id/stream": [
    get(({ key }) => `/api/chat/${key}/stream`),
    get(({ chat_id }) => `/api/chat/${chat_id}/stream`),
  ],
  "GET /api/agents/:agent/chat/:id": [get(({ key }) => `/api/agents/helper/chat/${key}`)],
  "GET /api/agents/:agent/chat/:id/stream": [get(({ key }) => `/api/agents/helper/chat/${key}/stream`)],
  "POST /api/chat": [chatted("/api/chat?agent=helper")],
  "POST /api/agents/:agent/chat": [chatted("/api/agents/helper/chat")],
  "POST /v1/chat/completions": [completion(false), completion(true)],
  "POST /agents-api/v1/agent/:agent{[A-Za-z0-9._-]+}": [rpc("message/send"), rpc("message/stream")],
  "POST /agents-api/v1/chat": [
    post("/agents-api/v1/chat", ({ chat_id }) => ({ agent: "helper", message: "Hello.", session_id: chat_id })),
  ],
  "ALL /mcp": [
    mcp((client, { thread_id }) => client.readResource({ uri: `holdfast://threads/${thread_id}` })),
    mcp((client, { thread_id }) =>
      client.callTool({ name: "ask_helper", arguments: { message: "Hello.", thread: thread_id } }),
    ),
    mcp((client, { thread_id }) => client.callTool({ name: "holdfast_list_messages", arguments: { thread_id } })),
    mcp((client, { session_id }) =>
      client.callTool({ name: "agents_get_conversation_session", arguments: { session_id } }),
    ),
  ],
};

function mcp(ask: (client: Client, named: Named) => Promise<unknown>): Asks {
  return async ({ url }, token, named) => {
    const client = patientClient({ versionNegotiation: { mode: "auto" } });
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
    try {
      return { status: 200, text: JSON.stringify(await ask(client, named)) };
    } catch (thrown) {
      return { status: 404, text: String(thrown) };
    } finally {
      await client.close();
    }
  };
}
