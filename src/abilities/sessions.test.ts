import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { SessionStore } from "../backend/session-store.ts";
import { openStores } from "../backend/sql/open-stores.ts";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import { type ConversationSessionHost, create, get, list, remove, updateTitle } from "./sessions.ts";

const code = (name: string) => ({ code: `agents_conversation_session_${name}` });

describe("the operations on sessions", () => {
  let store: SessionStore;
  let host: ConversationSessionHost;

  beforeEach(async () => {
    const driver = await sqlite(":memory:").open();
    onTestFinished(() => driver.close());
    store = (await openStores(driver, { keyFingerprint: "fingerprint" })).sessions;
    host = { store, currentUserId: 7 };
  });

  async function created(input: object = {}): Promise<string> {
    const answer = await create(input, host);
    if (!("session" in answer)) throw new Error(answer.code);
    return String(answer.session.session_id);
  }

  it("begin, name, list, read and delete the sessions of whoever asks", async () => {
    const session_id = await created({ agent: "writer", metadata: { x: 1 } });
    expect(await updateTitle({ session_id, title: "  Hello  " }, host)).toMatchObject({ session: { title: "Hello" } });
    const listed = await list({}, host);
    expect(listed).toMatchObject({ sessions: [{ session_id, title: "Hello", metadata: { x: 1 } }] });
    expect(JSON.stringify(listed)).not.toContain('"messages"');
    expect(await get({ session_id: ` ${session_id} ` }, host)).toMatchObject({
      session: { ...{ session_id, workspace_type: "site", workspace_id: "default", owner_key: "7" }, messages: [] },
    });
    expect(await remove({ session_id }, host)).toEqual({ deleted: true });
    expect(await get({ session_id }, host)).toMatchObject({ ...code("not_found"), data: { status: 404 } });
  });

  it("list at most a hundred, of one agent or context if that is asked for", async () => {
    await created({ agent: "a" });
    await created({ agent: "b", context: "pipeline" });
    const slugs = async (input: object) => {
      const answer = await list(input, host);
      return "sessions" in answer ? answer.sessions.map(({ agent_slug }) => agent_slug) : answer.code;
    };
    expect(await slugs({ limit: 1_000 })).toEqual(["b", "a"]);
    expect(await slugs({ limit: 0, offset: 1 })).toEqual(["a"]);
    expect(await slugs({ agent: "a" })).toEqual(["a"]);
    expect(await slugs({ context: "pipeline" })).toEqual(["b"]);
    expect(await slugs({ workspace_id: "2" })).toEqual([]);
  });

  it("refuse those who are nobody, or can own nothing", async () => {
    expect(await list({}, { store })).toMatchObject(code("unauthenticated"));
    const principal = { effective_agent_id: "a", auth_source: "runtime", request_context: "runtime" };
    expect(await create({}, { store }, { principal })).toMatchObject(code("owner_required"));
    expect(await list({ session_owner: { type: "user", key: "8" } }, host)).toMatchObject(code("user_owner_forbidden"));
    expect(await list({ principal: { ...principal, owner_type: "user", owner_key: "8" } }, { store })).toMatchObject(
      code("unauthenticated"),
    );
  });

  it("know who asks from the context of the call, which the host gives", async () => {
    const principal = {
      ...{ effective_agent_id: "helper", auth_source: "agent_token", request_context: "rest", token_id: 3 },
      acting_user_id: 7,
    };
    const answer = await create({}, host, { principal });
    expect(answer).toMatchObject({
      session: { owner_type: "token", owner_key: "3", agent_slug: "helper", user_id: 0 },
    });
    expect(await list({}, host)).toEqual({ sessions: [] });
  });

  it("keep the sessions of others from whoever asks, unless that is an administrator", async () => {
    const session_id = await created();
    const other = { store, currentUserId: 8 };
    for (const operate of [get, remove, updateTitle]) {
      const input = { session_id, title: "Mine now" };
      expect(await operate(input, other)).toMatchObject({ ...code("forbidden"), data: { status: 403 } });
      expect(await operate({ ...input, workspace_id: "2" }, host)).toMatchObject(code("forbidden"));
    }
    const administrator = { ...other, isAdministrator: () => true };
    expect(await get({ session_id }, administrator)).toMatchObject({ session: { session_id, title: "" } });
  });

  it("say what is wrong with a request, the first thing first", async () => {
    const session_id = await created();
    expect(await get({ session_id: " " }, host)).toMatchObject(code("invalid_id"));
    expect(await updateTitle({ session_id, title: " " }, host)).toMatchObject(code("invalid_title"));
    const nowhere = { workspace: { workspace_type: "", workspace_id: "" } };
    for (const operate of [get, remove, updateTitle]) {
      expect(await operate({ session_id: " ", ...nowhere }, host)).toMatchObject(code("invalid_id"));
      expect(await operate({ session_id, ...nowhere }, host)).toMatchObject(code("invalid_workspace"));
    }
    expect(await list(nowhere, { currentUserId: 7 })).toMatchObject(code("no_store"));
    expect(await list(nowhere, {})).toMatchObject(code("unauthenticated"));
  });

  it("say so when the store does nothing", async () => {
    const session_id = await created();
    const lazy = {
      ...store,
      createForOwner: async () => "",
      updateTitle: async () => false,
      delete: async () => false,
    };
    expect(await create({}, { ...host, store: lazy })).toMatchObject(code("create_failed"));
    expect(await updateTitle({ session_id, title: "x" }, { ...host, store: lazy })).toMatchObject(
      code("update_failed"),
    );
    expect(await remove({ session_id }, { ...host, store: lazy })).toMatchObject(code("delete_failed"));
  });
});
