// Promise: `fetch` checks every hop of a redirect as it checked the first, and ends chains that lead nowhere.
import { describe, expect, it } from "vitest";
import { type LocalServer, serve, serveSecurely } from "./local-server.ts";
import { ask, eventPayload, handling } from "./run-plugin.ts";
import { certificateFile } from "./workspace.ts";

async function redirecting(location: string, status = 302): Promise<LocalServer> {
  return await serve((_request, response) => {
    response.writeHead(status, { location });
    response.end("moved");
  });
}

function fetching(url: string, hosts: readonly string[], config: object = {}): object {
  return { ...handling({ url }), config: { allow_hosts: hosts, ...config } };
}

describe("a redirect", () => {
  it("is followed, and the event names where it led", async () => {
    const server = await serve((request, response) => {
      if (request.url === "/page") return response.end("here");
      response.writeHead(301, { location: "page" });
      return response.end();
    });

    const answer = await ask("fetch", fetching(`http://${server.host}/start?q=1`, [server.host]));

    expect(eventPayload(answer)).toMatchObject({
      url: `http://${server.host}/start?q=1`,
      final_url: `http://${server.host}/page`,
      content: "here",
    });
    expect(server.hits).toEqual(["/start?q=1", "/page"]);
  });

  it.each([
    "http://127.0.0.1:PORT/",
    "http://localhost:PORT/",
    "http://[::1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f.1:PORT/",
    "http://0.0.0.0:PORT/",
    "//127.0.0.1:PORT/",
  ])("into this machine is refused for good: %s", async (location) => {
    const inner = await serve((_request, response) => response.end("secret"));
    const outer = await redirecting(location.replace("PORT", String(inner.port)));

    const answer = await ask("fetch", fetching(`http://${outer.host}/`, [outer.host]));

    expect(answer).toMatchObject({ status: "error", retry: false });
    expect(answer.error).toContain("is refused");
    expect(outer.hits).toEqual(["/"]);
    expect(inner.hits).toEqual([]);
  });

  it.each([
    ["file:///etc/passwd", "Only http and https are fetched, not file."],
    ["http://user:word@example.com/", "A URL with a user name or password is not fetched."],
    ["http://:::", "redirects to something that is not a URL."],
  ])("to %s is refused for good", async (location, error) => {
    const server = await redirecting(location);
    const answer = await ask("fetch", fetching(`http://${server.host}/`, [server.host]));
    expect(answer).toMatchObject({ status: "error", retry: false, error: expect.stringContaining(error) });
  });

  it("that leads to itself ends after five", async () => {
    const server = await redirecting("/again");
    const answer = await ask("fetch", fetching(`http://${server.host}/`, [server.host]));
    expect(answer).toMatchObject({ status: "error", retry: false });
    expect(answer.error).toContain("more than 5 redirects");
    expect(server.hits).toHaveLength(6);
  });

  it("without a location is an error of its status", async () => {
    const server = await serve((_request, response) => response.writeHead(302).end());
    const answer = await ask("fetch", fetching(`http://${server.host}/`, [server.host]));
    expect(answer).toMatchObject({
      status: "error",
      retry: false,
      error: `http://${server.host}/ answered 302 Found.`,
    });
  });
});

