import { expect, it } from "vitest";
import { eachDatabase } from "../../test/databases.ts";
import { aFile, written } from "../backend/contract/a-write.ts";
import { openThread } from "../backend/contract/stores-in-test.ts";
import { agent } from "./agent.ts";
import { createSweep } from "./sweep-files.ts";

const MINUTE = 60_000;

eachDatabase((newWorld) => {
  it("removes bytes that no file has named for an hour, and none that are named again", async () => {
    const world = await newWorld();
    await world.open(agent({ slug: "clerk", model: () => "Hello." }), { housekeeping: { everyMs: null } });
    const stores = await world.stores();
    const { files } = stores;
    const id = await openThread(stores);
    const [gone, again, kept] = [aFile("/gone", "gone"), aFile("/again", "again"), aFile("/kept", "kept")];
    for (const file of [gone, again, kept]) await written(stores, id, { write: "file", thread_id: id, file });
    for (const { path } of [gone, again]) await written(stores, id, { write: "file_gone", thread_id: id, path });

    let now = 0;
    const sweep = createSweep({ files, now: () => now });
    const left = () =>
      Promise.all([gone, again, kept].map(async ({ hash }) => (await files.content(hash)) !== undefined));
    await sweep();
    now = 59 * MINUTE;
    await sweep();
    expect(await left()).toEqual([true, true, true]);
    // As a copy does it: the bytes are there, and get a name.
    const { content: _, ...copy } = aFile("/copy", "again");
    await written(stores, id, { write: "file", thread_id: id, file: copy });
    now = 60 * MINUTE;
    await sweep();
    expect(await left()).toEqual([false, true, true]);

    // Seen without a name for the first time: it has its hour too.
    await written(stores, id, { write: "file_gone", thread_id: id, path: "/copy" });
    now = 120 * MINUTE;
    await sweep();
    expect(await left()).toEqual([false, true, true]);
    now = 180 * MINUTE;
    await sweep();
    expect(await left()).toEqual([false, false, true]);
  });
});
