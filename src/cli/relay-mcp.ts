// MCP between a client that starts its servers itself and the server that runs already, which has the database: message by
// message, since both ends speak the same protocol.
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type RequestId,
} from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { errorMessage } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import { mcpPath } from "../server/mcp/mcp-path.ts";
import { addressOf, type ServerDoor } from "./http-client.ts";

/** Until the client has gone, or the signal fires. */
export async function relayMcp({ url, token, isGenuine }: ServerDoor, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const ended = Promise.withResolvers<void>();
  const client = new StdioServerTransport();
  const server = new StreamableHTTPClientTransport(addressOf(url, mcpPath), {
    requestInit: { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } },
    async fetch(address, init) {
      // As before every other request: what has come to its port since is not to have the token.
      if (isGenuine && !(await isGenuine(init?.signal))) throw new Error("somebody else is there");
      return await fetch(address, init);
    },
  });
  /** What the server has not answered yet; by aborting it, it is told that nobody waits any more. */
  const asked = new Map<RequestId, AbortController>();
  let handshake: RequestId | undefined;

  async function fromClient(message: JSONRPCMessage): Promise<void> {
    if (!isJSONRPCRequest(message)) {
      const left = cancelledBy(message);
      if (left === undefined) return await server.send(message);
      asked.get(left)?.abort();
      asked.delete(left);
      return;
    }
    const { id } = message;
    if (isInitializeRequest(message)) handshake = id;
    const waiting = new AbortController();
    asked.set(id, waiting);
    const unanswered = (why: string) => {
      if (asked.delete(id) && !waiting.signal.aborted) void client.send(failure(id, why));
    };
    await server
      .send(message, {
        requestSignal: waiting.signal,
        onRequestStreamEnd: () => unanswered("the connection broke off before the answer."),
      })
      .catch((thrown: unknown) => unanswered(errorMessage(thrown)));
  }

  function fromServer(message: JSONRPCMessage): void {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
      const { id } = message;
      if (id !== undefined) asked.delete(id);
      // The protocols of 2025 settle the version once, and name it with every request.
      const { protocolVersion } = "result" in message ? message.result : {};
      if (id === handshake && typeof protocolVersion === "string") server.setProtocolVersion(protocolVersion);
    }
    void client.send(message);
  }

  const complain = (error: Error) => {
    if (!signal.aborted) process.stderr.write(`holdfast: ${error.message}\n`);
  };
  client.onmessage = (message) => void fromClient(message).catch(complain);
  server.onmessage = fromServer;
  client.onclose = () => ended.resolve();
  client.onerror = complain;
  process.stdin.once("end", () => ended.resolve());
  signal.addEventListener("abort", () => ended.resolve(), { once: true });
  await server.start();
  await client.start();
  await ended.promise;
  await Promise.all([server.close(), client.close()]);

  function failure(id: RequestId, why: string): JSONRPCMessage {
    return { jsonrpc: "2.0", id, error: { code: ProtocolErrorCode.InternalError, message: `${url}: ${why}` } };
  }
}

/** The request that the client does not wait for any more. */
function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  const { requestId } = isMap(message.params) ? message.params : {};
  return typeof requestId === "string" || typeof requestId === "number" ? requestId : undefined;
}
