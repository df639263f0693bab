// Whom the command line gives the owner's token to, with real processes and a stranger who takes a server's place.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { newShell, type Shell } from "../../test/command-line.ts";
import { eventually } from "../../test/eventually.ts";

const program = fileURLToPath(new URL("main.ts", import.meta.url));

describe("a server that the command line finds by itself", () => {
  it("is believed when it proves that it wrote the file, and the key is for its owner alone", async () => {
    const shell = newShell();
    const server = await shell.serve();
    const file = serverFile(shell);
    expect(statSync(file).mode & 0o077).toBe(0);
    const { id } = await shell.json("threads", "open", "support");
    expect(await shell.json("threads", "list")).toMatchObject({ threads: [{ id }] });
    const told = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...told, proof_key: "0".repeat(64) }));
    expect(await shell.run(["threads", "list"])).toMatchObject({
      code: 5,
      err: expect.stringContaining("database_in_use"),
    });
    await server.kill();
  });

  it("gets no token once a stranger has its address", async () => {
    const shell = newShell();
    const server = await shell.serve();
    const { id } = await shell.json("threads", "open", "support");
    await server.kill();
    for (const proof of ["", "a proof of nothing"]) {
      const stranger = await strangerAt(server.url, proof);
      expect(await shell.json("threads", "list")).toMatchObject({ threads: [{ id }] });
      expect(stranger.asked.map(({ path }) => path)).toEqual(["/health"]);
      expect(stranger.asked.filter(({ headers }) => "authorization" in headers)).toEqual([]);
      await stranger.close();
    }
  });

  it("keeps its token from a stranger who is named instead of it", async () => {
    const shell = newShell();
    const server = await shell.serve();
    expect(await shell.json("threads", "list", "--url", server.url)).toMatchObject({ threads: [] });
    const stranger = await strangerAt("http://127.0.0.1:0", "");
    expect((await shell.run(["threads", "list", "--url", stranger.url])).code).not.toBe(0);
    expect(stranger.asked.length).toBeGreaterThan(0);
    expect(stranger.asked.filter(({ headers }) => "authorization" in headers)).toEqual([]);
    await stranger.close();
    await server.kill();
  });

  it("gets no token when a stranger comes between two requests of one command, which goes on with the next server", async () => {
    const shell = newShell();
    const server = await shell.serve();
    const key = keyOf(shell);
    const { id } = await shell.json("threads", "open", "support");
    const tail = follow(shell, String(id));
    await shell.run(["threads", "send", String(id), "Where is order 7?"]);
    await eventually(() => expect(tail.printed()).toContain("lost in the post"));
    await server.kill();
    const stranger = await strangerAt(server.url, "a proof of nothing");
    await eventually(() => expect(stranger.asked.length).toBeGreaterThan(1));
    expect(stranger.asked.filter(({ headers }) => "authorization" in headers)).toEqual([]);
    await stranger.close();
    await shell.serve("--port", new URL(server.url).port);
    expect(keyOf(shell)).not.toBe(key);
    await shell.run(["threads", "send", String(id), "Please refund order 7, 12 euros."]);
    await eventually(() => expect(tail.printed()).toContain("shop/refund"));
  });
});

describe("a server that is there", () => {
  it("says the way back to whoever has revoked the owner's token, and that is one", async () => {
    const shell = newShell();
    const server = await shell.serve();
    const { tokens } = (await shell.json("tokens", "list")) as { tokens: { token_id: number }[] };
    await shell.run(["tokens", "revoke", String(tokens[0]?.token_id)]);
    const lockedOut = await shell.run(["threads", "list"]);
    const file = ".holdfast/owner-token";
    expect(lockedOut).toMatchObject({ code: 4, err: expect.stringContaining("holdfast tokens create holdfast > ") });
    await server.end();
    writeFileSync(join(shell.folder, file), (await shell.run(["tokens", "create", "holdfast"])).out);
    await shell.serve();
    const listed = await shell.run(["tokens", "list", "--revoked"]);
    expect(listed.out).toMatch(/^ID +TOKEN +AGENT +USER +LAST USED +REVOKED +LABEL$/m);
    expect(listed.out.split("\n").map((line) => / no +$/.test(line))).toEqual([false, false, true, false]);
  });

  it("is asked whatever is wrong with the project in this folder", async () => {
    const shell = newShell();
    const server = await shell.serve();
    writeFileSync(join(shell.folder, "holdfast.config.mts"), "export default { agents: [\n");
    expect(await shell.json("agents", "list")).toMatchObject({ agents: [{ slug: "support" }] });
    const elsewhere = newShell({ HOLDFAST_TOKEN: server.token });
    writeFileSync(join(elsewhere.folder, "holdfast.config.mts"), "export default { agents: [\n");
    const named = await elsewhere.json("agents", "list", "--url", server.url);
    expect(named).toMatchObject({ agents: [{ slug: "support" }] });
    expect(await elsewhere.run(["agents", "list"])).toMatchObject({ code: 1, out: "" });
  });
});

function serverFile({ folder }: Shell): string {
  return join(folder, ".holdfast", "server.json");
}

function keyOf(shell: Shell): unknown {
  return JSON.parse(readFileSync(serverFile(shell), "utf8")).proof_key;
}

type Asked = { readonly path: string | undefined; readonly headers: IncomingHttpHeaders };

/** Says yes to everything, and remembers what it was sent. */
type Stranger = { readonly url: string; readonly asked: Asked[]; close(): Promise<void> };

async function strangerAt(url: string, proof: string): Promise<Stranger> {
  const asked: Asked[] = [];
  const server = createServer(({ url: path, headers }, response) => {
    asked.push({ path, headers });
    response.setHeader("x-holdfast-proof", proof);
    response.end('{"status":"ok"}');
  });
  const { hostname, port } = new URL(url);
  server.listen(Number(port), hostname);
  await once(server, "listening");
  const close = async () => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(close);
  return { url: `http://${hostname}:${(server.address() as AddressInfo).port}`, asked, close };
}

function follow({ folder }: Shell, threadId: string): { printed(): string } {
  const child: ChildProcess = spawn(process.execPath, [program, "threads", "tail", threadId], { cwd: folder });
  let printed = "";
  child.stdout?.on("data", (chunk) => {
    printed += String(chunk);
  });
  onTestFinished(async () => {
    const ended = once(child, "exit");
    if (child.exitCode === null && child.kill("SIGKILL")) await ended;
  });
  return { printed: () => printed };
}
