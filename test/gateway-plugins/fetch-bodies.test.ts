// Promise: whatever a server sends, `fetch` reads no more than it may, and answers with text, an artifact or an error.
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import type { RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { serve } from "./local-server.ts";
import { type Answer, ask, entryPoint, eventPayload, handling, runProgram } from "./run-plugin.ts";
import { newFolder } from "./workspace.ts";

type Headers = Readonly<Record<string, string>>;

const sending =
  (body: string | Buffer, headers: Headers = { "content-type": "text/plain" }, status = 200): RequestListener =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);

/** What the plugin answers about a page of this server. */
async function answerTo(listener: RequestListener, config: object = {}, more: object = {}): Promise<Answer> {
  const { host } = await serve(listener);
  return await ask("fetch", {
    ...handling({ url: `http://${host}/` }),
    config: { allow_hosts: [host], ...config },
    ...more,
  });
}

/** Sends more as long as the connection lasts. */
function forever(response: ServerResponse, chunk: Buffer): void {
  response.write(chunk, (error) => error || setImmediate(forever, response, chunk));
}

const tooLarge = { status: "error", retry: false, error: expect.stringContaining("The body is larger than") };

describe("a body above config.max_bytes", () => {
  it("is refused before it is read when its length is announced", async () => {
    const announced = { "content-type": "text/plain", "content-length": String(1e12) };
    expect(await answerTo((_request, response) => void response.writeHead(200, announced).write("x"))).toMatchObject(
      tooLarge,
    );
  });

  it("is refused when it never ends", async () => {
    expect(await answerTo((_request, response) => forever(response, Buffer.alloc(65_536)))).toMatchObject(tooLarge);
  });

  it("may be exactly as large", async () => {
    const answer = await answerTo(sending("x".repeat(1_000)), { max_bytes: 1_000 });
    expect(eventPayload(answer)).toMatchObject({ bytes: 1_000 });
  });

  it("is refused one byte above, in 2 MiB where nothing is configured", async () => {
    expect(await answerTo(sending("x".repeat(1_001)), { max_bytes: 1_000 })).toMatchObject(tooLarge);
    expect(await answerTo(sending("x".repeat(2 * 1_048_576 + 1)))).toMatchObject(tooLarge);
  });

  it.each([
    ["gzip", gzipSync(Buffer.alloc(200_000_000))],
    ["br", brotliCompressSync(Buffer.alloc(200_000_000))],
  ])("is refused when it is one only after decoding: %s", async (encoding, bomb) => {
    expect(bomb.length).toBeLessThan(1_048_576);
    expect(await answerTo(sending(bomb, { "content-encoding": encoding }))).toMatchObject(tooLarge);
  });
});

describe("a content encoding", () => {
  it.each([
    ["gzip", gzipSync("hello")],
    ["x-gzip", gzipSync("hello")],
    ["br", brotliCompressSync("hello")],
    ["identity", Buffer.from("hello")],
  ])("is undone: %s", async (encoding, body) => {
    const answer = await answerTo(sending(body, { "content-type": "text/plain", "content-encoding": encoding }));
    expect(eventPayload(answer)).toMatchObject({ content: "hello", bytes: 5 });
  });

  it.each([
    ["that was not asked for", "compress", Buffer.from("hello")],
    ["twice", "gzip, gzip", gzipSync(gzipSync("hello"))],
    ["that the body does not have", "gzip", Buffer.from("hello")],
  ])("%s is an error for good", async (_what, encoding, body) => {
    expect(await answerTo(sending(body, { "content-encoding": encoding }))).toMatchObject({
      status: "error",
      retry: false,
    });
  });
});

