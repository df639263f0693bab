import { beforeEach, expect, it } from "vitest";
import { directScope, hostInTest, keptScope, openThread } from "../../../test/thread-states.ts";
import type { Thread } from "../../backend/thread-rows.ts";
import type { Host } from "../host.ts";
import { copyFiles } from "./copy-files.ts";
import { fileState } from "./file-state.ts";

let host: Host;
let parent: Thread;
let child: Thread;

beforeEach(async () => {
  host = await hostInTest();
  parent = await openThread(host);
  child = await openThread(host, { parent: parent.id });
});

const filesOf = (thread: Thread) => fileState(host, directScope(host, thread));
const textOf = async (thread: Thread, path: string) =>
  Buffer.from((await filesOf(thread).readFile(path)) ?? []).toString();
const order = (paths: readonly string[]) => ({ from: parent.id, fromBuffer: { writes: [] }, to: child.id, paths });

it("a copy is the receiver's own: what becomes of the original does not touch it", async () => {
  await filesOf(parent).writeFile("/attachments/report.pdf", "bytes", { metadata: { page: 1 }, width: 3 });
  const { writes, copied } = await copyFiles(host, order(["attachments/report.pdf", "/attachments/report.pdf"]));
  expect(await host.stores.writes.apply(child.id, writes)).toBe("written");
  expect(copied).toEqual([
    {
      from: "/attachments/report.pdf",
      attachment: {
        ...{ id: expect.any(String), type: "file", name: "report.pdf", mimeType: "application/pdf", size: 5, width: 3 },
        path: expect.stringMatching(/^\/attachments\/report-[0-9a-f]{8}\.pdf$/),
      },
    },
  ]);
  await filesOf(parent).unlinkFile("/attachments/report.pdf");
  expect(await textOf(child, copied[0]?.attachment.path ?? "")).toBe("bytes");
});

it("a copy of a copy is named like the first original", async () => {
  await filesOf(parent).writeFile("/attachments/report.pdf", "bytes");
  const first = await copyFiles(host, order(["/attachments/report.pdf"]));
  await host.stores.writes.apply(child.id, first.writes);
  const paths = first.copied.map(({ attachment }) => attachment.path);
  const back = await copyFiles(host, { from: child.id, fromBuffer: { writes: [] }, to: parent.id, paths });
  expect(back.copied[0]?.attachment).toMatchObject({
    name: "report.pdf",
    path: expect.stringMatching(/^\/attachments\/report-[0-9a-f]{8}\.pdf$/),
  });
});

it("what was written within the same call is copied in the same commit", async () => {
  const scope = keptScope(host, parent);
  await fileState(host, scope).writeFile("/attachments/new.txt", "just now");
  const { writes, copied } = await copyFiles(host, { ...order(["/attachments/new.txt"]), fromBuffer: scope.buffer });
  expect(writes).toEqual([
    expect.objectContaining({ file: expect.not.objectContaining({ content: expect.anything() }) }),
  ]);
  await host.stores.writes.apply(parent.id, [...scope.buffer.writes, ...writes]);
  expect(await textOf(child, copied[0]?.attachment.path ?? "")).toBe("just now");
});

it("one missing file and nothing is copied; every missing one is named", async () => {
  await filesOf(parent).writeFile("/attachments/there.txt", "x");
  await filesOf(parent).writeFile("/elsewhere.txt", "x");
  await filesOf(parent).mkdirFile("/attachments/folder");
  const paths = ["/attachments/there.txt", "/attachments/gone.txt", "/elsewhere.txt", "/attachments/folder"];
  await expect(copyFiles(host, order(paths))).rejects.toThrow(
    'file_not_found: There is no file "/attachments/gone.txt", "/elsewhere.txt", "/attachments/folder" under /attachments/.',
  );
  await expect(copyFiles(host, order(["/attachments/../../x"]))).rejects.toThrow(/^invalid_file_path: /);
});

it("files from elsewhere are copied where that is allowed", async () => {
  await filesOf(parent).writeFile("/elsewhere.txt", "x");
  const { copied } = await copyFiles(host, { ...order(["/elsewhere.txt"]), anywhere: true });
  expect(copied.map(({ from }) => from)).toEqual(["/elsewhere.txt"]);
});

it("nothing to copy is nothing to write", async () => {
  expect(await copyFiles(host, order([]))).toEqual({ writes: [], copied: [] });
});
