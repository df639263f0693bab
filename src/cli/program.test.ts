// What commands end with, typed at a running server: scripts tell by the exit code what to do about it.
import { expect, it } from "vitest";
import { type ChatWorld, chatWorld } from "../../test/chat-world.ts";
import { typeLines } from "../../test/doors/type-command.ts";
import { scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { tool } from "../threads/tool.ts";

function shop(): Promise<ChatWorld> {
  const fail = tool({
    ...{ name: "shop/fail", description: "Fails." },
    execute: () => {
      throw new Error("The till is empty.");
    },
  });
  const pay = tool({ name: "shop/pay", description: "Pays.", execute: () => ({ paid: true }) });
  const ask = tool({ name: "shop/ask", description: "Asks.", actionPolicy: "preview", execute: () => "Asked." });
  return chatWorld(agent({ slug: "support", model: scriptedModel([]), tools: [fail, pay, ask] }));
}

it("ends with 1 when a tool that was called has failed, and with 0 when it has not", async () => {
  const world = await shop();
  const id = (await typeLines(world, ["threads", "open", "support"])).out.trim();
  const failed = await typeLines(world, ["tools", "call", id, "shop/fail"]);
  expect(failed).toMatchObject({
    code: 1,
    err: expect.stringContaining("holdfast: tool_failed: shop/fail has failed"),
  });
  expect(JSON.parse(failed.out)).toMatchObject({ success: false });
  const paid = await typeLines(world, ["tools", "call", id, "shop/pay", "{}"]);
  expect([paid.code, JSON.parse(paid.out)]).toMatchObject([0, { success: true }]);
});

it.each<[words: readonly string[], message: string]>([
  [["threads", "list", "--status", "lazy"], "--status must be idle, running, waiting, stopped, terminated or stuck"],
  [["tokens", "create", "support", "--expires", "tomorrow"], "--expires must be a time such as 2027-01-31T12:00:00Z"],
  [["tokens", "create", "support", "--expires", "2027-01-31"], "--expires must be a time such as 2027-01-31T12:00:00Z"],
  [["switches", "off", "thing", "shop/pay"], "<kind> must be tool or agent, not thing."],
  [["tools", "call", "some-thread", "shop/pay", "{oops"], "The parameters must be a JSON object."],
  [["tools", "call", "some-thread", "shop/pay", "7"], "The parameters must be a JSON object."],
])("ends with 2 when it cannot mean what was typed: %j", async (words, message) => {
  const world = await shop();
  const { code, out, err } = await typeLines(world, words);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain(`holdfast: usage: ${message}`);
});

it("names a file that cannot be written", async () => {
  const world = await shop();
  const { code, err } = await typeLines(world, ["audit", "export", "--out", "/nope/record.json", "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(err)).toMatchObject({ error: { code: "file_not_written", hint: expect.any(String) } });
});

it.each([
  [["threads", "frob"], "unknown command 'frob' (Did you mean fork?)"],
  [["threads", "list", "--wide"], "unknown option '--wide'"],
  [["threads", "show"], "missing required argument 'thread'"],
  [["threads"], "A verb is missing."],
])("tells scripts in JSON what is wrong with a command line: %j", async (words, message) => {
  const { code, out, err } = await typeLines({ url: "http://nowhere.invalid", token: "" }, [...words, "--json"]);
  expect([code, out]).toEqual([2, ""]);
  expect(JSON.parse(err)).toEqual({ error: { code: "usage", message, hint: "holdfast --help tells what there is." } });
});

it("says how to go on behind a list that is not whole", async () => {
  const world = await shop();
  for (const key of ["one", "two"]) {
    const id = (await typeLines(world, ["threads", "open", "support", "--key", key])).out.trim();
    await typeLines(world, ["tools", "call", id, "shop/ask"]);
  }
  for (const noun of ["approvals", "requests"]) {
    const first = await typeLines(world, [noun, "list", "--limit", "1"]);
    const [, after = ""] = /^There are more: --after (\S+)$/m.exec(first.err) ?? [];
    const second = await typeLines(world, [noun, "list", "--limit", "1", "--after", after]);
    expect(second.err).toBe("");
    expect(second.out.split("\n")).toHaveLength(3);
    expect(second.out).not.toBe(first.out);
  }
});

it("shows a memory with where it comes from, a line each", async () => {
  const world = await shop();
  await typeLines(world, ["memory", "write", "notes/tone", "Be", "brief."]);
  const { out } = await typeLines(world, ["memory", "show", "notes/tone"]);
  expect(out).toMatch(/^Be brief\.\n\nname +notes\/tone\nlayer +user\n/);
  expect(out).toMatch(/^source_type +\S+$/m);
});
