// What every file store promises, as tests.
import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { aFile, hashOf, written } from "./contract/a-write.ts";
import { everything, openThread, type StoresInTest } from "./contract/stores-in-test.ts";
import type { FileStore } from "./file-store.ts";
import type { SqlDriver } from "./sql-driver.ts";
import type { Stores } from "./stores.ts";
import type { NewFile } from "./write.ts";

export function describeFileStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`file store on ${name}`, () => {
    let stores: Stores;
    let files: FileStore;
    let driver: SqlDriver;
    let id: string;

    beforeEach(async () => {
      ({ stores, driver } = await open());
      ({ files } = stores);
      id = await openThread(stores);
    });

    const keep = (...all: readonly NewFile[]) =>
      written(stores, id, ...all.map((file) => ({ write: "file", thread_id: id, file }) as const));

    it("gives a file as it was written", async () => {
      const picture = aFile("/attachments/a.png", "bytes", {
        ...{ name: "Photo.png", mime_type: "image/png", width: 4, height: 3, metadata: '{"b":1,"a":2}' },
      });
      await keep(picture);
      const { content, ...record } = picture;
      expect(await files.get(id, "/attachments/a.png")).toEqual({ ...record, created_at: expect.any(Number) });
      expect(await files.get(id, "/attachments")).toBeUndefined();
      expect(await files.get("nobody", "/attachments/a.png")).toBeUndefined();
    });

    it.each([
      ["nothing", new Uint8Array(0)],
      ["every byte", Uint8Array.from({ length: 256 }, (_, byte) => byte)],
      ["five megabytes", new Uint8Array(randomBytes(5_000_000))],
      ["a part of more", new Uint8Array([9, 0, 255, 92, 120, 9]).subarray(1, 5)],
    ])("gives the bytes that were written: %s", async (_, content) => {
      const hash = hashOf(content);
      await keep(aFile("/file", "", { content, hash, size: content.byteLength }));
      const stored = await files.content(hash);
      expect(stored).toBeInstanceOf(Uint8Array);
      expect(Buffer.from(stored ?? []).equals(Buffer.from(content))).toBe(true);
      expect(stored?.byteLength).toBe(content.byteLength);
      expect(await files.content("another hash")).toBeUndefined();
    });

    it("stores the bytes once, however many files have them, and keeps them when a file goes", async () => {
      const { content, ...copy } = aFile("/b", "the same");
      await keep(aFile("/a", "the same"), aFile("/a again", "the same"), copy);
      expect((await everything(driver)).blobs).toHaveLength(1);
      await written(stores, id, { write: "file_gone", thread_id: id, path: "/a" });
      expect(await files.get(id, "/a")).toBeUndefined();
      expect(await files.content(copy.hash)).toEqual(content);
      expect(await files.get(id, "/b")).toMatchObject({ hash: copy.hash });
    });

    it("erases with a thread the bytes that no other thread names, and keeps the rest", async () => {
      const other = await openThread(stores);
      await keep(aFile("/own", "own"), aFile("/own again", "own"), aFile("/shared", "shared"));
      await written(stores, other, { write: "file", thread_id: other, file: aFile("/copy", "shared") });
      await written(stores, other, { write: "file", thread_id: other, file: aFile("/other", "other") });
      await stores.threads.delete(id);
      const left = (await everything(driver)).blobs?.map(({ hash }) => hash);
      const hashes = ["shared", "other"].map((text) => aFile("/", text).hash);
      expect(left?.toSorted()).toEqual(hashes.toSorted());
      expect(await files.content(hashes[0] ?? "")).toEqual(aFile("/", "shared").content);
      await stores.threads.delete(other);
      expect((await everything(driver)).blobs).toEqual([]);
    });

    it("removes the bytes that no file names any more, and no others", async () => {
      await keep(aFile("/a", "old"), aFile("/b", "gone"), aFile("/c", "kept"));
      expect(await files.countUnnamed()).toEqual({ contents: 0, bytes: 0 });
      await keep(aFile("/a", "newer"));
      await written(stores, id, { write: "file_gone", thread_id: id, path: "/b" });
      expect(await files.countUnnamed()).toEqual({ contents: 2, bytes: 7 });
      const hashes = await files.unnamed(10);
      expect(await files.unnamed(1)).toHaveLength(1);
      const first = await files.removeUnnamed(hashes.slice(0, 1));
      expect(first.contents).toBe(1);
      // What is named again meanwhile, or gone, is left as it is.
      const rest = await files.removeUnnamed([...hashes, aFile("/", "kept").hash]);
      expect({ contents: first.contents + rest.contents, bytes: first.bytes + rest.bytes }).toEqual({
        ...{ contents: 2, bytes: 7 },
      });
      expect(await files.unnamed(10)).toEqual([]);
      const left = (await everything(driver)).blobs?.map(({ hash }) => hash);
      expect(left?.toSorted()).toEqual(["newer", "kept"].map((text) => aFile("/", text).hash).toSorted());
    });

    it("replaces what was under a path, and knows since when it is there", async () => {
      await keep(aFile("/a", "old", { metadata: "{}", width: 1 }));
      const before = await files.get(id, "/a");
      await keep(aFile("/a", "newer"));
      expect(await files.get(id, "/a")).toMatchObject({ size: 5, metadata: null, width: null });
      expect((await files.get(id, "/a"))?.created_at).toBe(before?.created_at);
    });

    it("lists what is in a directory, and with deep what is below that too", async () => {
      const directory = { is_directory: true, hash: "", mime_type: "inode/directory", size: 0 };
      const { content, ...folder } = aFile("/attachments", "", directory);
      const names = ["/attachments/b", "/attachments/A", "/attachments/naïve/🦀/c", "/attachments.txt", "/z"];
      await keep(...names.map((path) => aFile(path, path)), folder);
      const list = async (path: string, deep: boolean) =>
        (await files.list(id, path, { deep })).map((file) => file.path);
      for (const path of ["/attachments", "/attachments/"]) {
        expect(await list(path, false)).toEqual(["/attachments/A", "/attachments/b"]);
        expect(await list(path, true)).toEqual(["/attachments/A", "/attachments/b", "/attachments/naïve/🦀/c"]);
      }
      for (const root of ["", "/"]) {
        expect(await list(root, false)).toEqual(["/attachments", "/attachments.txt", "/z"]);
        expect(await list(root, true)).toHaveLength(6);
      }
      expect(await list("/attachments/naïve", true)).toEqual(["/attachments/naïve/🦀/c"]);
      expect(await list("/attach%", true)).toEqual([]);
      expect(await list("/z", true)).toEqual([]);
      expect(await files.list("nobody", "/", { deep: true })).toEqual([]);
      expect((await files.list(id, "/", { deep: false }))[0]).toMatchObject({ is_directory: true, hash: "" });
    });

    it("counts files and bytes, and no directories", async () => {
      expect(await files.totals(id)).toEqual({ files: 0, bytes: 0 });
      const { content, ...folder } = aFile("/folder", "", { is_directory: true, hash: "" });
      await keep(aFile("/a", "four"), aFile("/b", "four"), folder);
      expect(await files.totals(id)).toEqual({ files: 2, bytes: 8 });
    });

    it("keeps nothing for a thread that is not there", async () => {
      await written(stores, id, { write: "file", thread_id: "nobody", file: aFile("/a", "text") });
      expect(await files.get("nobody", "/a")).toBeUndefined();
    });
  });
}