describe("a redirect from https to http", () => {
  const trusting = () => ({ env: { NODE_EXTRA_CA_CERTS: certificateFile() } });

  async function downgrading() {
    const plain = await serve((_request, response) => response.end("plain"));
    const secure = await serveSecurely((_request, response) => {
      response.writeHead(302, { location: `http://${plain.host}/` });
      response.end();
    });
    return { plain, secure, url: `https://localhost:${secure.port}/`, hosts: [plain.host, `localhost:${secure.port}`] };
  }

  it("is refused for good", async () => {
    const { plain, secure, url, hosts } = await downgrading();
    const answer = await ask("fetch", fetching(url, hosts), trusting());
    expect(answer).toMatchObject({ status: "error", retry: false });
    expect(answer.error).toContain("redirects from https to http");
    expect(secure.hits).toEqual(["/"]);
    expect(plain.hits).toEqual([]);
  });

  it("is followed where config.allow_downgrade is true", async () => {
    const { url, hosts } = await downgrading();
    const answer = await ask("fetch", fetching(url, hosts, { allow_downgrade: true }), trusting());
    expect(eventPayload(answer)).toMatchObject({ content: "plain" });
  });

  it("needs no permission in the other direction", async () => {
    const secure = await serveSecurely((_request, response) => response.end("safe"));
    const plain = await redirecting(`https://localhost:${secure.port}/`);
    const hosts = [plain.host, `localhost:${secure.port}`];
    const answer = await ask("fetch", fetching(`http://${plain.host}/`, hosts), trusting());
    expect(eventPayload(answer)).toMatchObject({ content: "safe" });
  });
});

describe("a certificate that is not trusted", () => {
  it("is an error for good, and nothing is asked for", async () => {
    const server = await serveSecurely((_request, response) => response.end("secret"));
    const answer = await ask("fetch", fetching(`https://${server.host}/`, [server.host]));
    expect(answer).toMatchObject({ status: "error", retry: false });
    expect(server.hits).toEqual([]);
  });
});

describe("a request with a body", () => {
  const posting = (url: string, hosts: readonly string[], methods?: readonly string[]) => ({
    ...handling({ url, method: "post", body: { a: 1 } }),
    config: { allow_hosts: hosts, ...(methods && { methods }) },
  });

  it("is refused unless config.methods allows its method", async () => {
    const server = await serve((_request, response) => response.end());
    const answer = await ask("fetch", posting(`http://${server.host}/`, [server.host]));
    expect(answer).toMatchObject({ status: "error", retry: false });
    expect(answer.error).toBe('The method "post" is not allowed: config.methods allows GET, HEAD.');
    expect(server.hits).toEqual([]);
  });

  it("is sent as JSON where its method is allowed", async () => {
    const server = await serve(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      response.end(`${request.method} ${request.headers["content-type"]} ${body}`);
    });
    const answer = await ask("fetch", posting(`http://${server.host}/`, [server.host], ["GET", "POST"]));
    expect(eventPayload(answer)).toMatchObject({ content: 'POST application/json {"a":1}' });
  });

  it("keeps its body out of a redirect to another host", async () => {
    const inner = await serve((_request, response) => response.end());
    const outer = await redirecting(`http://${inner.host}/`, 307);
    const answer = await ask("fetch", posting(`http://${outer.host}/`, [outer.host, inner.host], ["POST"]));
    expect(answer).toMatchObject({ status: "error", retry: false });
    expect(inner.hits).toEqual([]);
  });

  it("becomes a GET after a 303", async () => {
    const inner = await serve((request, response) => response.end(request.method));
    const outer = await redirecting(`http://${inner.host}/`, 303);
    const answer = await ask("fetch", posting(`http://${outer.host}/`, [outer.host, inner.host], ["POST"]));
    expect(eventPayload(answer)).toMatchObject({ content: "GET" });
  });
});

describe("proxies of the environment", () => {
  it("are not used", async () => {
    const server = await serve((_request, response) => response.end("direct"));
    const proxy = await serve((_request, response) => response.end("through the proxy"));
    const address = `http://${proxy.host}`;
    const env = {
      ...{ HTTP_PROXY: address, http_proxy: address, HTTPS_PROXY: address, ALL_PROXY: address },
      ...{ NODE_USE_ENV_PROXY: "1", NO_PROXY: "" },
    };

    const answer = await ask("fetch", fetching(`http://${server.host}/`, [server.host]), { env });

    expect(eventPayload(answer)).toMatchObject({ content: "direct" });
    expect(proxy.hits).toEqual([]);
  });
});
