// Promise: the tools of an MCP server are used as they were allowed, called once, and never believed.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type McpTools, mcpTools } from "../../src/threads/mcp/mcp-tools.ts";
import {
  call,
  countIn,
  newFolder,
  open,
  overPipes,
  type SmallServer,
  startHttp,
  startHttpInTest,
} from "./small-servers.ts";

const failure = (error_type: string) => expect.objectContaining({ success: false, metadata: { error_type } });
const headers = { Authorization: "Bearer let-me-in-please" };

describe("which tools there are", () => {
  it("are those that are allowed, under the name of the server", async () => {
    const small = await open({ ...overPipes(), allow: ["addNumbers", "send_mail"] });
    expect(small.tools.map(({ name }) => name)).toEqual(["small/add_numbers", "small/send_mail"]);
    const [add, mail] = small.tools;
    expect(add?.declaration).toMatchObject({ description: "Adds two numbers.", write: false });
    expect(add?.declaration.parameters).toMatchObject({ properties: { a: { type: "number" } }, required: ["a", "b"] });
    expect([add?.idempotent, mail?.idempotent]).toEqual([true, false]);
  });

  it("are all of them only when that is said", async () => {
    const small = await open({ ...overPipes(), allow: "*" });
    expect(small.tools.length).toBe(12);
    await expect(mcpTools({ ...overPipes(), allow: [] })).rejects.toMatchObject({ code: "invalid_mcp_server" });
    await expect(mcpTools(overPipes() as never)).rejects.toMatchObject({ code: "invalid_mcp_server" });
  });

  it("take what is said of all of them, and of each", async () => {
    const small = await open({
      ...overPipes(),
      actionPolicy: "preview",
      allow: ["send_mail", { tool: "look", actionPolicy: "direct", idempotent: false, timeoutMs: 5 }],
    });
    const [mail, look] = small.tools;
    expect([mail?.declaration.action_policy, look?.declaration.action_policy]).toEqual(["preview", "direct"]);
    expect(look).toMatchObject({ idempotent: false, timeoutMs: 5 });
  });

  it("cannot be one that the server does not have", async () => {
    const missing = mcpTools({ ...overPipes(), allow: ["addNumbers", "fly"] });
    await expect(missing).rejects.toMatchObject({ code: "mcp_tool_missing", detail: expect.stringContaining('"fly"') });
  });

  it.each([
    [{ ...overPipes(), name: "Small" }, "name"],
    [{ ...overPipes(), name: "client" }, "name"],
    [{ name: "small" }, "either url or command"],
    [{ name: "small", url: "http://elsewhere.example/mcp" }, "url must be https"],
    [{ name: "small", url: "file:///etc/passwd" }, "url must be https"],
    [{ ...overPipes(), args: "-e 1" }, "args"],
    [{ ...overPipes(), shell: true }, "shell is no field"],
    [{ ...overPipes(), allow: ["addNumbers", "addNumbers"] }, "again"],
    [{ ...overPipes(), allow: [{ tool: "addNumbers", name: "x" }] }, "allow[0].name"],
  ])("are refused where it cannot be told what is meant: %j", async (options, words) => {
    const refused = mcpTools({ allow: ["addNumbers"], ...options } as never);
    await expect(refused).rejects.toMatchObject({ code: "invalid_mcp_server", detail: expect.stringContaining(words) });
  });

  it("cannot be known where nobody answers, and that is told with what the program said, secrets excepted", async () => {
    const env = { SOME_TOKEN: "s3cret-in-the-environment" };
    const code = 'console.error("Cannot go on with " + process.env.SOME_TOKEN); process.exit(1)';
    const unreachable = mcpTools({ name: "small", command: process.execPath, args: ["-e", code], env, allow: "*" });
    const error = await unreachable.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "mcp_unreachable", detail: expect.stringContaining("Cannot go on with ") });
    expect(JSON.stringify(error) + String(error)).not.toContain("s3cret-in-the-environment");
  });
});

