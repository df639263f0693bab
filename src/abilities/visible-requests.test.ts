import { expect, it } from "vitest";
import { openShop, person } from "../../test/shop-desk.ts";
import { createWorkbench } from "./reach.ts";
import { type RequestsPage, visibleRequests } from "./visible-requests.ts";

const boss = person(12);

it("looks at so many approvals of others and no more, and goes on where it was left", async () => {
  const { wish, holdfast } = await openShop({ approvers: { role: "admin" } });
  const visible = visibleRequests(createWorkbench(holdfast), { mostLookedAt: 2 });
  await holdfast.grants.grant({ agent: "shop", user_id: 12, role: "admin", workspace_id: null });
  const others: string[] = [];
  for (const user of [7, 8, 7]) others.push((await wish("refund", person(user))).request_id);
  const own = (await wish("where", boss)).request_id;
  const rest = (await wish("refund", person(8))).request_id;

  const seen: string[] = [];
  const pages: RequestsPage[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const page: RequestsPage = await visible.list({ limit: 10, ...(after !== "" && { after }) }, boss);
    pages.push(page);
    seen.push(...page.requests.map(({ id }) => id));
    after = page.next;
  }
  expect(seen).toEqual([...others, own, rest]);
  expect(pages.map(({ requests }) => requests.length)).toEqual([2, 3, 0]);

  // Nobody whom no rule calls is told what there is, nor how much.
  const stranger = await visible.list({ limit: 10 }, person(13));
  expect(stranger.requests).toEqual([]);
  for (const id of [...others, own]) expect(stranger.next).not.toContain(id);
  expect(await visible.list({ limit: 10, after: `next:${others[0]}` }, boss)).toEqual({ requests: [], next: null });
  expect(await visible.list({ limit: 10, after: others[0] ?? "" }, person(13))).toEqual({ requests: [], next: null });
});
