import { beforeEach, describe, expect, it } from "vitest";
import { commit, directScope, hostInTest, keptScope, openThread, storeMessages } from "../../../test/thread-states.ts";
import type { Thread } from "../../backend/thread-rows.ts";
import * as message from "../../contracts/conversation/message.ts";
import type { Host } from "../host.ts";
import { createEntry } from "../new-entry.ts";
import { createThreadState } from "./create-thread-state.ts";
import { fileState } from "./file-state.ts";
import type { StateScope } from "./state-scope.ts";

let host: Host;
let thread: Thread;

beforeEach(async () => {
  host = await hostInTest();
  thread = await openThread(host);
});

const direct = (parts: Partial<StateScope> = {}) => createThreadState(host, directScope(host, thread, parts));
const files = () => fileState(host, directScope(host, thread));
const said = async (query = {}) => (await direct().getMessages(query)).messages.map(({ content }) => content);

/** A user asked, the model called two tools and then answered. */
async function conversation(): Promise<void> {
  const call = (id: string) =>
    message.toolCall({ tool_name: "shop/refund", parameters: {}, turn: 1, metadata: { tool_call_id: id } });
  const result = (id: string) =>
    message.toolResult({
      content: id,
      tool_name: "shop/refund",
      payload: { success: true },
      metadata: { tool_call_id: id },
    });
  await storeMessages(host, thread, [
    [message.normalize({ role: "user", content: "Refund it.", id: "question" })],
    [message.text("assistant", "One moment.")],
    [call("c1")],
    [message.text("assistant", "Within c1."), { depth: 1, parent_seq: 2 }],
    [result("c1")],
    [call("c2")],
    [result("c2")],
    [message.normalize({ role: "assistant", content: "Done.", id: "answer", metadata: { turn: 2 } })],
  ]);
}

describe("the messages of a thread", () => {
  it("are what is stored, then what is queued", async () => {
    await conversation();
    const { id } = await direct().queueMessage("And another one.");
    expect(await said()).toEqual(["Refund it.", "One moment.", "c1", "c2", "Done.", "And another one."]);
    expect(await said({ limit: 2 })).toEqual(["Done.", "And another one."]);
    expect(await direct().getMessage(id)).toMatchObject({
      id,
      status: "pending",
      role: "user",
      metadata: { queued: true },
    });
    expect(await direct().getMessage("question")).toMatchObject({ content: "Refund it.", status: null });
    expect(await direct().getMessage("nobody's")).toBeNull();
  });

  it("hold what the same call has left, before anybody else sees it", async () => {
    const scope = keptScope(host, thread);
    const messages = createThreadState(host, scope);
    const { id } = await messages.queueMessage({ role: "assistant", content: "For side B." });
    expect(await messages.getMessage(id)).toMatchObject({ role: "assistant", status: "pending" });
    expect(await direct().getMessage(id)).toBeNull();
    await commit(host, thread.id, scope.buffer);
    expect(await direct().getMessage(id)).toMatchObject({ role: "assistant", status: "pending" });
  });

  it("are shown silent ones only when that is asked for", async () => {
    await direct().queueMessage({ content: "Psst.", silent: true });
    expect([await said(), await said({ includeSilent: true })]).toEqual([[], ["Psst."]]);
  });
});

describe("a message that is injected", () => {
  it("is as good as stored, and nothing starts for it", async () => {
    const { id } = await direct().injectMessage({ role: "system", content: "Mind the gap.", metadata: { by: "code" } });
    expect(await host.stores.inbox.waiting(thread.id)).toMatchObject([{ id, kind: "inject" }]);
    expect(await direct().getMessage(id)).toMatchObject({ role: "system", status: null, metadata: { by: "code" } });
    expect((await direct().getMessage(id))?.metadata).not.toHaveProperty("queued");
  });

  it("tells which effect it came from, as one that is queued does", async () => {
    const effect = { id: "e1", name: "remind" };
    await direct({ effect }).injectMessage({ content: "Remember." });
    await direct({ effect }).queueMessage("Remember!");
    const { messages } = await direct().getMessages();
    expect(messages.map(({ metadata }) => metadata.scheduledEffect)).toEqual([effect, effect]);
  });
});

