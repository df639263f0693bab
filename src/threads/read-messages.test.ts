import { expect, it } from "vitest";
import { hostAtRest } from "../../test/host-at-rest.ts";
import { readMessages } from "./read-messages.ts";

it("refuses a page that is none", async () => {
  const { host, thread } = await hostAtRest();
  for (const page of [{ after: -2 }, { after: 0.5 }, { limit: -1 }, { limit: Number.NaN }]) {
    await expect(readMessages(host, thread.id, page)).rejects.toMatchObject({ code: "invalid_argument" });
  }
});

it("asks for as many as are wanted, and for all of them page by page", async () => {
  const { host, thread } = await hostAtRest();
  const asked: object[] = [];
  const rows = Array.from({ length: 2_500 }, (_, seq) => ({ seq, run: 1, step: 1, envelope: envelope(`${seq}`) }));
  const threads = {
    ...host.stores.threads,
    async currentMessages(_id: string, page: { after: number; limit: number }) {
      asked.push(page);
      return rows.slice(page.after + 1, page.after + 1 + page.limit);
    },
  };
  const counting = { ...host, stores: { ...host.stores, threads } };
  const [tenth] = await readMessages(counting, thread.id, { after: 9, limit: 1 });
  expect(tenth).toMatchObject({ seq: 10, message: { content: "10" } });
  expect(asked.splice(0)).toEqual([{ after: 9, limit: 1 }]);
  expect(await readMessages(counting, thread.id)).toHaveLength(2_500);
  expect(asked.splice(0)).toEqual([-1, 999, 1_999].map((after) => ({ after, limit: 1_000 })));
  expect(await readMessages(counting, thread.id, { limit: 1_500 })).toHaveLength(1_500);
  expect(asked.splice(0)).toEqual([
    { after: -1, limit: 1_000 },
    { after: 999, limit: 500 },
  ]);
  expect(await readMessages(counting, thread.id, { limit: 0 })).toEqual([]);
  expect(asked).toEqual([]);
});

function envelope(content: string): string {
  return JSON.stringify({ schema: "agents-api.message", version: 1, type: "text", role: "user", content });
}
