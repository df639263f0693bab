import { describe, expect, it } from "vitest";
import * as message from "../conversation/message.ts";
import type { JsonMap } from "../json.ts";
import { type ImageView, projectImages } from "./project-images.ts";

const text = message.text;

function file(name: string, parts: JsonMap = {}) {
  const mimeType = name.endsWith(".pdf") ? "application/pdf" : name.endsWith(".svg") ? "image/svg+xml" : "image/png";
  return { id: name, type: "file", path: `/attachments/${name}`, name, mimeType, size: 2048, ...parts };
}

const view: ImageView = {
  ...{ recentImageThreshold: 10, supportsImages: true },
  read: async (path) => {
    if (path.includes("broken")) throw new Error("The disk is gone.");
    if (path.includes("gone")) return null;
    return { data: "AAAA", mediaType: path.endsWith(".svg") ? "image/svg+xml" : "image/png" };
  },
};
const blind: ImageView = { ...view, supportsImages: false };
const later: ImageView = { ...view, recentImageThreshold: 0 };

const part = (filename: string) => ({ type: "file", media_type: "image/png", data: "AAAA", filename });
const words = (content: string) => ({ type: "text", text: content });
const attached = (...names: string[]) => ({ attachments: names.map((name) => file(name)) });
const inline = { type: "image_url", image_url: { url: "https://example.com/a.png" } };

describe("projectImages", () => {
  it.each<readonly [string, message.Message, ImageView, message.Message["content"]]>([
    [
      "words, then images",
      text("user", "See.", attached("a.png", "b.png")),
      view,
      [words("See."), part("a.png"), part("b.png")],
    ],
    ["images alone", text("user", "", attached("a.png")), view, [part("a.png")]],
    ["other files by name", text("user", "Read.", attached("r.pdf")), view, "Read.\n\n[file: r.pdf]"],
    ["both", text("user", "Read.", attached("r.pdf", "a.png")), view, [words("Read.\n\n[file: r.pdf]"), part("a.png")]],
    ["an older image by name and size", text("user", "See.", attached("a.png")), later, "See.\n\n[image: a.png, 2 kB]"],
    [
      "an older image by name and description",
      text("user", "", { attachments: [file("a.png", { description: "A cat." })] }),
      later,
      "[image: a.png, A cat.]",
    ],
    [
      "an image by name to a model that sees none",
      text("user", "See.", attached("a.png")),
      blind,
      "See.\n\n[image: a.png, 2 kB]",
    ],
    [
      "that an image is not there",
      text("user", "See.", attached("gone.png")),
      view,
      "See.\n\n[image: gone.png, which cannot be read]",
    ],
    [
      "that an image cannot be read",
      text("user", "", attached("broken.png")),
      view,
      "[image: broken.png, which cannot be read]",
    ],
    [
      "an image of a kind that providers refuse by name",
      text("user", "", attached("a.svg")),
      view,
      "[image: a.svg, 2 kB]",
    ],
    [
      "files of the model itself by name",
      text("assistant", "Here.", attached("a.png")),
      view,
      "Here.\n\n[image: a.png, 2 kB]",
    ],
    [
      "images beside parts that were given",
      text("user", [words("See.")], attached("a.png", "r.pdf")),
      view,
      [words("See."), words("[file: r.pdf]"), part("a.png")],
    ],
    [
      "parts that were given, without their images, to a model that sees none",
      text("user", [words("See."), inline]),
      blind,
      [words("See.")],
    ],
    [
      "a word in place of a message of nothing but such images",
      text("user", [inline]),
      blind,
      "[image: not shown to this model]",
    ],
    [
      "the names of files where nothing else is left",
      text("user", [inline], attached("a.png")),
      blind,
      [words("[image: a.png, 2 kB]")],
    ],
  ])("shows %s", async (_, given, how, content) => {
    const [shown] = await projectImages([given], how);
    expect(shown?.content).toEqual(content);
    expect(shown).toEqual(message.normalize({ ...shown }));
    expect(await projectImages([shown as message.Message], how)).toEqual([shown]);
  });

  it.each([
    { type: "file", media_type: "image/png", data: "AAAA" },
    { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
    { type: "file", data: "data:image/png;base64,AAAA" },
    { type: "input_image", image_url: "https://example.com/a.png" },
  ])("knows an image however the host wrote it: %j", async (image) => {
    const [shown] = await projectImages([text("user", [words("See."), image])], blind);
    expect(shown?.content).toEqual([words("See.")]);
  });

  it("shows the images of a result with the result", async () => {
    const given = message.toolResult({
      ...{ tool_name: "draw", content: "Drawn.", payload: { success: true } },
      metadata: { tool_call_id: "1", ...attached("a.png") },
    });
    const [shown] = await projectImages([given], view);
    expect(shown).toMatchObject({ type: "tool_result", content: [words("Drawn."), part("a.png")] });
    expect(shown?.metadata).toEqual({ tool_call_id: "1" });
  });

  it("keeps the images of the newest messages only", async () => {
    const messages = ["1", "2", "3", "4"].map((name) =>
      text("user", name, name === "1" || name === "4" ? attached("a.png") : {}),
    );
    const [first, second, , last] = await projectImages(messages, { ...view, recentImageThreshold: 2 });
    expect(first?.content).toBe("1\n\n[image: a.png, 2 kB]");
    expect(second).toBe(messages[1]);
    expect(last?.content).toEqual([words("4"), part("a.png")]);
  });

  it("counts an answer with its calls as one message", async () => {
    const call = (id: string) =>
      message.toolCall({ tool_name: "x", parameters: {}, turn: 1, metadata: { tool_call_id: id } });
    const messages = [text("user", "See.", attached("a.png")), text("assistant", "So."), call("1"), call("2")];
    const [kept] = await projectImages(messages, { ...view, recentImageThreshold: 2 });
    const [named] = await projectImages(messages, { ...view, recentImageThreshold: 1 });
    const [older] = await projectImages([...messages.slice(0, 1), call("1"), call("2")], {
      ...view,
      recentImageThreshold: 1,
    });
    expect([kept, named, older].map((each) => typeof each?.content)).toEqual(["object", "string", "string"]);
  });

  it("gives back what it was given where there are no files, and leaves the stored message as it is", async () => {
    const plain = [text("user", "Hello."), text("user", [words("See."), inline])];
    expect(await projectImages(plain, view)).toBe(plain);
    const stored = text("user", "See.", attached("a.png"));
    await projectImages([stored], blind);
    expect(stored).toEqual(text("user", "See.", attached("a.png")));
  });
});