describe("the files of a message", () => {
  const png = { name: "cat.png", mimeType: "image/png", data: Buffer.from("bytes").toString("base64"), width: 2 };

  it("are those of the thread that it names, and new ones that are stored with it", async () => {
    await files().writeFile("/notes/plan.md", "plan");
    const attachments = ["notes/plan.md", { path: "/notes/plan.md", name: "The plan", description: "Of mine." }, png];
    const { id } = await direct().queueMessage({ content: "See.", attachments });
    const shown = (await direct().getMessage(id))?.attachments ?? [];
    expect(shown).toMatchObject([
      { type: "file", path: "/notes/plan.md", name: "plan.md", mimeType: "text/markdown", size: 4 },
      { path: "/notes/plan.md", name: "The plan", description: "Of mine." },
      { path: expect.stringMatching(/^\/attachments\/\d+-[0-9a-f]{8}\.png$/), name: "cat.png", size: 5, width: 2 },
    ]);
    expect(Buffer.from((await files().readFile(shown[2]?.path ?? "")) ?? []).toString()).toBe("bytes");
    expect(JSON.stringify(await host.stores.inbox.waiting(thread.id))).not.toContain(png.data);
  });

  it.each([
    [
      "a missing file",
      ["/gone.txt", "/also gone.txt"],
      'file_not_found: There is no file "/gone.txt", "/also gone.txt".',
    ],
    ["a directory", ["/attachments"], "file_not_found: "],
    ["a path that leads out", ["../x"], "invalid_file_path: "],
    ["what is no base64", [{ ...png, data: "no!" }], "invalid_argument: "],
    ["what is neither", [{ name: "x" }], "invalid_argument: "],
    ["100 MB", [{ ...png, data: "A".repeat(140_000_000) }], 'file_too_large: "cat.png" has 105000000 bytes'],
  ])("are never %s: nothing is stored and nothing is left", async (_, wrong, error) => {
    const attachments = [png, ...(wrong as string[])];
    await expect(direct().queueMessage({ content: "See.", attachments })).rejects.toThrow(error);
    expect([await files().getFileStats(), await host.stores.inbox.waiting(thread.id)]).toEqual([
      { files: 0, bytes: 0 },
      [],
    ]);
  });
});

describe("a message that is changed", () => {
  it("is shown as it will be, and stays who it is", async () => {
    await conversation();
    expect(await direct().updateMessage("answer", { content: "All done.", metadata: { mood: "good" } })).toBe(true);
    expect(await direct().getMessage("answer")).toMatchObject({
      ...{ id: "answer", content: "All done.", metadata: { turn: 2, mood: "good" } },
    });
    await direct().updateMessage("answer", { metadata: { mood: "better" } });
    expect(await direct().getMessage("answer")).toMatchObject({ content: "All done.", metadata: { mood: "better" } });
    expect(await direct().updateMessage("message-1", { content: "Wait." })).toBe(true);
    expect(await direct().getMessage("message-1")).toMatchObject({ content: "Wait.", tool_calls: [{}, {}] });
    expect(await direct().updateMessage("nobody's", { content: "x" })).toBe(false);
  });

  it("is not shown any more once it is deleted", async () => {
    await conversation();
    expect([await direct().deleteMessage("question"), await direct().deleteMessage("question")]).toEqual([true, false]);
    expect(await said()).toEqual(["One moment.", "c1", "c2", "Done."]);
  });

  it("takes its calls, their results and what was said within them along", async () => {
    await conversation();
    expect(await direct().deleteMessage("message-1")).toBe(true);
    expect(await said({ maxDepth: 9, includeSilent: true })).toEqual(["Refund it.", "Done."]);
  });

  it("takes along the files that came with it, and none that others point to", async () => {
    await files().writeFile("/attachments/shared.txt", "x");
    await files().writeFile("/attachments/own.txt", "x");
    await files().writeFile("/plan.md", "x");
    const attached = (...paths: string[]) => ({ attachments: paths.map((path) => ({ id: path, type: "file", path })) });
    const all = attached("/attachments/shared.txt", "/attachments/own.txt", "/plan.md");
    await storeMessages(host, thread, [
      [message.normalize({ role: "user", content: "One.", id: "one", metadata: all })],
      [message.normalize({ role: "user", content: "Two.", id: "two", metadata: attached("/attachments/shared.txt") })],
    ]);
    await direct().deleteMessage("one");
    expect((await files().findFiles("**")).map(({ path }) => path)).toEqual(["/attachments/shared.txt", "/plan.md"]);
  });

  it("is taken back with its files while it is queued", async () => {
    const attachments = [{ name: "a.txt", mimeType: "text/plain", data: "AAAA" }];
    const { id } = await direct().queueMessage({ content: "Never mind.", attachments });
    expect(await direct().updateMessage(id, { content: "x" })).toBe(false);
    expect([await direct().deleteMessage(id), await direct().deleteMessage(id)]).toEqual([true, false]);
    expect([await said(), await files().getFileStats()]).toEqual([[], { files: 0, bytes: 0 }]);

    const scope = keptScope(host, thread);
    const kept = createThreadState(host, scope);
    expect(await kept.deleteMessage((await kept.queueMessage("Nor this.")).id)).toBe(true);
    expect(scope.buffer.entries).toEqual([]);
  });
});

describe("a thread that was terminated", () => {
  it.each([
    ["kept", () => createThreadState(host, keptScope(host, thread))],
    ["direct", () => direct()],
  ] as const)("refuses messages, also through a %s state that was made before", async (_, open) => {
    const messages = open();
    await host.stores.threads.terminate(thread.id, createEntry.stop("Enough."));
    await expect(messages.queueMessage("Hello?")).rejects.toThrow(/^thread_terminated: /);
    await expect(messages.injectMessage({ content: "Hello?" })).rejects.toThrow(/^thread_terminated: /);
    expect(await messages.getMessages()).toEqual({ messages: [], total: 0, hasMore: false });
  });
});

it.each([
  ["another role", { role: "tool", content: "x" }],
  ["content that is no text", { content: 7 }],
  ["attachments that are no list", { content: "x", attachments: "/a" }],
  ["nothing", null],
])("a message with %s is refused", async (_, given) => {
  await expect(direct().queueMessage(given as never)).rejects.toThrow(/^invalid_argument: /);
});
