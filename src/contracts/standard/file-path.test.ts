import { describe, expect, it } from "vitest";
import { attachmentPath, directoryOf, extensionOf, isBelow, nameOf, normalizePath } from "./file-path.ts";

describe("a path", () => {
  it.each([
    ["/notes/a.md", "/notes/a.md"],
    ["notes/a.md", "/notes/a.md"],
    ["./notes//a.md/", "/notes/a.md"],
    ["/notes/../a.md", "/a.md"],
    ["/", "/"],
    [".", "/"],
    ["/%2e%2e/a", "/%2e%2e/a"],
    ["/größe.txt", "/größe.txt"],
    ["/...", "/..."],
  ])("%j has the one spelling %j", (path, normal) => {
    expect(normalizePath(path)).toBe(normal);
    expect(normalizePath(normal)).toBe(normal);
  });

  it.each(["", "  ", "..", "../a", "/../a", "/a/../../b", "a\\..\\b", "/a\0b", "/a\nb", "/\ud800", undefined, 7, {}])(
    "is not %j",
    (path) => {
      expect(() => normalizePath(path)).toThrow(/^invalid_file_path: /);
    },
  );

  it("is at most 1024 bytes long", () => {
    expect(normalizePath(`/${"é".repeat(511)}`)).toHaveLength(512);
    expect(() => normalizePath(`/${"é".repeat(512)}`)).toThrow("is longer than 1024 bytes");
  });

  it("knows its name, its directory and what is below it", () => {
    expect([nameOf("/a/b.txt"), nameOf("/")]).toEqual(["b.txt", ""]);
    expect([directoryOf("/a/b.txt"), directoryOf("/a"), directoryOf("/")]).toEqual(["/a", "/", "/"]);
    expect([isBelow("/a/b", "/a"), isBelow("/a", "/"), isBelow("/a/b/c", "/a")]).toEqual([true, true, true]);
    expect([isBelow("/ab", "/a"), isBelow("/a", "/a"), isBelow("/", "/")]).toEqual([false, false, false]);
  });
});

describe("the path of a copy", () => {
  it.each([
    ["report.PDF", "/attachments/report-1a2b3c4d.pdf"],
    ["../../etc/passwd", "/attachments/passwd-1a2b3c4d"],
    ["C:\\temp\\my report (2).txt", "/attachments/my-report-2-1a2b3c4d.txt"],
    [".env", "/attachments/env-1a2b3c4d"],
    ["???", "/attachments/file-1a2b3c4d"],
    ["", "/attachments/file-1a2b3c4d"],
    ["Übersicht.tar.gz", "/attachments/Übersicht.tar-1a2b3c4d.gz"],
    ["a.b\0c", "/attachments/a.b-c-1a2b3c4d"],
  ])("of %j is %j", (name, path) => {
    expect(attachmentPath(name, "1a2b3c4d")).toBe(path);
    expect(normalizePath(path)).toBe(path);
  });

  it("keeps at most 64 characters of the name", () => {
    expect(attachmentPath(`${"a".repeat(200)}.txt`, "x")).toBe(`/attachments/${"a".repeat(64)}-x.txt`);
    expect(attachmentPath("𝔞".repeat(200), "x")).toBe(`/attachments/${"𝔞".repeat(64)}-x`);
  });
});

it.each([
  ["a.TXT", "txt"],
  ["a", ""],
  [".bashrc", ""],
  ["a.b c", ""],
  [`a.${"x".repeat(17)}`, ""],
])("the extension of %j is %j", (name, extension) => {
  expect(extensionOf(name)).toBe(extension);
});
