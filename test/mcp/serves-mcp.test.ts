// Promise: an MCP client finds the operations and agents of whoever it acts for, and nothing of anybody else.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CallToolResult, type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Holdfast } from "../../src/holdfast.ts";
import { serve } from "../../src/server/serve.ts";
import { ANN, BEN, openDesk } from "./mcp-desk.ts";
import { patientClient } from "./patient-client.ts";
import { newFolder } from "./small-servers.ts";

type Mode = "legacy" | "auto";

async function newServer(path = ":memory:", gate?: Promise<void>) {
  const holdfast = await openDesk(path, gate);
  const server = await serve(holdfast, { port: 0 });
  const end = async () => {
    await server.close();
    await holdfast.close();
  };
  onTestFinished(end);
  return { holdfast, server, end };
}

async function tokenOf(holdfast: Holdfast, user: number, allowed_capabilities: readonly string[] | null = null) {
  const { token } = await holdfast.tokens.create({ agent: "clerk", owner_user_id: user, allowed_capabilities });
  return token;
}

async function connect(url: string, token: string, mode: Mode = "auto"): Promise<Client> {
  const client = patientClient({ versionNegotiation: { mode } });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

const named = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

const ask = (client: Client, slug: string, input: object) =>
  client.callTool({ name: `ask_${slug}`, arguments: { ...input } });

const valuesOf = (result: CallToolResult) => result.structuredContent as Record<string, string>;

const textOf = ({ content }: CallToolResult) =>
  content.map((block) => (block.type === "text" ? block.text : "")).join();

describe.each<Mode>(["auto", "legacy"])("over HTTP, with a client that is %s", (mode) => {
  it("shows operations as tools with their schemas and what they do", async () => {
    const { holdfast, server } = await newServer();
    const client = await connect(server.url, await tokenOf(holdfast, ANN), mode);
    const { tools } = await client.listTools();
    const list = tools.find(({ name }) => name === "holdfast_list_threads");
    expect(list?.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false, idempotentHint: true });
    expect(list?.inputSchema).toMatchObject({ type: "object", properties: { limit: { type: "integer" } } });
    expect(list?.outputSchema).toMatchObject({ type: "object", required: ["threads", "has_more"] });
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    expect(tools.filter(({ name }) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))).toEqual([]);
  });

  it("answers an agent's reply, on a thread that can be gone on with and read", async () => {
    const { holdfast, server } = await newServer();
    const client = await connect(server.url, await tokenOf(holdfast, ANN), mode);
    const first = await ask(client, "clerk", { message: "Hello." });
    expect(valuesOf(first)).toMatchObject({ status: "completed", reply: "Answer 1." });
    expect(textOf(first)).toContain("Answer 1.");
    const { thread_id: thread = "" } = valuesOf(first);
    expect(valuesOf(await ask(client, "clerk", { message: "And?", thread }))).toMatchObject({ thread_id: thread });

    const found = await client.callTool({ name: "holdfast_list_threads", arguments: {} });
    expect(found.structuredContent).toMatchObject({ threads: [{ id: thread, agent: "clerk" }], has_more: false });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["holdfast://threads", `holdfast://threads/${thread}`]);
    const { contents } = await client.readResource({ uri: `holdfast://threads/${thread}` });
    const [content] = contents;
    const transcript = JSON.parse(content && "text" in content ? content.text : "");
    expect(transcript.messages.map(({ message }: { message: { content: string } }) => message.content)).toEqual([
      ...["Hello.", "Answer 1.", "And?", "Answer 2."],
    ]);
  });

  it("tells the progress of a run to a client that wants to know", async () => {
    const { holdfast, server } = await newServer();
    const client = await connect(server.url, await tokenOf(holdfast, ANN), mode);
    const told: string[] = [];
    const onprogress = ({ message = "" }: { message?: string | undefined }) => void told.push(message);
    await client.callTool({ name: "ask_clerk", arguments: { message: "Hello." } }, { onprogress });
    expect(told[0]).toMatch(/^Thread .+ began\.$/);
  });

  it("says honestly that a person has to decide, and offers nothing to decide with", async () => {
    const { holdfast, server } = await newServer();
    const client = await connect(server.url, await tokenOf(holdfast, ANN), mode);
    const answer = await ask(client, "cashier", { message: "Refund order 7." });
    expect(answer.isError).toBeFalsy();
    expect(valuesOf(answer)).toMatchObject({
      status: "approval_required",
      reply: "",
      waiting_for: { kind: "approval" },
    });
    expect(textOf(answer)).toContain("A person has to decide");
    const deciding = (await named(client)).filter((name) => /approv|resolve|decide|grant|token|submit/.test(name));
    expect(deciding.filter((name) => !/^holdfast_(list|get)_|^agents_(list|get)_/.test(name))).toEqual([]);
  });

  it("refuses with a code, a sentence and a hint", async () => {
    const { holdfast, server } = await newServer();
    const client = await connect(server.url, await tokenOf(holdfast, ANN), mode);
    const missing = await client.callTool({ name: "holdfast_get_thread", arguments: { thread_id: "nobody's" } });
    expect(missing).toMatchObject({ isError: true, structuredContent: { code: "thread_not_found" } });
    expect(textOf(missing)).toMatch(/^thread_not_found: .+\n.+/);
    const invalid = await client.callTool({ name: "holdfast_list_threads", arguments: { limit: "many" } });
    expect(invalid).toMatchObject({ isError: true, structuredContent: { code: "invalid_input" } });
    await expect(client.callTool({ name: "holdfast_fly", arguments: {} })).rejects.toThrow("There is no tool");
    expect(await ask(client, "nobody", { message: "Hello." })).toMatchObject({
      isError: true,
      structuredContent: { code: "agent_not_found" },
    });
  });
});

