// The doors whose shapes belong to a protocol, in the description for machines: where each is, what speaks it, and where its
// shapes are described. They are not written down here a second time.
import type { ApiOperation, ApiPaths } from "./api-operation.ts";

type Media = "application/json" | "text/event-stream" | "application/octet-stream";

type Door = {
  readonly method: "get" | "post";
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly takes?: Media;
  readonly answers: Media;
  /** Who calls is found out otherwise than by a token. */
  readonly isOpen?: true;
};

const UI_STREAM = {
  description: "The AI SDK's UI message stream",
  url: "https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol",
};
const OPENAI = { description: "OpenAI's reference", url: "https://platform.openai.com/docs/api-reference/chat" };
const MCP = { description: "The Model Context Protocol", url: "https://modelcontextprotocol.io/specification" };
const JSON_RPC = { description: "JSON-RPC 2.0", url: "https://www.jsonrpc.org/specification" };

/** A chat is found with an agent in the path, or without one. */
const chats = [
  ["/api/chat", "chat"],
  ["/api/agents/{agent}/chat", "agent-chat"],
] as const;

const useChat: readonly Door[] = chats.flatMap(([path, id]) => [
  {
    ...{ method: "post", path, id: `${id}.send`, takes: "application/json", answers: "text/event-stream" },
    summary: "Send a message of useChat",
    description: "What DefaultChatTransport sends, answered with the UI message stream of the AI SDK.",
  },
  {
    ...{ method: "get", path: `${path}/{id}`, id: `${id}.load`, answers: "application/json" },
    summary: "Load a chat of useChat",
    description: "The end of the conversation as UI messages; `?limit=` and `?before=` page through it.",
  },
  {
    ...{ method: "get", path: `${path}/{id}/stream`, id: `${id}.resume`, answers: "text/event-stream" },
    summary: "Resume a chat of useChat",
    description: "The answer under way from its beginning, or 204 when there is nothing to tell.",
  },
]);

const openAi: readonly Door[] = [
  {
    ...{ method: "get", path: "/v1/models", id: "openai.models", answers: "application/json" },
    summary: "List models as OpenAI does",
    description: "A model is an agent that the caller may use.",
  },
  {
    ...{ method: "get", path: "/v1/models/{model}", id: "openai.model", answers: "application/json" },
    summary: "Look at a model as OpenAI shows it",
    description: "One agent that the caller may use.",
  },
  {
    ...{ method: "post", path: "/v1/chat/completions", id: "openai.complete" },
    ...{ takes: "application/json", answers: "application/json" },
    summary: "Complete a chat as OpenAI does",
    description: "A completion is a run of a thread; with `stream: true` it is told as server-sent events.",
  },
];

const mcp: readonly Door[] = [
  {
    ...{ method: "post", path: "/mcp", id: "mcp.post", takes: "application/json", answers: "application/json" },
    summary: "Speak MCP over Streamable HTTP",
    description: "Operations and agents as tools, threads as resources.",
  },
  {
    ...{ method: "get", path: "/mcp", id: "mcp.listen", answers: "text/event-stream" },
    summary: "Listen to an MCP server",
    description: "Where a version of the protocol has messages of the server come through a stream of their own.",
  },
];

const jsonRpc: readonly Door[] = [
  {
    ...{ method: "post", path: "/agents-api/v1/agent/{agent}", id: "json-rpc.chat" },
    ...{ takes: "application/json", answers: "application/json" },
    summary: "Chat over JSON-RPC",
    description:
      "message/send and tasks/send are answered with a task, message/stream and tasks/sendSubscribe with events.",
  },
];

/** Shapes that are our own: those of an operation, or what a channel understands. */
const others: readonly Door[] = [
  {
    ...{ method: "post", path: "/agents-api/v1/chat", id: "front-end.chat" },
    ...{ takes: "application/json", answers: "application/json" },
    summary: "Chat from a web page",
    description: "One request, one answer: the input and the answer of agents/chat, as far as a page needs them.",
  },
  {
    ...{ method: "post", path: "/channels/{name}", id: "channel.receive", isOpen: true },
    ...{ takes: "application/octet-stream", answers: "application/json" },
    summary: "Take a message from a channel",
    description: "The webhook of a channel: no token, but the signature that its service sends.",
  },
];

/** What the event gateway answers beside its operations. */
const gateway: readonly Door[] = [
  {
    ...{ method: "get", path: "/events", id: "gateway.events", answers: "text/event-stream" },
    summary: "Follow the events of the gateway",
    description:
      "From the oldest event that is kept, or behind `Last-Event-ID`, `?after=` an id, or `?after=now`. Ids rise over restarts.",
  },
  {
    ...{ method: "get", path: "/healthz", id: "gateway.health", answers: "application/json", isOpen: true },
    summary: "Ask how the gateway is",
    description: "Numbers for monitors: how many jobs are queued, how many plugins are loaded.",
  },
];

type Docs = { readonly description: string; readonly url: string };

export function protocolPaths({ hasGateway }: { readonly hasGateway: boolean }): ApiPaths {
  const paths: ApiPaths = {};
  const add = (doors: readonly Door[], docs?: Docs) => {
    for (const door of doors) paths[door.path] = { ...paths[door.path], [door.method]: described(door, docs) };
  };
  add(useChat, UI_STREAM);
  add(openAi, OPENAI);
  add(mcp, MCP);
  add(jsonRpc, JSON_RPC);
  add(others);
  if (hasGateway) add(gateway);
  return paths;
}

function described(door: Door, externalDocs: Docs | undefined): ApiOperation {
  const { id: operationId, summary, description, path, takes, answers, isOpen } = door;
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: "path", required: true, schema: { type: "string" } },
  }));
  return {
    ...{ operationId, summary, description, tags: ["protocols"], parameters },
    ...(externalDocs && { externalDocs }),
    ...(isOpen && { security: [] }),
    ...(takes && { requestBody: { required: true, content: { [takes]: { schema: {} } } } }),
    responses: {
      200: { description: "What the protocol answers with.", content: { [answers]: { schema: {} } } },
      default: { $ref: "#/components/responses/Problem" },
    },
  };
}
