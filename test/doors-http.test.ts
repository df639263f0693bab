// Promise: every operation is found over HTTP, under its name and at its route, and the description of it is true.
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { fromHeaders } from "../src/contracts/trust/caller-context.ts";
import { createHoldfast } from "../src/holdfast.ts";
import { scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { createApp } from "../src/server/app.ts";
import { signCaller } from "../src/server/caller-trust.ts";
import { ownerToken } from "../src/server/owner-token.ts";
import { serve } from "../src/server/serve.ts";
import { agent } from "../src/threads/agent.ts";
import { type Served, serveRuntime } from "./served-runtime.ts";

const lines: string[] = [];
let served: Served;
beforeAll(async () => {
  const callers = { keys: { "https://agents.example": "shared" }, hosts: ["https://friend.example"] };
  served = await serveRuntime({
    ...{ callers, log: (line: string) => lines.push(line), allowedOrigins: ["https://app.example"] },
    doors: [(app) => app.get("/whoami", (context) => context.json(context.get("principal")))],
  });
});
afterAll(() => served.close());

async function json(token: string, path: string, init?: Parameters<Served["ask"]>[2]) {
  const { status, text } = await served.ask(token, path, init);
  return { status, body: JSON.parse(text) };
}

describe("an operation over HTTP", () => {
  it("takes its input from the path, the query and the body, and the path counts", async () => {
    const own = await served.openThread(served.alice, "one");
    const other = await served.openThread(served.alice, "two");
    const sent = await json(served.alice, `/threads/${own}/messages?thread_id=${other}`, {
      json: { content: "Hello", wait: true, thread_id: other },
    });
    expect(sent).toMatchObject({ status: 202, body: { thread_id: own, status: "completed", final_content: "Yes." } });
    const { body } = await json(served.alice, `/threads/${own}/messages?limit=1&after=0`);
    expect(body).toMatchObject({ messages: [{ seq: 1, message: { content: "Yes." } }], has_more: false });
    expect((await json(served.alice, `/threads/${other}/messages`)).body.messages).toEqual([]);
  });

  it("is the same one under its name", async () => {
    const id = await served.openThread(served.alice, "by name");
    const byRoute = await json(served.alice, `/threads/${id}`);
    const byName = await json(served.alice, "/abilities/holdfast/get-thread", { json: { thread_id: id } });
    expect(byName).toEqual(byRoute);
  });

  it("happens once for an idempotency key", async () => {
    const id = await served.openThread(served.alice, "keyed");
    const send = () =>
      served.ask(served.alice, `/threads/${id}/messages`, {
        json: { content: "Once", wait: true },
        headers: { "Idempotency-Key": "k1" },
      });
    expect((await send()).text).toBe((await send()).text);
    expect((await json(served.alice, `/threads/${id}/messages`)).body.messages).toHaveLength(2);
  });

  it("takes no body at all for an empty one", async () => {
    const id = await served.openThread(served.alice, "stopped");
    expect(await served.ask(served.alice, `/threads/${id}/stop`, { method: "POST" })).toMatchObject({ status: 200 });
  });

  it("tells which fields of its input are wrong", async () => {
    const { status, body } = await json(served.alice, "/threads?limit=many&status=odd");
    expect(status).toBe(400);
    expect(body.data.problems).toEqual([expect.stringMatching(/^status:/), expect.stringMatching(/^limit:/)]);
  });
});

describe("the description of the server", () => {
  it("names every operation, at its name and at its route, and refers to nothing that is not in it", async () => {
    const body = JSON.parse((await served.ask(undefined, "/openapi.json")).text);
    const names = (await json(served.owner, "/abilities")).body.abilities;
    expect(names.length).toBeGreaterThan(50);
    for (const { name, route } of names) {
      expect(body.paths[`/abilities/${name}`], name).toBeDefined();
      if (route) expect(body.paths[route.path][route.method], name).toBeDefined();
    }
    const text = JSON.stringify(body);
    const refs = [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)];
    expect(refs.length).toBeGreaterThan(50);
    for (const [, kind = "", name = ""] of refs) expect(body.components[kind][name], name).toBeDefined();
    expect(text).not.toMatch(/"\$ref":"(?!#\/components\/)/);
    const ids = Object.values<Record<string, { operationId: string }>>(body.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("has a word on every route that the server has", async () => {
    const { paths } = JSON.parse((await served.ask(undefined, "/openapi.json")).text);
    const itself = ["/", "/openapi.json", "/reference"];
    const routes = createApp(served.holdfast)
      .routes.filter(({ path }) => !path.includes("*") && !itself.includes(path))
      .map(({ method, path }) => ({ method, path: path.replaceAll(/:(\w+)(\{[^}]*\})?/g, "{$1}") }));
    const isDescribed = ({ method, path }: (typeof routes)[number]) =>
      paths[path] !== undefined && (method === "ALL" || paths[path][method.toLowerCase()] !== undefined);
    expect(routes.filter((route) => !isDescribed(route))).toEqual([]);
    expect(routes.length).toBeGreaterThan(70);
    const page = (await served.ask(undefined, "/reference")).text;
    for (const path of ["/api/chat", "/v1/chat/completions", "/mcp", "/channels/{name}"]) expect(page).toContain(path);
  });

  it("is where whoever opens the server's address is sent, token or not", async () => {
    const response = await fetch(served.url);
    expect(response).toMatchObject({ status: 200, url: `${served.url}/reference` });
    await response.body?.cancel();
  });

  it("names no two operations at the same route, and every parameter of a path is a field", async () => {
    const operations = served.holdfast.abilities.list("http").filter(({ route }) => route);
    const routes = operations.map(({ route }) => `${route?.method} ${route?.path.replaceAll(/\{\w+\}/g, "{}")}`);
    expect(routes.filter((route, index) => routes.indexOf(route) !== index)).toEqual([]);
    for (const { name, route, inputSchema } of operations) {
      const fields = Object.keys((inputSchema as { properties?: object }).properties ?? {});
      for (const [, field] of (route?.path ?? "").matchAll(/\{(\w+)\}/g)) expect(fields, name).toContain(field);
    }
  });

  it("is a page without scripts for people", async () => {
    const response = await fetch(`${served.url}/reference`);
    const page = await response.text();
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page).not.toMatch(/<script|javascript:|https?:\/\//i);
    expect(page).toContain("POST /threads/{thread_id}/messages");
  });
});

describe("files of a thread", () => {
  it("are stored and sent as they are, and what a browser would run is a download", async () => {
    const id = await served.openThread(served.alice, "files");
    const put = async (path: string, type: string, body: string | Uint8Array<ArrayBuffer>) =>
      await served.ask(served.alice, `/threads/${id}/content/${path}`, {
        method: "PUT",
        body,
        headers: { "content-type": type },
      });
    const get = (path: string) =>
      fetch(`${served.url}/threads/${id}/content/${path}`, { headers: { authorization: `Bearer ${served.alice}` } });
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    expect(await put("a/picture.png", "image/png", bytes)).toMatchObject({ status: 200 });
    expect(await put("page.html", "text/html", "<script>alert(1)</script>")).toMatchObject({ status: 200 });
    expect(await put("drawing.svg", "image/svg+xml", "<svg/>")).toMatchObject({ status: 200 });

    const picture = await get("a/picture.png");
    expect(new Uint8Array(await picture.arrayBuffer())).toEqual(bytes);
    expect(picture.headers.get("content-type")).toBe("image/png");
    expect(picture.headers.get("content-disposition")).toMatch(/^inline; filename\*=UTF-8''picture\.png$/);
    for (const path of ["page.html", "drawing.svg"]) {
      const { headers } = await get(path);
      expect(headers.get("content-disposition")).toMatch(/^attachment;/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toMatch(/^sandbox/);
    }
  });
});

describe("how everything stands", () => {
  it("is JSON, or text for Prometheus, for those who operate the server", async () => {
    expect((await json(served.owner, "/metrics")).body).toMatchObject({ takeovers: 0, threads: expect.any(Object) });
    const { text } = await served.ask(served.owner, "/metrics", { headers: { accept: "text/plain" } });
    expect(text).toMatch(/^# TYPE holdfast_takeovers_total counter\nholdfast_takeovers_total 0$/m);
    expect(text).toMatch(/^holdfast_threads\{status="idle"\} \d+$/m);
    expect(text).toMatch(/^holdfast_oldest_due_age_seconds \d/m);
    const refused = await served.ask(served.alice, "/metrics", { headers: { accept: "text/plain" } });
    expect(refused).toMatchObject({ status: 403, code: "ability_forbidden" });
  });
});

describe("a request", () => {
  it("keeps an id that is one, and is given one otherwise", async () => {
    const idOf = async (given: string) =>
      (await fetch(`${served.url}/health`, { headers: { "X-Request-Id": given } })).headers.get("x-request-id");
    expect(await idOf("trace:1.a_b-C")).toBe("trace:1.a_b-C");
    for (const odd of ["<b>", "a b", "x".repeat(65)]) expect(await idOf(odd)).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("has a line in the log, without what is secret", async () => {
    lines.length = 0;
    await served.ask(served.alice, "/threads/none/stream?ticket=hft_secret&x=private", {
      headers: { "X-Request-Id": "r7" },
    });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        request_id: "r7",
        method: "GET",
        path: "/threads/none/stream",
        status: 404,
        code: "thread_not_found",
        ms: expect.any(Number),
      },
    ]);
    expect(lines.join()).not.toMatch(/hft_|hf_|private/);
  });

  it("of a page that may call is answered so that the page can read it", async () => {
    const response = await fetch(`${served.url}/health`, { headers: { Origin: "https://app.example" } });
    expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(response.headers.get("vary")).toBe("Origin");
    const preflight = await fetch(`${served.url}/threads`, {
      method: "OPTIONS",
      headers: {
        Origin: "https://app.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toBe("authorization,content-type");
    const own = await fetch(`${served.url}/health`);
    expect(own.headers.has("access-control-allow-origin")).toBe(false);
  });
});

describe("the agents behind a request", () => {
  const claims = (host: string) => ({
    "X-Agents-Api-Caller-Agent": "planner",
    "X-Agents-Api-Caller-User": "9",
    "X-Agents-Api-Caller-Host": host,
    "X-Agents-Api-Chain-Depth": "2",
    "X-Agents-Api-Chain-Root": "root-1",
  });
  const chainOf = async (headers: Record<string, string>) =>
    (await json(served.alice, "/whoami", { headers })).body.caller_context;

  it("are believed when their host is trusted or has signed, and passed over otherwise", async () => {
    const unknown = { caller_host: "self", chain_depth: 0, caller_agent_id: "" };
    const known = { chain_depth: 2, caller_agent_id: "planner", chain_root_request_id: "root-1" };
    expect(await chainOf(claims("https://stranger.example"))).toMatchObject(unknown);
    expect(await chainOf(claims("https://agents.example"))).toMatchObject(unknown);
    expect(await chainOf(claims("https://friend.example"))).toMatchObject(known);
    const headers = claims("https://agents.example");
    const request = { method: "GET", path: "/whoami", time: Math.floor(Date.now() / 1_000) };
    const signature = signCaller(fromHeaders(headers), "shared", request);
    expect(await chainOf({ ...headers, "X-Agents-Api-Caller-Signature": signature })).toMatchObject(known);
  });
});

describe("a request whose agents behind it are refused", () => {
  const claims = {
    "X-Agents-Api-Caller-Agent": "planner",
    "X-Agents-Api-Caller-Host": "https://agents.example",
    "X-Agents-Api-Chain-Depth": "1",
    "X-Agents-Api-Chain-Root": "root-1",
  };
  const depth = (text: string) => ({ ...claims, "X-Agents-Api-Chain-Depth": text });
  const forged = {
    ...claims,
    "X-Agents-Api-Caller-Signature": `t=${Math.floor(Date.now() / 1_000)},v1=${"0".repeat(64)}`,
  };
  const cases = [
    [
      "cannot be read",
      depth("-1"),
      "The claims about the agents behind the request are refused: chain_depth must be a whole number in digits.",
    ],
    [
      "are too many",
      depth("17"),
      "The claims about the agents behind the request are refused: chain_depth must not be more than 16.",
    ],
    ["are claimed with a forged signature", forged, "The host that is said to call has not signed this request."],
  ] as const;

  it.each(cases)("is told that they %s, once its token is good", async (_, headers, detail) => {
    const { token, metadata } = await served.holdfast.tokens.create({ agent: "helper", owner_user_id: 2 });
    expect(await json(token, "/whoami", { headers })).toMatchObject({
      status: 401,
      body: { code: "unauthenticated", detail },
    });
    const wrong = await json(`${token.slice(0, -1)}${token.endsWith("x") ? "y" : "x"}`, "/whoami", { headers });
    expect(wrong).toMatchObject({ status: 401, body: { detail: "The token is not, or no longer, a good one." } });
    await served.holdfast.tokens.revoke(metadata.token_id, "helper");
    expect((await json(token, "/whoami", { headers })).body.detail).toBe(wrong.body.detail);
  });
});

describe("a server that ends", () => {
  it("closes streams, lets requests come to their end and takes no more", async () => {
    const gate = Promise.withResolvers<void>();
    const inside = Promise.withResolvers<void>();
    const ending = await serveRuntime({
      doors: [
        (app) =>
          app.get("/slow", async (context) => {
            inside.resolve();
            await gate.promise;
            return context.text("done");
          }),
      ],
    });
    onTestFinished(() => ending.close());
    const id = await ending.openThread(ending.alice, "a");
    const authorization = `Bearer ${ending.alice}`;
    const stream = await fetch(`${ending.url}/threads/${id}/stream`, { headers: { authorization } });
    const slow = fetch(`${ending.url}/slow`, { headers: { authorization } });
    await inside.promise;
    const closed = ending.server.close();
    expect(await stream.text()).toMatch(/: closing\n\n$/);
    gate.resolve();
    const answer = await slow;
    expect([answer.status, await answer.text(), answer.headers.get("connection")]).toEqual([200, "done", "close"]);
    await closed;
    await expect(fetch(`${ending.url}/health`)).rejects.toThrow();
  });

  it("says that it is not ready while it ends", async () => {
    const closing = new AbortController();
    const app = createApp(served.holdfast, { closing: closing.signal });
    const ask = (path: string) => app.request(path, { headers: { host: "localhost" } });
    expect((await ask("/ready")).status).toBe(200);
    closing.abort();
    const refused = await ask("/ready");
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: "server_closing" }]);
    expect((await ask("/health")).status).toBe(200);
  });
});

describe("a server that lets strangers in", () => {
  it("knows them as the public, and nobody who comes with a token that is not good", async () => {
    const open = await serveRuntime({
      anonymousAgent: "helper",
      doors: [(app) => app.get("/whoami", (context) => context.json(context.get("principal")))],
    });
    onTestFinished(() => open.close());
    const { text } = await open.ask(undefined, "/whoami");
    expect(JSON.parse(text)).toMatchObject({ auth_source: "audience", audience_id: "public", acting_user_id: 0 });
    expect(await open.ask("hf_wrong", "/whoami")).toMatchObject({ status: 401 });
    expect(await open.ask(undefined, "/tokens")).toMatchObject({ status: 403, code: "ability_forbidden" });
    expect(await open.ask(undefined, "/threads")).toMatchObject({ status: 403, code: "thread_owner_missing" });
  });
});

describe("a server that is to be reached from elsewhere", () => {
  it("needs tokens, and lets no strangers in", async () => {
    const holdfast = await newRuntime();
    await expect(serve(holdfast, { hostname: "0.0.0.0", port: 0 })).rejects.toMatchObject({ code: "bind_refused" });
    await holdfast.tokens.create({ agent: "helper", owner_user_id: 1 });
    const options = { hostname: "0.0.0.0", port: 0, anonymousAgent: "helper" };
    await expect(serve(holdfast, options)).rejects.toMatchObject({ code: "bind_refused" });
    const server = await serve(holdfast, { hostname: "0.0.0.0", port: 0 });
    await server.close();
  });

  it("says so when it cannot listen", async () => {
    const port = Number(new URL(served.url).port);
    await expect(serve(served.holdfast, { port })).rejects.toMatchObject({ code: "bind_refused" });
    const nowhere = { port: 0, hostname: "nowhere.invalid" };
    await expect(serve(served.holdfast, nowhere)).rejects.toMatchObject({ code: "bind_refused" });
  });

  it.each([70_000, -1, 1.5, Number.NaN, "8484"])("takes no port that is none, such as %j", async (port) => {
    await expect(serve(served.holdfast, { port: port as number })).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it.each([7, null, "", "a\0b"])("takes no host that is none, such as %j", async (hostname) => {
    const options = { port: 0, hostname: hostname as string };
    await expect(serve(served.holdfast, options)).rejects.toMatchObject({ code: "invalid_argument" });
  });
});

describe("the first token", () => {
  it("is made once, for the owner, in a file for nobody else", async () => {
    const folder = await newFolder();
    const holdfast = await newRuntime();
    const file = join(folder, "data", "owner-token");
    const made = await ownerToken(holdfast, { file, agent: "helper" });
    expect(made?.file).toBe(file);
    expect(await readFile(file, "utf8")).toBe(`${made?.token}\n`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, "data"))).toEqual(["owner-token"]);
    expect(await holdfast.tokens.authenticate(made?.token)).toMatchObject({ acting_user_id: 1, token_id: 1 });
    expect(await ownerToken(holdfast, { file, agent: "helper" })).toBeUndefined();
    await holdfast.tokens.revokeAll("helper");
    expect(await ownerToken(holdfast, { file: join(folder, "again"), agent: "helper" })).toBeUndefined();
  });

  it("takes nobody else's place", async () => {
    const file = join(await newFolder(), "owner-token");
    await writeFile(file, "another's");
    const holdfast = await newRuntime();
    await expect(ownerToken(holdfast, { file, agent: "helper" })).rejects.toMatchObject({ code: "owner_token_exists" });
    expect(await readFile(file, "utf8")).toBe("another's");
    expect(await holdfast.tokens.exist()).toBe(false);
  });

  it("is made by one of two that begin at the same time", async () => {
    const file = join(await newFolder(), "owner-token");
    const holdfast = await newRuntime();
    const made = await Promise.all([1, 2].map(() => ownerToken(holdfast, { file, agent: "helper" })));
    const tokens = made.flatMap((each) => each?.token ?? []);
    expect(await readFile(file, "utf8")).toBe(`${tokens[0]}\n`);
    expect(tokens).toHaveLength(1);
    expect(await holdfast.tokens.list("helper")).toHaveLength(1);
  });
});

async function newRuntime() {
  const model = scriptedModel([]);
  const holdfast = await createHoldfast({ backend: sqlite(":memory:"), agents: [agent({ slug: "helper", model })] });
  onTestFinished(() => holdfast.close());
  return holdfast;
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-doors-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
