import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { openHttpClient } from "./http-client.ts";

async function listen(answer: RequestListener): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

async function collected<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe("a client over HTTP", () => {
  it("says so when nobody is there to be followed", async () => {
    const server = await listen(() => undefined);
    await server.close();
    const events = openHttpClient({ url: server.url, token: undefined }).follow("thread", {});
    await expect(collected(events)).rejects.toMatchObject({ code: "server_unreachable" });
  });

  it("comes back to a server that it has reached before", async () => {
    let tries = 0;
    const server = await listen((request, response) => {
      if (request.url === "/abilities") return void response.end('{"abilities":[]}');
      tries += 1;
      if (tries < 3) return void response.destroy();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end("event: end\ndata: {}\n\n");
    });
    const client = openHttpClient({ url: server.url, token: undefined });
    await client.abilities();
    expect(await collected(client.follow("thread", {}))).toEqual([]);
    expect(tries).toBe(3);
  });

  it("tells whom it asked when the answer breaks off, or is none of ours", async () => {
    const server = await listen((request, response) => {
      if (request.url === "/abilities") return void response.end("<html>");
      response.writeHead(200, { "content-length": "100" });
      response.write("{");
      setImmediate(() => response.destroy());
    });
    const client = openHttpClient({ url: server.url, token: undefined });
    await expect(client.abilities()).rejects.toMatchObject({ code: "server_unreachable" });
    await expect(client.call("holdfast/metrics")).rejects.toMatchObject({ code: "server_unreachable" });
  });

  it.each(["/agents", "/agents/"])("keeps the path that the server is under: %s", async (prefix) => {
    const asked: unknown[] = [];
    const server = await listen((request, response) => {
      asked.push(request.url);
      response.end('{"abilities":[]}');
    });
    const client = openHttpClient({ url: `${server.url}${prefix}`, token: undefined });
    await client.abilities();
    await client.call("holdfast/metrics");
    expect(asked).toEqual(["/agents/abilities", "/agents/abilities/holdfast/metrics"]);
  });
});
