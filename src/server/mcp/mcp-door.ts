// MCP over Streamable HTTP, at /mcp. There are no sessions: a restart, or another process behind the same address, is
// noticed by nobody.
import { type AuthInfo, createMcpHandler } from "@modelcontextprotocol/server";
import type { Context } from "hono";
import type { OperationError } from "../../contracts/operation-error.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { Mount, ServerEnv } from "../door.ts";
import { statusOf } from "../problem.ts";
import { mcpPath } from "./mcp-path.ts";
import { createMcpServer } from "./mcp-server.ts";
import { refusalError } from "./refusal-error.ts";

export const mcpDoor: Mount = (app, { holdfast, closing }) => {
  const handler = createMcpHandler(({ authInfo }) => createMcpServer(holdfast, principalIn(authInfo)));
  closing.addEventListener("abort", () => void handler.close(), { once: true });
  app.all(mcpPath, async (context) => {
    const refusal = asksForStream(context) ? context.get("holdStream")?.() : undefined;
    if (refusal) return refuse(context, refusal);
    return await handler.fetch(context.req.raw, { authInfo: about(context.get("principal")) });
  });
};

/** What stays open, and not only until a call is answered. The header is compared with the body later. */
function asksForStream({ req }: Context<ServerEnv>): boolean {
  if (req.method === "GET") return req.header("accept")?.includes("text/event-stream") ?? false;
  return req.header("mcp-method") === "subscriptions/listen";
}

function refuse(context: Context<ServerEnv>, refusal: OperationError): Response {
  context.set("refusal", refusal);
  const { code, message, data } = refusalError(refusal);
  return context.json({ jsonrpc: "2.0", id: null, error: { code, message, data } }, statusOf(refusal.code) as 429);
}

/** Who calls, in the one place that the handler passes on. */
function about(principal: Principal): AuthInfo {
  return { token: "", clientId: principal.client_id ?? "", scopes: [], extra: { principal } };
}

function principalIn(authInfo: AuthInfo | undefined): Principal {
  const principal = authInfo?.extra?.principal;
  if (principal === undefined) throw new Error("Nobody is named who calls.");
  return principal as Principal;
}
