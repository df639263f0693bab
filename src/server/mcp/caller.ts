// Who calls through MCP, and what is known of the call beside its arguments.
import type { ServerContext } from "@modelcontextprotocol/server";
import type { Principal } from "../../contracts/trust/principal.ts";

export type McpCaller = {
  readonly principal: Principal;
  readonly key?: string;
  /** Fires when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Tells the client how far it is, if it wants to know. */
  progress(message: string): void;
};

/** Where a client that wants a repeat to be the same call says so. */
const KEY_IN_META = "holdfast/idempotency-key";

export function callerOf(principal: Principal, { mcpReq }: ServerContext): McpCaller {
  const meta = mcpReq._meta ?? {};
  const key = meta[KEY_IN_META];
  const { progressToken } = meta;
  let progress = 0;
  return {
    principal,
    ...(typeof key === "string" && { key }),
    signal: mcpReq.signal,
    progress(message) {
      if (progressToken === undefined) return;
      progress++;
      const told = { method: "notifications/progress", params: { progressToken, progress, message } };
      // Whoever has gone need not be told.
      void mcpReq.notify(told).catch(() => undefined);
    },
  };
}
