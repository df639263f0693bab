// One call of a tool that an MCP server runs: to the server that was allowed, as it was allowed, and once.
import { errorMessage, HoldfastError } from "../../contracts/error.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";
import type { ToolContext } from "../tool.ts";
import type { Connected, Connection } from "./connection.ts";
import { type DeclaredTool, fingerprint } from "./declared-tool.ts";
import { type Fate, fateOf } from "./fate.ts";
import { failed, type RemoteResult, remoteResult } from "./remote-result.ts";

export type RemoteTool = {
  readonly server: string;
  readonly connection: Connection;
  readonly toolName: string;
  /** As it was allowed. */
  readonly declared: DeclaredTool;
  readonly isRepeatable: boolean;
  readonly secrets: KnownSecrets;
  readonly maxOutputCharacters: number;
};

/** How often one call may be sent, where sending it again is the same call. */
const ATTEMPTS = 3;

export async function callRemote(tool: RemoteTool, input: JsonMap, context: ToolContext): Promise<RemoteResult> {
  const { connection, toolName, declared, secrets } = tool;
  const { signal, idempotencyKey: key } = context;
  for (let attempt = 1; ; attempt++) {
    let connected: Connected;
    try {
      connected = await connection.ready(signal);
    } catch (thrown) {
      if (!(thrown instanceof HoldfastError)) throw thrown;
      return failed(toolName, `${thrown.detail}; nothing was called.`, { error_type: "mcp_unreachable" });
    }
    const problem = changed(tool, connected);
    if (problem) return problem;
    try {
      return remoteResult(await connected.call(declared, input, { key, signal }), tool);
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const fate = fateOf(thrown);
      if (fate === "unknown" || fate === "not_sent") connection.drop(connected);
      const isAgain = fate === "not_sent" || (fate === "unknown" && tool.isRepeatable);
      if (!isAgain || attempt >= ATTEMPTS) return told(tool, fate, secrets.clean(errorMessage(thrown)));
    }
  }
}

/** What the server offers under that name now is not what was allowed. */
function changed({ server, toolName, declared }: RemoteTool, connected: Connected): RemoteResult | undefined {
  const now = connected.declared(declared.name);
  if (!now) {
    const error = `The MCP server "${server}" has no tool '${declared.name}' any more; nothing was called.`;
    return failed(toolName, error, { error_type: "mcp_tool_missing" });
  }
  if (fingerprint(now) === fingerprint(declared)) return undefined;
  const error =
    `The MCP server "${server}" declares '${declared.name}' differently than when it was allowed; nothing was called. ` +
    "Somebody has to look at it and allow it again.";
  return failed(toolName, error, { error_type: "mcp_tool_changed" });
}

function told({ toolName }: RemoteTool, fate: Fate, why: string): RemoteResult {
  switch (fate) {
    case "answered":
      return failed(toolName, why, { error_type: "mcp_tool_error" });
    case "refused":
    case "not_sent":
      return failed(toolName, `The server did not take the call: ${why}`, { error_type: "mcp_unreachable" });
    case "unreadable":
      return failed(toolName, `'${toolName}' was called, but its answer cannot be read: ${why}`, {
        error_type: "invalid_result",
      });
    case "unknown":
      return failed(toolName, `The connection was lost while the tool was at work; what it did is unknown. ${why}`, {
        error_type: "outcome_unknown",
      });
  }
}
