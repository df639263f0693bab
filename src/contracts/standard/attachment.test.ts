import { expect, it } from "vitest";
import { attachmentOf, attachmentsIn, base64Size, readBase64, uploadPath } from "./attachment.ts";

const file = { path: "/attachments/a.png", name: "a.png", mime_type: "image/png", size: 3, width: 2, height: null };

it("a message points to a stored file by what is known of it", () => {
  expect(attachmentOf(file, { id: "1" })).toEqual({
    ...{ id: "1", type: "file", path: "/attachments/a.png", name: "a.png", mimeType: "image/png", size: 3, width: 2 },
  });
  expect(attachmentOf(file, { id: "1", name: "cat", description: "A cat." })).toMatchObject({
    ...{ name: "cat", description: "A cat." },
  });
});

it("what is no attachment is not read as one", () => {
  const attachment = attachmentOf(file, { id: "1" });
  expect(attachmentsIn({ attachments: [attachment, null, "x", { path: 7 }] })).toEqual([attachment]);
  expect([attachmentsIn({}), attachmentsIn({ attachments: "x" })]).toEqual([[], []]);
});

it("an upload is stored under a name of its own, with the extension that it came with or that its type has", () => {
  const at = { ms: 1700, random: "00ff00ff" };
  const paths = [
    uploadPath({ name: "../x.PNG", mimeType: "image/png" }, at),
    uploadPath({ name: "photo", mimeType: "image/jpeg" }, at),
    uploadPath({ name: "", mimeType: "a/b" }, at),
  ];
  expect(paths).toEqual([
    "/attachments/1700-00ff00ff.png",
    "/attachments/1700-00ff00ff.jpg",
    "/attachments/1700-00ff00ff.bin",
  ]);
});

it.each([0, 1, 2, 3, 4, 255])("%d bytes come back from base64, and their number without decoding", (length) => {
  const bytes = Buffer.alloc(length, 7);
  const text = bytes.toString("base64");
  expect(base64Size(text)).toBe(length);
  expect(readBase64(text)).toEqual(bytes);
});

it.each(["a", "not base64!!", "AAA", "AAAA\nAAAA", "data:image/png;base64,AAAA"])("%j is no base64", (text) => {
  expect(readBase64(text)).toBeUndefined();
});
