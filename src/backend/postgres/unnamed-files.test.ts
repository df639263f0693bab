import { Client } from "pg";
import { expect, it, onTestFinished } from "vitest";
import { emptySchema, query } from "../../../test/postgres.ts";
import { aFile, written } from "../contract/a-write.ts";
import { openThread } from "../contract/stores-in-test.ts";
import { openStores } from "../sql/open-stores.ts";
import type { NewFile } from "../write.ts";
import { postgres } from "./postgres.ts";

/** Stores with a thread, and a transaction of somebody else who stores bytes that may be there already. */
async function open() {
  const { url, schema, drop } = await emptySchema();
  onTestFinished(drop);
  const driver = await postgres(url, { schema }).open();
  onTestFinished(() => driver.close());
  const stores = await openStores(driver, { keyFingerprint: "fingerprint" });
  const writer = new Client({ connectionString: url });
  await writer.connect();
  onTestFinished(() => writer.end());
  await writer.query(`set search_path to "${schema}"`);

  return {
    stores,
    id: await openThread(stores),
    /** As a commit does it: the bytes are there already, and the name follows. */
    async storeAgain({ hash }: NewFile) {
      await writer.query("begin");
      await writer.query("insert into blobs (hash, size, content) values ($1, 5, 'again') on conflict do nothing", [
        hash,
      ]);
    },
    /** Names bytes as a copy and a fork do it, which bring none. */
    async name(threadId: string, { hash }: NewFile) {
      await writer.query(
        `insert into files (thread_id, path, name, mime_type, size, is_directory, hash, created_at)
          select $1, '/a', 'a', 'text/plain', 5, 0, $2, 1 where exists (select 1 from blobs where hash = $2)`,
        [threadId, hash],
      );
    },
    begin: () => writer.query("begin"),
    commit: () => writer.query("commit"),
    untilSomebodyWaits: () => untilSomebodyWaits(url, schema),
  };
}

it("does not remove bytes that somebody is about to name", async () => {
  const { stores, id, storeAgain, name, commit, untilSomebodyWaits } = await open();
  const file = aFile("/a", "again");
  await written(stores, id, { write: "file", thread_id: id, file });
  await written(stores, id, { write: "file_gone", thread_id: id, path: "/a" });

  await storeAgain(file);
  const removal = stores.files.removeUnnamed([file.hash]);
  await Promise.race([removal, untilSomebodyWaits()]);
  await name(id, file);
  await commit();

  expect(await removal).toEqual({ contents: 0, bytes: 0 });
  expect(await stores.files.content(file.hash)).toEqual(file.content);
});

it("does not erase with a thread bytes that somebody is about to name in another", async () => {
  const { stores, id, storeAgain, name, commit, untilSomebodyWaits } = await open();
  const erased = await openThread(stores);
  const file = aFile("/a", "again");
  await written(stores, erased, { write: "file", thread_id: erased, file });

  await storeAgain(file);
  const erasure = stores.threads.delete(erased);
  await Promise.race([erasure, untilSomebodyWaits()]);
  await name(id, file);
  await commit();

  expect(await erasure).toEqual([erased]);
  expect(await stores.files.get(id, "/a")).toMatchObject({ hash: file.hash });
  expect(await stores.files.content(file.hash)).toEqual(file.content);
});

it("does not erase with a thread bytes that somebody has just named without bringing them", async () => {
  const { stores, id, begin, name, commit, untilSomebodyWaits } = await open();
  const erased = await openThread(stores);
  const file = aFile("/a", "again");
  await written(stores, erased, { write: "file", thread_id: erased, file });

  await begin();
  await name(id, file);
  const erasure = stores.threads.delete(erased);
  await Promise.race([erasure, untilSomebodyWaits()]);
  await commit();

  expect(await erasure).toEqual([erased]);
  expect(await stores.files.content(file.hash)).toEqual(file.content);
});

it("erases a thread without files beside somebody who stores bytes", async () => {
  const { stores, storeAgain, commit } = await open();
  const erased = await openThread(stores);
  await storeAgain(aFile("/a", "again"));
  expect(await stores.threads.delete(erased)).toEqual([erased]);
  await commit();
});

async function untilSomebodyWaits(url: string, schema: string): Promise<void> {
  const sql = `select 1 from pg_locks where not granted and relation in ('"${schema}".blobs'::regclass, '"${schema}".files'::regclass)`;
  while ((await query(url, sql)).length === 0);
}
