// `holdfast mcp` beside a server that has the database, with real processes and the official client.
import { fileURLToPath } from "node:url";
import type { Client, ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, it, onTestFinished } from "vitest";
import { newShell, type Shell } from "../../test/command-line.ts";
import { patientClient } from "../../test/mcp/patient-client.ts";

const program = fileURLToPath(new URL("main.ts", import.meta.url));

async function startClient({ folder }: Shell, options: ClientOptions = {}): Promise<Client> {
  const client = patientClient(options);
  const env = { ...(process.env as Record<string, string>), HOLDFAST_MODEL: "demo" };
  const start = { command: process.execPath, args: [program, "mcp"], cwd: folder, env, stderr: "pipe" as const };
  await client.connect(new StdioClientTransport(start));
  onTestFinished(() => client.close());
  return client;
}

describe("holdfast mcp beside a running server", () => {
  it.each<[string, ClientOptions]>([
    ["the protocols of 2025", {}],
    ["that of 2026", { versionNegotiation: { mode: "auto" } }],
  ])("goes through its door, as the other commands do: %s", async (_era, options) => {
    const shell = newShell();
    await shell.serve();
    const client = await startClient(shell, options);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["holdfast_list_threads", "ask_support"]));
    const asked = await client.callTool({ name: "ask_support", arguments: { message: "Where is order 7?" } });
    const { thread_id: id, reply } = asked.structuredContent as Record<string, string>;
    expect(reply).toContain("lost in the post");
    expect(await shell.json("threads", "list")).toMatchObject({ threads: [{ id }] });
    const { contents } = await client.readResource({ uri: `holdfast://threads/${id}` });
    expect(JSON.stringify(contents)).toContain("lost in the post");
  });

  it("says so when the server has gone, and goes on with the next one at its place", async () => {
    const shell = newShell();
    const server = await shell.serve();
    const client = await startClient(shell);
    await server.kill();
    await expect(client.listTools()).rejects.toThrow(server.url);
    await shell.serve("--port", new URL(server.url).port);
    expect((await client.listTools()).tools).not.toEqual([]);
  });
});