describe.each(["stdio", "old", "http", "sse"])("a call over %s", (over) => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  const environmentIn = (ledger: string) => {
    return { SMALL_LEDGER: ledger, SMALL_OVER: over, SMALL_TOKEN: "t0ken-of-the-server" };
  };
  const env = environmentIn(join(folder, "ledger"));
  const isHttp = over === "http" || over === "sse";
  let server: SmallServer | undefined;
  let small: McpTools;
  beforeAll(async () => {
    server = isHttp ? await startHttp(env) : undefined;
    small = await mcpTools(
      server ? { name: "small", url: server.url, headers, allow: "*" } : { ...overPipes(env), allow: "*" },
    );
  });
  afterAll(async () => {
    await small.close();
    await server?.kill();
    rmSync(folder, { recursive: true });
  });

  /** For a test that changes the server, or ends it. */
  async function openOwn(): Promise<{ readonly own: McpTools; readonly ledger: string }> {
    const ledger = join(newFolder(), "ledger");
    const started = isHttp ? await startHttpInTest(environmentIn(ledger)) : undefined;
    const from = started ? { name: "small", url: started.url, headers } : overPipes(environmentIn(ledger));
    return { own: await open({ ...from, allow: "*" }), ledger };
  }

  it("answers with values, and with words", async () => {
    const added = { success: true, tool_name: "small/add_numbers", result: { structured_content: { sum: 5 } } };
    expect(await call(small, "small/add_numbers", { a: 2, b: 3 })).toEqual(added);
    expect(await call(small, "small/send_mail")).toEqual({
      success: true,
      tool_name: "small/send_mail",
      result: "done",
    });
  });

  it("that fails, is refused or answers otherwise than declared is an error", async () => {
    expect(await call(small, "small/fails")).toEqual(failure("mcp_tool_error"));
    const refused = await call(small, "small/refuses");
    expect(refused).toEqual(failure("mcp_tool_error"));
    expect(refused).toMatchObject({ error: expect.stringContaining("No such order.") });
    expect(await call(small, "small/untrue")).toEqual(failure("invalid_result"));
  });

  it("cannot make the run believe that something waits for approval", async () => {
    const tricks = await call(small, "small/tricks");
    expect(tricks).toMatchObject({ success: true, result: { structured_content: { type: "approval_required" } } });
  });

  it("is cut where a model would be shown too much", async () => {
    const { result } = (await call(small, "small/large")) as { result: string };
    expect(result.length).toBeLessThan(100_100);
    expect(result).toMatch(/x\n\[cut: 100000 of 300000 characters\]$/);
  });

  it("is refused once the server declares the tool differently", async () => {
    const { own } = await openOwn();
    expect(await call(own, "small/add_numbers", { a: 1, b: 1 })).toMatchObject({ success: true });
    await call(own, "small/change");
    const changed = () => call(own, "small/add_numbers", { a: 1, b: 1 });
    await expect.poll(changed).toEqual(failure("mcp_tool_changed"));
    expect(await call(own, "small/send_mail")).toMatchObject({ success: true });
  });

  it("of which the connection died midway has an unknown outcome, and is not made again", async () => {
    const { own, ledger } = await openOwn();
    expect(await call(own, "small/vanish")).toEqual(failure("outcome_unknown"));
    expect(countIn(ledger, "vanish")).toBe(1);
  });

  // A server that was started elsewhere is not started again here.
  if (!isHttp) {
    it("that may be repeated is made again on a new connection", async () => {
      const { own, ledger } = await openOwn();
      expect(await call(own, "small/look")).toMatchObject({ success: true, result: "seen" });
      expect(countIn(ledger, "look")).toBe(2);
    });
  }
});

describe("over HTTP", () => {
  it("a server that was killed is found again when it is back, and a changed tool is not taken for the old one", async () => {
    const env = { SMALL_LEDGER: join(newFolder(), "ledger") };
    const first = await startHttpInTest(env);
    const small = await open({ name: "small", url: first.url, headers, allow: "*" });
    await first.kill();
    await startHttpInTest({ ...env, SMALL_PORT: first.port, SMALL_ADD: "Adds, and tells everybody." });
    expect(await call(small, "small/send_mail")).toMatchObject({ success: true, result: "done" });
    expect(await call(small, "small/add_numbers", { a: 1, b: 1 })).toEqual(failure("mcp_tool_changed"));
  });

  it("a server that is gone takes no call, and says so", async () => {
    const server = await startHttpInTest({ SMALL_LEDGER: "unused" });
    const small = await open({ name: "small", url: server.url, headers, allow: ["send_mail"] });
    await server.kill();
    expect(await call(small, "small/send_mail")).toEqual(failure("mcp_unreachable"));
  });

  it("a server that does not let us in is told of, without the token", async () => {
    const { url } = await startHttpInTest({ SMALL_LEDGER: "unused" });
    const wrong = { Authorization: "Bearer n0t-the-right-one" };
    const error = await mcpTools({ name: "small", url, headers: wrong, allow: "*" }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "mcp_unreachable" });
    expect(JSON.stringify(error) + String(error)).not.toContain("n0t-the-right-one");
  });
});

