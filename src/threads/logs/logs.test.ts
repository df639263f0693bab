import { expect, it } from "vitest";
import { hostAtRest } from "../../../test/host-at-rest.ts";
import { loggedThread } from "../../../test/logged-threads.ts";
import { readLogs } from "./logs.ts";

const attempts = ["first", "second", "third"].map((model) => ({ model, tokens: 5, nanodollars: 0 }));

it("tells the newest first unless asked otherwise, and as many as are wanted", async () => {
  const { host, stores } = await hostAtRest();
  const id = await loggedThread(stores, attempts);
  const models = async (query?: Parameters<typeof readLogs>[2]) =>
    (await readLogs(host, id, query)).map(({ model }) => model);

  expect(await models()).toEqual(["third", "second", "first"]);
  expect(await models({ order: "asc", limit: 2 })).toEqual(["first", "second"]);
  expect(await models({ offset: 1, limit: 1 })).toEqual(["second"]);
});

it("gives every row an id that stays", async () => {
  const { host, stores } = await hostAtRest();
  const id = await loggedThread(stores, attempts);

  const ids = (await readLogs(host, id)).map((row) => row.id);

  expect(ids).toEqual([`${id}:4:4`, `${id}:2:2`, `${id}:0:0`]);
  expect((await readLogs(host, id)).map((row) => row.id)).toEqual(ids);
});

it("reads a history that is longer than one page", async () => {
  const { host, stores } = await hostAtRest();
  const many = Array.from({ length: 510 }, () => ({ model: "one", tokens: 2, nanodollars: 0 }));
  const id = await loggedThread(stores, many);

  expect(await readLogs(host, id, { limit: 1_000 })).toHaveLength(510);
});

it("refuses a thread that is not there, and a limit that is none", async () => {
  const { host, thread } = await hostAtRest();

  await expect(readLogs(host, "nobody")).rejects.toMatchObject({ code: "thread_not_found" });
  await expect(readLogs(host, thread.id, { limit: -1 })).rejects.toMatchObject({ code: "invalid_argument" });
});