describe("a server that", () => {
  it.each<[string, RequestListener]>([
    ["never answers", () => {}],
    ["never ends its headers", (request) => void request.socket.write("HTTP/1.1 200 OK\r\nx: ")],
    ["never ends its body", (_request, response) => void response.writeHead(200).write("x")],
  ])("%s is given up, and may be tried again", async (_what, listener) => {
    const answer = await answerTo(listener, { timeout_ms: 200 });
    expect(answer).toMatchObject({ status: "error", retry: true, error: "The page did not arrive within 200 ms." });
  });

  it("cuts the connection may be tried again", async () => {
    const cut: RequestListener = (_request, response) => {
      response.writeHead(200, { "content-length": "100" }).write("x", () => response.destroy());
    };
    expect(await answerTo(cut)).toMatchObject({ status: "error", retry: true });
  });

  it("does not listen may be tried again", async () => {
    // The port of a service from the seventies.
    const request = { ...handling({ url: "http://127.0.0.1:1/" }), config: { allow_hosts: ["127.0.0.1"] } };
    expect(await ask("fetch", request)).toMatchObject({ status: "error", retry: true });
  });

  it("does not speak HTTP is an error for good", async () => {
    const answer = await answerTo((request) => void request.socket.end("SSH-2.0-OpenSSH\r\n\r\n"));
    expect(answer).toMatchObject({ status: "error", retry: false });
  });
});

describe("the status", () => {
  it.each([
    [400, false],
    [401, false],
    [403, false],
    [404, false],
    [408, true],
    [410, false],
    [429, true],
    [500, true],
    [502, true],
    [503, true],
    [304, false],
  ])("%i is an error; trying again may help: %s", async (status, retry) => {
    const answer = await answerTo(sending("", {}, status));
    expect(answer).toMatchObject({ status: "error", retry });
    expect(answer.error).toContain(` answered ${status} `);
  });

  it("is a result where config.ok_statuses lists it", async () => {
    const answer = await answerTo(sending("no such page", { "content-type": "text/plain" }, 404), {
      ok_statuses: [404],
    });
    expect(eventPayload(answer)).toMatchObject({ status_code: 404, content: "no such page" });
  });

  it("of a URL with a key in its query does not repeat the key", async () => {
    const { host } = await serve(sending("", {}, 404));
    const request = handling({ url: `http://${host}/page?key=topsecret` });
    const answer = await ask("fetch", { ...request, config: { allow_hosts: [host] } });
    expect(answer.error).toBe(`http://${host}/page answered 404 Not Found.`);
  });
});