describe("who is let in", () => {
  it("is nobody without a good token", async () => {
    const { server } = await newServer();
    await expect(connect(server.url, "hf_nonsense")).rejects.toThrow();
    const answer = await fetch(`${server.url}/mcp`, { method: "POST", body: "{}" });
    expect(answer.status).toBe(401);
  });

  it("sees nothing of what is somebody else's", async () => {
    const { holdfast, server } = await newServer();
    const ann = await connect(server.url, await tokenOf(holdfast, ANN));
    const ben = await connect(server.url, await tokenOf(holdfast, BEN));
    const { thread_id: thread = "" } = valuesOf(await ask(ann, "clerk", { message: "A secret." }));

    expect((await named(ann)).filter((name) => name.startsWith("ask_"))).toEqual([
      ...["ask_clerk", "ask_cashier", "ask_printer", "ask_slow"],
    ]);
    expect((await named(ben)).filter((name) => name.startsWith("ask_"))).toEqual(["ask_clerk"]);
    const foreign = { isError: true, structuredContent: { code: "thread_not_found" } };
    expect(await ask(ben, "clerk", { message: "Mine?", thread })).toMatchObject(foreign);
    expect(await ask(ben, "cashier", { message: "Mine?" })).toMatchObject({
      structuredContent: { code: "agent_not_found" },
    });
    expect((await ben.listResources()).resources.map(({ uri }) => uri)).toEqual(["holdfast://threads"]);
    for (const uri of [
      `holdfast://threads/${thread}`,
      "holdfast://threads/none",
      "holdfast://other",
      "file:///etc/hosts",
    ]) {
      await expect(ben.readResource({ uri })).rejects.toMatchObject({
        message: expect.not.stringContaining("A secret"),
      });
    }
    // Whoever asks for what is not theirs is told what whoever asks for nothing is told.
    const [theirs, nothing] = await Promise.all(
      [thread, "none"].map((id) => ben.readResource({ uri: `holdfast://threads/${id}` }).catch(({ code }) => code)),
    );
    expect(theirs).toBe(nothing);
  });

  it("may do no more than the token's ceiling", async () => {
    const { holdfast, server } = await newServer();
    const client = await connect(server.url, await tokenOf(holdfast, ANN, ["agents.read"]));
    expect(await ask(client, "clerk", { message: "Hello." })).toMatchObject({
      isError: true,
      structuredContent: { code: "ability_forbidden" },
    });
    const listed = await client.callTool({ name: "holdfast_list_threads", arguments: {} });
    expect(listed).toMatchObject({ isError: true, structuredContent: { code: "ability_forbidden" } });
    await expect(client.listResources()).rejects.toThrow("ability_forbidden");
    expect(await holdfast.threads.list()).toEqual([]);
  });
});

