import { expect, it } from "vitest";
import { agent } from "../src/index.ts";
import { eachDatabase } from "./databases.ts";

const png = { name: "plan.png", mimeType: "image/png", data: "aGVsbG8=" };

eachDatabase((newWorld) => {
  it("sends files along with a message, once however often it is sent", async () => {
    const world = await newWorld();
    const seen: unknown[] = [];
    const model = (messages: readonly { readonly content: unknown }[]) => {
      seen.push(messages.at(-1)?.content);
      return "Nice.";
    };
    const holdfast = await world.open(agent({ slug: "viewer", model }));
    const thread = await holdfast.threads.open("a", { agent: "viewer" });
    const send = () => thread.send("Look.", { key: "k", attachments: [png, "/notes.txt"] });
    await expect(send()).rejects.toMatchObject({ code: "file_not_found" });
    await (await thread.state()).writeFile("/notes.txt", "Some notes.");
    await send();
    await send();
    expect(seen).toMatchObject([[{ type: "text" }, { media_type: "image/png", data: png.data }]]);
    const state = await thread.state();
    const { messages } = await state.getMessages();
    const [image, notes] = messages[0]?.attachments ?? [];
    expect(image).toMatchObject({ name: "plan.png", mimeType: "image/png", size: 5 });
    expect(notes).toMatchObject({ path: "/notes.txt" });
    expect(await state.getFileStats()).toMatchObject({ files: 2 });
    expect(await state.readFile(image?.path ?? "")).toEqual(new Uint8Array(Buffer.from("hello")));
  });

  it("refuses what is too large or no file before anything is stored", async () => {
    const world = await newWorld();
    const holdfast = await world.open(agent({ slug: "viewer", model: () => "Nice." }));
    const thread = await holdfast.threads.open("a", { agent: "viewer" });
    const large = { ...png, data: Buffer.alloc(40 * 1024 * 1024).toString("base64") };
    await expect(thread.send("Look.", { attachments: [png, large] })).rejects.toMatchObject({ code: "file_too_large" });
    const broken = { ...png, data: "no base64!" };
    await expect(thread.queueMessage("Look.", { attachments: [broken] })).rejects.toMatchObject({
      code: "invalid_argument",
    });
    await expect(thread.send("Look.", { attachments: ["../secret"] })).rejects.toMatchObject({
      code: "invalid_file_path",
    });
    expect(await (await thread.state()).getFileStats()).toMatchObject({ files: 0 });
    expect(await thread.messages()).toEqual([]);
    await thread.terminate();
    await expect(thread.send("Look.", { attachments: [png] })).rejects.toMatchObject({ code: "thread_terminated" });
  });
});