describe("the content", () => {
  it.each([
    ["UTF-8", "text/plain; charset=utf-8", Buffer.from("Grüße")],
    ["Latin-1 by the header", "text/plain; charset=ISO-8859-1", Buffer.from("Grüße", "latin1")],
    ["a quoted charset", 'text/plain; charset="iso-8859-1"', Buffer.from("Grüße", "latin1")],
    ["Latin-1 by the page", "text/html", Buffer.from('<meta charset="iso-8859-1">Grüße', "latin1")],
    [
      "Latin-1 by the XML",
      "text/xml",
      Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>Grüße</a>', "latin1"),
    ],
    ["UTF-16 by its mark", "text/plain; charset=utf-8", Buffer.from("\ufeffGrüße", "utf16le")],
    ["an unknown charset as UTF-8", "text/plain; charset=klingon", Buffer.from("Grüße")],
    ["no content type", "", Buffer.from("Grüße")],
  ])("is decoded from %s", async (_what, type, body) => {
    const payload = eventPayload(await answerTo(sending(body, type === "" ? {} : { "content-type": type })));
    expect(payload.content).toContain("Grüße");
    expect(payload).toMatchObject({ binary: false, content_clipped: false });
  });

  it("is well-formed text without NUL, whatever the bytes are", async () => {
    const answer = await answerTo(sending(Buffer.from([0x61, 0x00, 0xff, 0xed, 0xa0, 0x80, 0x62])));
    const { content } = eventPayload(answer);
    expect(content).toMatch(/^a\ufffd+b$/);
  });

  it("comes without tags, scripts and styles where config.content is text", async () => {
    const page =
      "<html><head><title>Page</title><style>p{}</style></head><body><script>if (a < b) x()</script><!-- no --><p>One <b>&amp;</b> two</p><p>3 < 4</p></body></html>";
    const answer = await answerTo(sending(page, { "content-type": "text/html" }), { content: "text" });
    expect(eventPayload(answer)).toMatchObject({ content: "Page\nOne & two\n3 < 4", excerpt: "Page One & two 3 < 4" });
  });

  it("is clipped to config.max_content_chars, and not in the middle of a character", async () => {
    const answer = await answerTo(sending("ab😀cd"), { max_content_chars: 3 });
    expect(eventPayload(answer)).toMatchObject({ content: "ab", content_clipped: true });
    expect(answer.logs).toContainEqual(expect.objectContaining({ level: "warn" }));
  });

  it("is empty for HEAD, which reads no body", async () => {
    const { host } = await serve((request, response) => response.writeHead(200, { "x-method": request.method }).end());
    const answer = await ask("fetch", {
      ...handling({ url: `http://${host}/`, method: "HEAD" }),
      config: { allow_hosts: [host] },
    });
    expect(eventPayload(answer)).toMatchObject({ status_code: 200, bytes: 0, content: "" });
  });

  it.each([
    "<".repeat(200_000),
    "<script>".repeat(50_000),
    "<!--".repeat(50_000),
    "&".repeat(200_000),
    " \n".repeat(100_000),
  ])("of a page made to be slow to read is read: %.10s…", async (page) => {
    const answer = await answerTo(sending(page, { "content-type": "text/html" }), { content: "text" });
    expect(answer.status).toBe("ok");
  });
});

