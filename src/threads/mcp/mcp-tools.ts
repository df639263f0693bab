// The tools of an MCP server as tools of agents: under a namespace, by a list of those that are allowed, checked before they
// are called, and under the same gate and the same ledger as any other.
import { errorMessage, holdfastError } from "../../contracts/error.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { type Tool, tool } from "../tool.ts";
import type { Connection } from "./connection.ts";
import { type DeclaredTool, isSafeToRepeat, slugOf } from "./declared-tool.ts";
import { addToLock, readLock } from "./lock-file.ts";
import { invalidServer, type McpSource, type McpToolsOptions, readMcpOptions } from "./mcp-options.ts";
import { remoteSchema } from "./remote-schema.ts";
import { serverSecrets } from "./server-secrets.ts";

export interface McpTools {
  /** For the `tools` of an agent or a prompt. */
  readonly tools: readonly Tool[];
  /** Ends the connection, and the server if it was started for this. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * The tools of an MCP server that are allowed. It asks the server what they are, unless a lock file knows all of them. Throws
 * `invalid_mcp_server` with the field that is wrong, `mcp_unreachable`, and `mcp_tool_missing` for one that the server does
 * not have.
 */
export async function mcpTools(options: McpToolsOptions): Promise<McpTools> {
  const source = readMcpOptions(options);
  const secrets = serverSecrets(source.address);
  // The protocol's own package is large, and few programs speak to such servers.
  const [{ Connection }, { callRemote }] = await Promise.all([import("./connection.ts"), import("./call-remote.ts")]);
  const connection = new Connection(source, secrets);
  const close = () => connection.close();
  try {
    const allowed = await allowedTools(source, connection);
    const tools = allowed.map(remote);
    checkNames(source, tools);
    return Object.freeze({ tools: Object.freeze(tools), close, [Symbol.asyncDispose]: close });
  } catch (thrown) {
    await close();
    throw thrown;
  }

  function remote(declared: DeclaredTool): Tool {
    const { name: server, maxOutputCharacters } = source;
    const toolName = `${server}/${slugOf(declared.name)}`;
    const settings = { ...source.settings, ...settingsFor(source, declared) };
    const { idempotent = isSafeToRepeat(declared) } = settings;
    const about = { server, connection, toolName, declared, secrets, maxOutputCharacters, isRepeatable: idempotent };
    try {
      return tool({
        ...settings,
        name: toolName,
        description: declared.description?.trim() || declared.title?.trim() || `${declared.name} of ${server}.`,
        inputSchema: remoteSchema(declared.inputSchema),
        idempotent,
        write: declared.annotations?.readOnlyHint !== true,
        execute: (input, context) => callRemote(about, input as JsonMap, context),
      });
    } catch (thrown) {
      throw invalidServer(server, `${declared.name} cannot be a tool here: ${errorMessage(thrown)}`, thrown);
    }
  }
}

function settingsFor({ allow }: McpSource, { name }: DeclaredTool) {
  return allow === "*" ? {} : (allow.get(name) ?? {});
}

/** Those that were allowed before as they were then; the others as the server declares them now. */
async function allowedTools(source: McpSource, connection: Connection): Promise<readonly DeclaredTool[]> {
  const { name: server, allow, lock } = source;
  const locked = lock === undefined ? new Map<string, DeclaredTool>() : readLock(lock, server);
  if (allow === "*") {
    if (locked.size > 0) return [...locked.values()];
  } else if ([...allow.keys()].every((name) => locked.has(name))) {
    return [...allow.keys()].flatMap((name) => locked.get(name) ?? []);
  }
  const connected = await connection.ready();
  const names = allow === "*" ? connected.declarations.map(({ name }) => name) : [...allow.keys()];
  const found = names.map((name) => {
    const declared = locked.get(name) ?? connected.declared(name);
    if (declared) return declared;
    throw holdfastError("mcp_tool_missing", `The MCP server "${server}" has no tool "${name}".`);
  });
  if (lock !== undefined) addToLock(lock, server, found);
  return found;
}

function checkNames({ name: server }: McpSource, tools: readonly Tool[]): void {
  const seen = new Set<string>();
  for (const { name } of tools) {
    if (seen.has(name)) throw invalidServer(server, `two tools would be called ${name} here; allow one of them`);
    seen.add(name);
  }
}
