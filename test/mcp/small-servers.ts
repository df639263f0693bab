// The small MCP server as tests use it: as options for `mcpTools`, or running on a port.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { onTestFinished } from "vitest";
import type { McpToolsOptions } from "../../src/threads/mcp/mcp-options.ts";
import { type McpTools, mcpTools } from "../../src/threads/mcp/mcp-tools.ts";
import type { ToolContext } from "../../src/threads/tool.ts";
import { script } from "./small-script.ts";

/** A folder that is gone with the test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** How often the server did it. */
export function countIn(ledger: string, what: string): number {
  if (!existsSync(ledger)) return 0;
  return readFileSync(ledger, "utf8")
    .split("\n")
    .filter((line) => line === what).length;
}

/** The program itself, as it is started over pipes. */
export function overPipes(env: Readonly<Record<string, string>> = {}) {
  return { name: "small", command: process.execPath, args: [script], env };
}

/** Opened, and closed with the test. */
export async function open(options: McpToolsOptions): Promise<McpTools> {
  const opened = await mcpTools(options);
  onTestFinished(() => opened.close());
  return opened;
}

/** Runs a tool as the runtime would, without a thread around it. */
export async function call({ tools }: McpTools, name: string, input: unknown = {}, key = "key-1"): Promise<unknown> {
  const tool = tools.find((each) => each.name === name);
  if (!tool?.execute) throw new Error(`There is no tool ${name}.`);
  const context = { idempotencyKey: key, signal: new AbortController().signal } as ToolContext;
  return await tool.execute(input, context);
}

export type SmallServer = { readonly url: string; readonly port: string; kill(): Promise<void> };

/** Over HTTP, with a token. Whoever starts it kills it. */
export async function startHttp(env: Readonly<Record<string, string>>): Promise<SmallServer> {
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, SMALL_OVER: "http", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { url: `http://127.0.0.1:${port}/mcp`, port, kill };
}

/** The same, killed with the test at the latest. */
export async function startHttpInTest(env: Readonly<Record<string, string>>): Promise<SmallServer> {
  const server = await startHttp(env);
  onTestFinished(server.kill);
  return server;
}