describe("in a workspace", () => {
  const inside = (workspace_dir: string, step: unknown = 1, job_id = "job-1") => ({
    workspace_dir,
    job_id,
    context: { run_id: "R1", step, tool: "fetch", attempt: 1 },
  });

  it("the body is written to artifacts/fetch-01.html, and the event names it", async () => {
    const workspace = newFolder();
    const answer = await answerTo(
      sending("<p>Hello", { "content-type": "text/html; charset=utf-8" }),
      {},
      inside(workspace),
    );
    expect(eventPayload(answer)).toMatchObject({
      artifact_path: "artifacts/fetch-01.html",
      content_type: "text/html",
      content: "<p>Hello",
      excerpt: "Hello",
    });
    expect(readFileSync(join(workspace, "artifacts/fetch-01.html"), "utf8")).toBe("<p>Hello");
    expect(readdirSync(join(workspace, "artifacts"))).toEqual(["fetch-01.html"]);
  });

  it("a large text is whole in the artifact and clipped in the event", async () => {
    const workspace = newFolder();
    const text = "0123456789".repeat(100_000);
    const payload = eventPayload(await answerTo(sending(text), {}, inside(workspace, 12)));
    expect(payload).toMatchObject({ artifact_path: "artifacts/fetch-12.txt", content_clipped: true, bytes: 1_000_000 });
    expect(payload.content).toBe(text.slice(0, 32_768));
    expect(readFileSync(join(workspace, "artifacts/fetch-12.txt"), "utf8")).toBe(text);
  });

  it("a binary body is only in the artifact, byte for byte", async () => {
    const workspace = newFolder();
    const image = randomBytes(100_000);
    const payload = eventPayload(
      await answerTo(sending(image, { "content-type": "image/png" }), {}, inside(workspace)),
    );
    expect(payload).toMatchObject({ artifact_path: "artifacts/fetch-01.png", binary: true, content: "", excerpt: "" });
    const written = readFileSync(join(workspace, "artifacts/fetch-01.png"));
    expect(createHash("sha256").update(written).digest("hex")).toBe(createHash("sha256").update(image).digest("hex"));
  });

  it("the ending comes from the content type and never from the URL or from the server's wishes", async () => {
    const workspace = newFolder();
    const { host } = await serve(
      sending("x", { "content-type": "text/../../evil", "content-disposition": "a; filename=../b.sh" }),
    );
    const request = { ...handling({ url: `http://${host}/run.sh` }), config: { allow_hosts: [host] } };
    const payload = eventPayload(await ask("fetch", { ...request, ...inside(workspace) }));
    expect(payload.artifact_path).toBe("artifacts/fetch-01.txt");
  });

  it("the same page again is the same file; another page of another job leaves it and gets a name of its own", async () => {
    const workspace = newFolder();
    const [first, again, other] = [
      await answerTo(sending("one"), {}, inside(workspace)),
      await answerTo(sending("one"), {}, inside(workspace)),
      await answerTo(sending("two"), {}, inside(workspace, 1, "../job-2")),
    ].map((answer) => eventPayload(answer).artifact_path);
    expect([first, again, other]).toEqual([
      "artifacts/fetch-01.txt",
      "artifacts/fetch-01.txt",
      "artifacts/fetch-01-job-2.txt",
    ]);
    expect(readFileSync(join(workspace, "artifacts/fetch-01.txt"), "utf8")).toBe("one");
  });

  it("an artifacts folder that leads out of it is refused for good", async () => {
    const [workspace, outside] = [newFolder(), newFolder()];
    symlinkSync(outside, join(workspace, "artifacts"));
    expect(await answerTo(sending("x"), {}, inside(workspace))).toMatchObject({ status: "error", retry: false });
    expect(readdirSync(outside)).toEqual([]);
  });

  it("a link in place of the artifact is not written through", async () => {
    const [workspace, outside] = [newFolder(), newFolder()];
    mkdirSync(join(workspace, "artifacts"));
    writeFileSync(join(outside, "file"), "precious");
    for (const name of ["fetch-01.txt", "fetch-01-job-1.txt", ".fetch-01-job-1.tmp"]) {
      symlinkSync(join(outside, "file"), join(workspace, "artifacts", name));
    }
    const payload = eventPayload(await answerTo(sending("x"), {}, inside(workspace)));
    expect(readFileSync(join(workspace, String(payload.artifact_path)), "utf8")).toBe("x");
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("precious");
  });

  it("that is not there is an error for good", async () => {
    const workspace = join(newFolder(), "missing");
    expect(await answerTo(sending("x"), {}, inside(workspace))).toMatchObject({ status: "error", retry: false });
    expect(existsSync(workspace)).toBe(false);
  });

  it.each([["three"], [-1], [1.5], [null]])("a step that is no number is none: %j", async (step) => {
    const payload = eventPayload(await answerTo(sending("x"), {}, inside(newFolder(), step)));
    expect(payload.artifact_path).toBe("artifacts/fetch-00.txt");
  });
});

describe("a request that is wrong", () => {
  it.each([
    ["nothing", ""],
    ["no JSON", "hello"],
    ["half of it", '{"protocol":2,'],
    ["a list", "[]"],
    ["null", "null"],
    ["10,000 levels", "[".repeat(10_000) + "]".repeat(10_000)],
    ["bytes that are not UTF-8", Buffer.from([0xff, 0xfe, 0x00, 0x80])],
    ["no command", '{"config":{},"payload":{}}'],
    ["an unknown command", '{"command":"poll"}'],
    ["a payload that is a list", '{"command":"handle","payload":[]}'],
    ["a config that is wrong", '{"command":"health","config":{"max_bytes":"many"}}'],
    ["a method that is never allowed", '{"command":"health","config":{"methods":["CONNECT"]}}'],
  ])("has one response: %s", async (_what, input) => {
    const ended = await runProgram(entryPoint("fetch"), input);
    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(ended.stdout)).toMatchObject({ status: "error", retry: false });
  });

  it("is answered for health when it is right", async () => {
    expect(await ask("fetch", { command: "health" })).toMatchObject({ status: "ok" });
  });
});
