import { Client } from "pg";
import { expect, it, onTestFinished } from "vitest";
import { emptySchema, query } from "../../../test/postgres.ts";
import { aFile, written } from "../contract/a-write.ts";
import { openThread } from "../contract/stores-in-test.ts";
import { openStores } from "../sql/open-stores.ts";
import { postgres } from "./postgres.ts";

it("does not remove bytes that somebody is about to name", async () => {
  const { url, schema, drop } = await emptySchema();
  onTestFinished(drop);
  const driver = await postgres(url, { schema }).open();
  onTestFinished(() => driver.close());
  const stores = await openStores(driver, { keyFingerprint: "fingerprint" });
  const id = await openThread(stores);
  const file = aFile("/a", "again");
  await written(stores, id, { write: "file", thread_id: id, file });
  await written(stores, id, { write: "file_gone", thread_id: id, path: "/a" });

  // As a commit does it: the bytes are there already, and the name follows.
  const writer = new Client({ connectionString: url });
  await writer.connect();
  onTestFinished(() => writer.end());
  await writer.query(`set search_path to "${schema}"`);
  await writer.query("begin");
  await writer.query("insert into blobs (hash, size, content) values ($1, 5, 'again') on conflict do nothing", [
    file.hash,
  ]);
  const removal = stores.files.removeUnnamed(10);
  await Promise.race([removal, untilSomebodyWaits(url, schema)]);
  await writer.query(
    `insert into files (thread_id, path, name, mime_type, size, is_directory, hash, created_at)
      values ($1, '/a', 'a', 'text/plain', 5, 0, $2, 1)`,
    [id, file.hash],
  );
  await writer.query("commit");

  expect(await removal).toEqual({ contents: 0, bytes: 0 });
  expect(await stores.files.content(file.hash)).toEqual(file.content);
});

async function untilSomebodyWaits(url: string, schema: string): Promise<void> {
  const sql = `select 1 from pg_locks where not granted and relation = '"${schema}".blobs'::regclass`;
  while ((await query(url, sql)).length === 0);
}