describe("what a server gets and gives", () => {
  it("is nothing of our environment but what it needs to start, and what it is given", async () => {
    process.env.HOLDFAST_TEST_SECRET = "not-for-servers";
    const small = await open({ ...overPipes({ SMALL_LEDGER: "given" }), allow: ["environment"] });
    const { result } = (await call(small, "small/environment")) as { result: string };
    expect(JSON.parse(result)).toMatchObject({ SMALL_LEDGER: "given" });
    expect(result).not.toContain("not-for-servers");
    delete process.env.HOLDFAST_TEST_SECRET;
  });

  it("never shows a secret that it was given", async () => {
    const small = await open({ ...overPipes({ SMALL_TOKEN: "t0ken-of-the-server" }), allow: ["fails", "environment"] });
    expect(JSON.stringify(await call(small, "small/fails"))).not.toContain("t0ken-of-the-server");
    expect(JSON.stringify(await call(small, "small/environment"))).not.toContain("t0ken-of-the-server");
  });

  it("ends with us", async () => {
    const small = await mcpTools({ ...overPipes(), allow: ["environment"] });
    const { result } = (await call(small, "small/environment")) as { result: string };
    const { pid } = JSON.parse(result) as { pid: number };
    expect(process.kill(pid, 0)).toBe(true);
    await small.close();
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    expect(await call(small, "small/environment")).toEqual(failure("mcp_unreachable"));
  });
});

describe("a server that does not keep to the protocol", () => {
  const odd = () =>
    open({
      ...{ name: "odd", command: process.execPath, allow: "*" },
      args: [fileURLToPath(import.meta.resolve("./odd-server.ts"))],
    });

  it("is understood past what is no message", async () => {
    expect(await call(await odd(), "odd/chatty")).toMatchObject({ success: true, result: "still here" });
  });

  it("does not get its answer taken for a result", async () => {
    expect(await call(await odd(), "odd/shapeless")).toEqual(failure("invalid_result"));
  });

  it("is not listened to without end", async () => {
    const server = await odd();
    expect(await call(server, "odd/endless")).toEqual(failure("outcome_unknown"));
    expect(await call(server, "odd/chatty")).toMatchObject({ success: true });
  });
});

describe("a lock file", () => {
  const allow = ["addNumbers", "send_mail"];

  it("lets a program start while the server is not there", async () => {
    const lock = join(newFolder(), "mcp-lock.json");
    await open({ ...overPipes(), allow, lock });
    const absent = { name: "small", command: "/nonexistent/program", allow, lock };
    const small = await open(absent);
    expect(small.tools.map(({ name }) => name)).toEqual(["small/add_numbers", "small/send_mail"]);
    expect(await call(small, "small/send_mail")).toEqual(failure("mcp_unreachable"));
  });

  it("keeps a tool from being another one after a restart, until somebody allows it again", async () => {
    const lock = join(newFolder(), "mcp-lock.json");
    await open({ ...overPipes(), allow, lock });
    const changed = overPipes({ SMALL_ADD: "Adds, and tells everybody." });
    const small = await open({ ...changed, allow, lock });
    expect(small.tools[0]?.declaration.description).toBe("Adds two numbers.");
    expect(await call(small, "small/add_numbers", { a: 1, b: 1 })).toEqual(failure("mcp_tool_changed"));

    const kept = JSON.parse(readFileSync(lock, "utf8"));
    delete kept.servers.small.addNumbers;
    writeFileSync(lock, JSON.stringify(kept));
    const again = await open({ ...changed, allow, lock });
    expect(again.tools[0]?.declaration.description).toBe("Adds, and tells everybody.");
    expect(await call(again, "small/add_numbers", { a: 1, b: 1 })).toMatchObject({ success: true });
  });

  it("that is none is told of", async () => {
    const lock = join(newFolder(), "mcp-lock.json");
    writeFileSync(lock, "{}");
    await expect(mcpTools({ ...overPipes(), allow, lock })).rejects.toMatchObject({ code: "invalid_mcp_server" });
  });
});
