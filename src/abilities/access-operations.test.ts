import { expect, it } from "vitest";
import { admin, limited, openShop, person } from "../../test/shop-desk.ts";
import * as principals from "../contracts/trust/principal.ts";

const ann = person(7);

it("tells the caller which agents are open to him, and in which role", async () => {
  const { call, holdfast } = await openShop();
  await holdfast.grants.grant({ agent: "shop", user_id: 7, role: "operator" });
  const asked = { agent: " Shop! ", minimum_role: "operator" };
  expect(await call(ann, "agents/can-access-agent", asked)).toEqual({
    ...{ allowed: true, agent: "shop", minimum_role: "operator" },
  });
  expect(await call(ann, "agents/can-access-agent", { agent: "shop", minimum_role: "admin" })).toMatchObject({
    allowed: false,
  });
  expect(await call(ann, "agents/can-access-agent", { agent: "books" })).toMatchObject({ allowed: false });
  expect(await call(ann, "agents/list-accessible-agents")).toEqual({
    agents: [{ slug: "shop", label: expect.any(String), description: "", meta: {} }],
  });
  expect(await call(ann, "agents/list-accessible-agents", { minimum_role: "boss" })).toEqual({ agents: [] });
});

it("answers for whoever calls, whomever the input names", async () => {
  const { call, holdfast } = await openShop();
  await holdfast.grants.grant({ agent: "shop", user_id: 7, workspace_id: "w", role: "operator" });
  const claimed = { agent: "shop", workspace_id: "w", principal: { ...person(7, { workspace_id: "w" }) } };
  expect(await call(ann, "agents/can-access-agent", claimed)).toMatchObject({ allowed: false });
  expect(await call(person(8), "agents/can-access-agent", claimed)).toMatchObject({ allowed: false });
  expect(await call(person(7, { workspace_id: "w" }), "agents/can-access-agent", { agent: "shop" })).toMatchObject({
    allowed: true,
  });
});

it("opens every agent to who manages threads, none that there is not, and asks for the capability", async () => {
  const { call } = await openShop();
  const { agents } = await call(admin, "agents/list-accessible-agents", { minimum_role: "admin" });
  expect((agents as { slug: string }[]).map(({ slug }) => slug)).toEqual(["shop", "books"]);
  expect(await call(admin, "agents/can-access-agent", { agent: "nobody" })).toMatchObject({ allowed: false });
  expect(await call(limited(7, "chat"), "agents/list-accessible-agents")).toMatchObject({ code: "ability_forbidden" });
  const visitor = principals.audience("audience:public", "audience:public");
  expect(await call(visitor, "agents/list-accessible-agents")).toEqual({ agents: [] });
});
