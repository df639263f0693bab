import { expect, it } from "vitest";
import { hostAtRest } from "../../../test/host-at-rest.ts";
import { loggedThread } from "../../../test/logged-threads.ts";
import { createEntry } from "../new-entry.ts";
import { costOf } from "./cost.ts";

it("counts what a thread has cost, and everything under it, by model", async () => {
  const { host, stores } = await hostAtRest();
  const large = { model: "openai/large", tokens: 10, nanodollars: 100_000_001 };
  const small = { model: "openai/small", tokens: 3, nanodollars: 200_000_002 };
  const parent = await loggedThread(stores, [large, small]);
  const child = await loggedThread(stores, [small], { parent_id: parent });
  const grandchild = await loggedThread(stores, [small, small], { parent_id: child });
  // What is over was paid for all the same.
  await stores.threads.terminate(child, createEntry.stop("Enough."));

  const { own, subtree, threads } = await costOf(host, parent);

  expect(own).toMatchObject({ usd: 0.300_000_003, calls: 2, total_tokens: 13, input_tokens: 11, output_tokens: 2 });
  expect(subtree).toMatchObject({ usd: 0.900_000_009, calls: 5, total_tokens: 22 });
  expect(subtree.models).toMatchObject({
    "openai/large": { usd: 0.100_000_001, calls: 1, total_tokens: 10 },
    "openai/small": { usd: 0.800_000_008, calls: 4, total_tokens: 12 },
  });
  expect(threads.map(({ thread_id, parent_id, costs }) => [thread_id, parent_id, costs.calls])).toEqual([
    [parent, null, 2],
    [child, parent, 1],
    [grandchild, child, 2],
  ]);
});

it("is nothing for a thread that has done nothing, and not known for one that is not there", async () => {
  const { host, thread } = await hostAtRest();

  expect((await costOf(host, thread.id)).subtree).toMatchObject({ usd: 0, calls: 0, models: {} });
  await expect(costOf(host, "nobody")).rejects.toMatchObject({ code: "thread_not_found" });
});