describe("what is kept", () => {
  it("is nothing between requests: a client goes on when the server was restarted", async () => {
    const path = join(newFolder(), "threads.db");
    const first = await newServer(path);
    const token = await tokenOf(first.holdfast, ANN);
    const client = await connect(first.server.url, token);
    const { thread_id: thread = "" } = valuesOf(await ask(client, "clerk", { message: "Hello." }));
    await first.end();
    const holdfast = await openDesk(path);
    const server = await serve(holdfast, { port: Number(new URL(first.server.url).port) });
    onTestFinished(async () => {
      await server.close();
      await holdfast.close();
    });
    expect(valuesOf(await ask(client, "clerk", { message: "Still there?", thread }))).toMatchObject({
      thread_id: thread,
    });
  });

  it("is one run for a call that is repeated under its key", async () => {
    const { holdfast, server } = await newServer();
    const client = await connect(server.url, await tokenOf(holdfast, ANN));
    const repeated = {
      name: "ask_clerk",
      arguments: { message: "Once." },
      _meta: { "holdfast/idempotency-key": "k-1" },
    };
    const first = await client.callTool(repeated);
    expect(valuesOf(await client.callTool(repeated))).toEqual(valuesOf(first));
    expect((await holdfast.threads.list()).length).toBe(1);
  });

  it("is listed page by page", async () => {
    const { holdfast, server } = await newServer();
    const token = await tokenOf(holdfast, ANN);
    const principal = await holdfast.tokens.authenticate(token);
    if (!principal) throw new Error("The token was just made.");
    const caller = { principal, door: "http" } as const;
    for (let index = 0; index < 120; index++) {
      await holdfast.abilities.call("holdfast/open-thread", { agent: "clerk" }, caller);
    }
    const client = await connect(server.url, token);
    // The client asks for page after page by itself.
    const uris = (await client.listResources()).resources.map(({ uri }) => uri);
    expect([uris.length, new Set(uris).size]).toEqual([121, 121]);
    const cursor = uris[60]?.replace("holdfast://threads/", "") ?? "";
    const rest = await client.listResources({ cursor });
    expect(rest.resources.map(({ uri }) => uri)).toEqual(uris.slice(61));
  });

  it("goes on when the client has gone", async () => {
    const gate = Promise.withResolvers<void>();
    const { holdfast, server } = await newServer(":memory:", gate.promise);
    const client = await connect(server.url, await tokenOf(holdfast, ANN));
    const leaving = new AbortController();
    const asked = client.callTool(
      { name: "ask_slow", arguments: { message: "Take your time." } },
      { signal: leaving.signal, onprogress: () => leaving.abort() },
    );
    await expect(asked).rejects.toThrow();
    const [thread] = await holdfast.threads.list();
    gate.resolve();
    expect(await (await holdfast.threads.get(thread?.id ?? "")).wait()).toMatchObject({ final_content: "At last." });
  });
});

describe("over standard input and output", () => {
  async function start(): Promise<Client> {
    const program = fileURLToPath(import.meta.resolve("./stdio-program.ts"));
    const client = patientClient();
    const errors: Error[] = [];
    client.onerror = (error) => errors.push(error);
    const transport = new StdioClientTransport({ command: process.execPath, args: [program], stderr: "pipe" });
    await client.connect(transport);
    onTestFinished(async () => {
      await client.close();
      expect(errors).toEqual([]);
    });
    return client;
  }

  it("does the same", async () => {
    const client = await start();
    expect(await named(client)).toEqual(expect.arrayContaining(["holdfast_list_threads", "ask_clerk"]));
    const { thread_id: thread = "" } = valuesOf(await ask(client, "clerk", { message: "Hello." }));
    const { contents } = await client.readResource({ uri: `holdfast://threads/${thread}` });
    expect(JSON.stringify(contents)).toContain("Answer 1.");
  });

  it("prints nothing but the protocol, whatever tools print", async () => {
    const client = await start();
    expect(valuesOf(await ask(client, "printer", { message: "Print." }))).toMatchObject({ reply: "Printed." });
  });
});
