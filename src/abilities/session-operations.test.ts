import { expect, it } from "vitest";
import { admin, limited, openShop, person } from "../../test/shop-desk.ts";
import * as principals from "../contracts/trust/principal.ts";

const [ann, ben] = [person(7), person(8)];
const code = (name: string) => ({ code: `agents_conversation_session_${name}` });

async function begun() {
  const shop = await openShop();
  const { session } = await shop.call(ann, "agents/create-conversation-session", { agent: "shop", metadata: { x: 1 } });
  return { ...shop, session_id: (session as { session_id: string }).session_id };
}

it("begins, names, lists, reads and deletes the sessions of the caller", async () => {
  const { call, session_id } = await begun();
  const title = { session_id, title: "  Hello  " };
  expect(await call(ann, "agents/update-conversation-session-title", title)).toMatchObject({
    session: { title: "Hello" },
  });
  const listed = await call(ann, "agents/list-conversation-sessions", { limit: "5", agent: "shop" });
  expect(listed).toMatchObject({ sessions: [{ session_id, owner_key: "7", metadata: { x: 1 } }] });
  expect(JSON.stringify(listed)).not.toContain('"messages"');
  expect(await call(ann, "agents/get-conversation-session", { session_id })).toMatchObject({
    session: { session_id, messages: [] },
  });
  expect(await call(ann, "agents/delete-conversation-session", { session_id })).toEqual({ deleted: true });
  expect(await call(ann, "agents/get-conversation-session", { session_id })).toMatchObject({
    ...code("not_found"),
    data: { status: 404 },
  });
});

it("does not know the sessions of others, whoever the input says is asking", async () => {
  const { call, session_id } = await begun();
  const claims = { session_id, title: "Mine now", principal: { ...ann }, user_id: 7 };
  for (const name of ["get-conversation-session", "update-conversation-session-title", "delete-conversation-session"]) {
    expect(await call(ben, `agents/${name}`, claims)).toMatchObject({ ...code("not_found"), data: { status: 404 } });
  }
  expect(await call(ben, "agents/list-conversation-sessions", claims)).toEqual({ sessions: [] });
  const claimed = { session_owner: { type: "user", key: "7" } };
  expect(await call(ben, "agents/list-conversation-sessions", claimed)).toMatchObject(code("user_owner_forbidden"));
  expect(await call(admin, "agents/get-conversation-session", { session_id })).toMatchObject({
    session: { session_id, title: "" },
  });
});

it("keeps whoever was let in for one workspace to that one", async () => {
  const { call, session_id } = await begun();
  const there = person(7, { workspace_id: "w" });
  expect(await call(there, "agents/get-conversation-session", { session_id })).toMatchObject(code("not_found"));
  for (const elsewhere of [{ workspace_id: "default" }, { workspace: { workspace_type: "site", workspace_id: "v" } }]) {
    expect(await call(there, "agents/list-conversation-sessions", elsewhere)).toMatchObject(code("invalid_workspace"));
  }
  const made = await call(there, "agents/create-conversation-session");
  expect(made).toMatchObject({ session: { workspace_id: "w", agent_slug: "console" } });
  expect(await call(ann, "agents/list-conversation-sessions", { workspace_id: "w" })).toMatchObject({
    sessions: [{ workspace_id: "w" }],
  });
});

it("keeps visitors of two audiences apart, though they be called the same", async () => {
  const { call, holdfast } = await openShop();
  const visitor = (audience: string) => principals.audience(audience, "shop", { owner_key: "42" });
  const [here, there] = [visitor("a"), visitor("b")];
  const { session } = await call(here, "agents/create-conversation-session", { agent: "shop" });
  const { session_id: begun } = session as { session_id: string };
  const place = { workspace: { workspace_type: "site", workspace_id: "default" } };
  const thread = await holdfast.threads.open("kept", {
    ...{ agent: "shop", principal: here, consent: { store_transcript: true }, ...place },
  });
  await thread.send("Hello");
  const listed = async (who: principals.Principal) => {
    const { sessions } = await call(who, "agents/list-conversation-sessions", place);
    return (sessions as { session_id: string }[]).map(({ session_id }) => session_id);
  };
  expect(await listed(there)).toEqual([]);
  expect(await listed(here)).toEqual([thread.id, begun]);
  for (const session_id of [begun, thread.id]) {
    for (const name of [
      "get-conversation-session",
      "update-conversation-session-title",
      "delete-conversation-session",
    ]) {
      const input = { session_id, title: "Mine now", ...place };
      expect(await call(there, `agents/${name}`, input), name).toMatchObject(code("not_found"));
    }
    expect(await call(here, "agents/get-conversation-session", { session_id, ...place })).toMatchObject({
      session: { session_id, title: session_id === begun ? "" : "kept" },
    });
  }
});

it("refuses in the words of the contract, and asks for the capability first", async () => {
  const { call, session_id } = await begun();
  expect(await call(ann, "agents/get-conversation-session")).toMatchObject(code("invalid_id"));
  expect(await call(ann, "agents/update-conversation-session-title", { session_id })).toMatchObject(
    code("invalid_title"),
  );
  const visitor = principals.audience("audience:public", "audience:public");
  expect(await call(visitor, "agents/list-conversation-sessions")).toMatchObject(code("owner_required"));
  expect(await call(limited(7, "sessions.read"), "agents/delete-conversation-session", { session_id })).toMatchObject({
    code: "ability_forbidden",
  });
});
