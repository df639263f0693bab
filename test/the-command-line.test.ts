// Promise: everything can be done from a terminal, by people and by scripts, with a server beside it or without.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { verbs } from "../src/cli/verbs.ts";
import { newShell, type Shell } from "./command-line.ts";

const ESCAPE = "\u001b";

describe("the command line", () => {
  it("tells what there is, and what was wrong with a command", async () => {
    const shell = newShell();
    const help = await shell.run(["--help"]);
    expect(help.code).toBe(0);
    for (const noun of new Set(verbs.map(({ name }) => name.split(" ")[0]))) expect(help.out).toContain(`  ${noun}`);
    expect(await shell.run(["threads", "frob"])).toMatchObject({ code: 2, out: "" });
    const odd = await shell.run(["threads", "list", "--limit", "many"]);
    expect(odd).toMatchObject({ code: 2, err: "holdfast: usage: --limit must be a whole number, not many.\n" });
    const beyond = await shell.run(["serve", "--port", "65536"]);
    expect(beyond.err).toBe("holdfast: usage: --port must be a whole number up to 65535, not 65536.\n");
    expect(await shell.run(["abilities", "run", "holdfast/metrics", "[]"])).toMatchObject({ code: 2, out: "" });
  });

  it.each(["--version", "--help", "completion"])("loads nothing of the runtime for %s, which is quick", (word) => {
    const main = new URL("../src/cli/main.ts", import.meta.url).href;
    const noting = `import { registerHooks } from "node:module";
      registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) });
      process.argv = ["node", "holdfast", ${JSON.stringify(word)}, ${word === "completion" ? '"bash"' : ""}];
      await import(${JSON.stringify(main)});`;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", noting], {
      encoding: "utf8",
    });
    expect(status).toBe(0);
    const folders = ["holdfast.ts", "index.ts", "threads/", "abilities/", "backend/", "models/"];
    expect(folders.filter((folder) => stderr.includes(`/src/${folder}`))).toEqual([]);
    expect(stderr).toContain("/src/cli/verbs.ts");
  });

  it("does not go on serving what it cannot say where it is", async () => {
    const shell = newShell();
    mkdirSync(join(shell.folder, ".holdfast", "server.json"), { recursive: true });
    expect(await shell.run(["serve", "--port", "0"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("EISDIR"),
    });
  });

  it("ends when it is done, though the project has left something running, and prints all of it before", async () => {
    const shell = newShell();
    const holdfast = JSON.stringify(new URL("../src/index.ts", import.meta.url).href);
    const project = `import { agent } from ${holdfast};
      setInterval(() => undefined, 60_000);
      export default { agents: [agent({ slug: "support", description: "Helps." })] };`;
    writeFileSync(join(shell.folder, "holdfast.config.mts"), project);
    const server = await shell.serve();
    expect(await server.end()).toBe(0);
    expect(await shell.run(["agents", "list"])).toMatchObject({ code: 0, out: expect.stringContaining("support") });
    const { code, out } = await shell.run(["openapi"]);
    expect(code).toBe(0);
    expect(out.length).toBeGreaterThan(100_000);
    expect(JSON.parse(out)).toHaveProperty("paths");
  });

  it("works on the database itself where no server runs, and exits with what came of it", async () => {
    const shell = newShell();
    const opened = await shell.json("threads", "open", "support", "--key", "mine");
    expect(await shell.json("threads", "open", "support", "--key", "mine")).toMatchObject({ id: opened.id });
    const asked = await shell.run(["threads", "send", String(opened.id), "Where", "is", "order", "7?"]);
    expect(asked).toMatchObject({ code: 0, err: "" });
    expect(asked.out).toContain("lost in the post");
    expect(asked.out).not.toContain(ESCAPE);
    const shown = await shell.run(["threads", "show", String(opened.id)]);
    expect(shown.out).toContain("user: Where is order 7?");
    const missing = await shell.run(["threads", "show", "nobody's", "--json"]);
    expect(missing).toMatchObject({ code: 3, out: "" });
    expect(JSON.parse(missing.err)).toMatchObject({ error: { code: "thread_not_found", hint: expect.any(String) } });
    expect(await shell.run(["run", "nobody", "Hello"])).toMatchObject({ code: 3 });
    for (const nothing of [
      ["run", "support", ""],
      ["threads", "send", String(opened.id), " ", ""],
    ]) {
      expect(await shell.run(nothing)).toMatchObject({
        code: 2,
        out: "",
        err: "holdfast: usage: There is nothing to say.\n",
      });
    }
    expect(await shell.json("threads", "list")).toMatchObject({ threads: [{ id: opened.id }] });
  });

  it("goes through the door of the server beside it, with the owner's token", async () => {
    const shell = newShell();
    const server = await shell.serve();
    expect(statSync(join(shell.folder, ".holdfast", "owner-token")).mode & 0o077).toBe(0);
    const { id } = await shell.json("threads", "open", "support");
    const answer = await fetch(`${server.url}/threads/${String(id)}`, {
      headers: { authorization: `Bearer ${server.token}` },
    });
    expect(await answer.json()).toMatchObject({ id, agent: "support" });
    const listed = await shell.run(["abilities", "list"]);
    expect(listed.out).toMatch(/^holdfast\/get-thread +read +threads\.read /m);
    const refused = newShell({ HOLDFAST_URL: server.url, HOLDFAST_TOKEN: "hf_wrong" });
    expect(await refused.run(["threads", "list"])).toMatchObject({ code: 4, out: "" });
    expect(await server.end()).toBe(0);
    expect(await refused.run(["threads", "list"])).toMatchObject({ code: 5, out: "" });
    expect(await shell.json("threads", "list")).toMatchObject({ threads: [{ id }] });
  });

  it("holds a conversation with a tool, an approval and a client tool, over kill -9 and a restart", async () => {
    const shell = newShell();
    const server = await shell.serve();
    const asked = await shell.run(["chat"], "Where is order 7?\nPlease refund order 7, 12 euros.\n");
    expect(asked.out).toContain("lost in the post");
    expect(asked.out).toContain("A decision is needed: Run shop/refund");
    await server.kill();
    const again = await shell.serve();
    const agreed = await shell.run(["chat"], "y\nWhat is the address for order 8?\nMain street 1\n/quit\n");
    expect(agreed.out).toContain("shop/refund is done");
    expect(agreed.out).toContain("Main street 1");
    expect(booksOf(shell)).toHaveLength(1);
    const { threads } = await shell.json("threads", "list");
    expect(threads).toMatchObject([{ key: "chat", status: "idle" }]);
    await again.end();
  });

  it("decides, answers and explains by what it has printed", async () => {
    const shell = newShell();
    const run = await shell.run(["run", "support", "Please refund order 8, 60 euros."]);
    expect(run.code).toBe(1);
    const [, request = ""] = /holdfast approvals accept (\S+)/.exec(run.out) ?? [];
    const { threads } = (await shell.json("threads", "list")) as { threads: { id: string }[] };
    const doctor = await shell.run(["doctor", threads[0]?.id ?? ""]);
    expect(doctor.out).toContain(request);
    expect(await shell.json("approvals", "list")).toMatchObject({ approvals: [{ request_id: request }] });
    expect(await shell.run(["approvals", "accept", request])).toMatchObject({ code: 0, out: "Accepted.\n" });
    expect((await shell.run(["threads", "tail", threads[0]?.id ?? "", "--until-rest"])).out).toContain("is done");
    expect(booksOf(shell)).toHaveLength(1);
    const late = await shell.run(["approvals", "reject", request]);
    expect(late).toMatchObject({ code: 1, err: expect.stringContaining("request_answered") });
  });

  it("exports a record that a stranger can verify, and notices what was changed in it", async () => {
    const shell = newShell();
    await shell.run(["run", "support", "Where is order 7?"]);
    expect((await shell.run(["audit", "export", "--out", "record.json"])).code).toBe(0);
    const { public_key: key } = await shell.json("audit", "key");
    const verify = (file: string) => shell.run(["audit", "verify", file, "--public-key", String(key)]);
    expect(await verify("record.json")).toMatchObject({ code: 0, out: "The record is whole.\n" });
    const record = readFileSync(join(shell.folder, "record.json"), "utf8");
    writeFileSync(join(shell.folder, "forged.json"), record.replace("order 7", "order 9"));
    expect((await verify("forged.json")).code).toBe(1);
    expect((await shell.run(["audit", "verify", "record.json"])).code).toBe(2);
    const misread = await shell.run(["audit", "verify", "record.json", "--public-key", String(key).slice(1)]);
    expect(misread).toMatchObject({ code: 2, out: "" });
    expect(misread.err).not.toContain("audit_damaged");
  });

  it("begins a project that runs as it stands", async () => {
    const shell = newShell();
    expect((await shell.run(["init"])).out).toContain("wrote holdfast.config.mts");
    expect(await shell.run(["init"])).toMatchObject({ code: 1, err: expect.stringContaining("file_exists") });
    expect(readFileSync(join(shell.folder, "holdfast.config.mts"), "utf8")).toContain("agent({");
    const { out } = await shell.run(["init", "my shop"]);
    expect(out).toContain("wrote my shop/holdfast.config.mts\n");
    expect(out).toContain("\ncd 'my shop'\nnpm install holdfast zod");
  });

  it.each(["bash", "zsh", "fish"])("completes every verb in %s", async (kind) => {
    const { out } = await newShell().run(["completion", kind]);
    for (const word of new Set(verbs.flatMap(({ name }) => name.split(" ")))) expect(out).toContain(word);
  });
});

function booksOf({ folder }: Shell): readonly string[] {
  return readFileSync(join(folder, ".holdfast", "refunds.txt"), "utf8")
    .trim()
    .split("\n");
}
