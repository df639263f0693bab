// The file that keeps how tools of MCP servers were declared when somebody allowed them. It is meant to be read, committed
// and, where a tool may change, edited: what is taken out of it is allowed anew.
import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { errorMessage, holdfastError } from "../../contracts/error.ts";
import { type DeclaredTool, declaredTool } from "./declared-tool.ts";

const map = z.record(z.string(), z.json());

const lockSchema = z.object({
  version: z.literal(1),
  servers: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        title: z.string().optional(),
        description: z.string().optional(),
        inputSchema: map,
        outputSchema: map.optional(),
        annotations: map.optional(),
      }),
    ),
  ),
});

type Lock = z.output<typeof lockSchema>;

/** The tools of a server that were allowed before, by the server's names. Throws `invalid_mcp_server` for another file. */
export function readLock(path: string, server: string): ReadonlyMap<string, DeclaredTool> {
  const tools = Object.entries(read(path).servers[server] ?? {});
  return new Map(tools.map(([name, declared]) => [name, declaredTool({ name, ...declared } as DeclaredTool)]));
}

/** Adds tools to those that are kept; what is kept of them already stays as it is. */
export function addToLock(path: string, server: string, tools: Iterable<DeclaredTool>): void {
  const lock = read(path);
  const kept = lock.servers[server] ?? {};
  const added = [...tools].map(({ name, ...declared }) => [name, kept[name] ?? declared] as const);
  const servers = { ...lock.servers, [server]: { ...kept, ...Object.fromEntries(added) } };
  // Another process may read it at any time: it finds the old one or the new one.
  const beside = `${path}.${randomUUID()}`;
  writeFileSync(beside, `${JSON.stringify({ version: 1, servers }, null, 2)}\n`);
  renameSync(beside, path);
}

function read(path: string): Lock {
  try {
    return lockSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return { version: 1, servers: {} };
    throw holdfastError("invalid_mcp_server", `lock cannot be read: ${errorMessage(thrown)} (${path})`, thrown);
  }
}
