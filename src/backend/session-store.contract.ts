// What every store of sessions promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import type { SessionSummary } from "../contracts/sessions/session.ts";
import { losingDriver, losses } from "./contract/losing-driver.ts";
import type { StoresInTest } from "./contract/stores-in-test.ts";
import type { SessionStore } from "./session-store.ts";
import type { SqlDriver } from "./sql-driver.ts";

const site = { workspace_type: "site", workspace_id: "1" };
const browser = { type: "browser", key: "k1" };
const said = { role: "user", content: "hi" };

export function describeSessionStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`session store on ${name}`, () => {
    let sessions: SessionStore;
    let driver: SqlDriver;
    let opened: StoresInTest;

    beforeEach(async () => {
      opened = await open();
      driver = opened.driver;
      sessions = opened.stores.sessions;
    });

    /** Moves a time of a session back by so many seconds. */
    const age = (id: string, column: string, seconds: number) =>
      driver.batch([
        {
          sql: `update sessions set ${column} = now_us() - $2 where session_id = $1`,
          params: [id, seconds * 1_000_000],
        },
      ]);

    const slugs = (found: readonly SessionSummary[]) => found.map(({ agent_slug }) => agent_slug);

    it("gives a new session with every field that the contract names", async () => {
      const metadata = { k: { n: 1 } };
      const id = await sessions.create(site, 7, { agent_slug: "writer", metadata });
      expect(await sessions.get(id)).toEqual({
        session_id: id,
        thread_id: null,
        ...site,
        owner_type: "user",
        owner_key: "7",
        audience_id: null,
        user_id: 7,
        agent_slug: "writer",
        title: "",
        messages: [],
        metadata,
        provider: "",
        model: "",
        provider_response_id: null,
        context: "chat",
        mode: "chat",
        consent: null,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        updated_at: expect.any(String),
        last_read_at: null,
        expires_at: null,
      });
      expect(await sessions.get("nobody")).toBeUndefined();
      expect(await sessions.get(" ")).toBeUndefined();
      expect(await sessions.get("\0")).toBeUndefined();
    });

    it("takes what is left blank for what nobody has said", async () => {
      const id = await sessions.createForOwner(site, { type: "", key: "7" }, { context: "" });
      await sessions.update(id, { messages: [], provider_response_id: "" });
      expect(await sessions.get(id)).toMatchObject({
        ...{
          owner_type: "user",
          owner_key: "7",
          user_id: 7,
          provider_response_id: null,
          context: "chat",
          mode: "chat",
        },
      });
      expect(await sessions.list(site, 7, { context: "chat" })).toMatchObject([{ session_id: id }]);
      expect(await sessions.recentPending(site, 7, { context: "" })).toMatchObject({ session_id: id });
    });

    it("keeps the decision under which a session was begun, and a later one under which it is written", async () => {
      const first = { allowed: true, operation: "store_transcript", reason: "explicit_consent" };
      const id = await sessions.create(site, 7, { consent: first });
      expect(await sessions.get(id)).toMatchObject({ consent: first });
      await sessions.update(id, { messages: [said] });
      expect(await sessions.get(id)).toMatchObject({ consent: first });
      await sessions.update(id, { messages: [said], consent: { ...first, reason: "asked again" } });
      expect(await sessions.get(id)).toMatchObject({ consent: { ...first, reason: "asked again" } });
    });

    it("replaces the whole transcript and the whole metadata, and keeps what it is told nothing about", async () => {
      const id = await sessions.create(site, 7, { metadata: { old: 1 } });
      const all = { metadata: { new: 2 }, provider: "openai", model: "m1", provider_response_id: "resp_1" };
      expect(await sessions.update(id, { messages: [said, { role: "assistant", content: "yes\0" }], ...all })).toBe(
        true,
      );
      expect(await sessions.get(id)).toMatchObject({
        ...all,
        messages: [said, { role: "assistant", content: "yes\0" }],
      });
      expect(await sessions.update(id, { messages: [], provider: "", model: "" })).toBe(true);
      expect(await sessions.get(id)).toMatchObject({
        ...{ messages: [], metadata: {}, provider: "openai", model: "m1", provider_response_id: "resp_1" },
      });
      expect(await sessions.update("nobody", { messages: [said] })).toBe(false);
    });

    it("forgets what the provider remembers the conversation by when it is told so", async () => {
      const id = await sessions.create(site, 7);
      await sessions.update(id, { messages: [], provider_response_id: "resp_1" });
      await sessions.update(id, { messages: [] });
      expect(await sessions.get(id)).toMatchObject({ provider_response_id: "resp_1" });
      await sessions.update(id, { messages: [], provider_response_id: null });
      expect(await sessions.get(id)).toMatchObject({ provider_response_id: null });
    });

    it("leaves one of two transcripts that are written at the same time, never a mixture", async () => {
      const id = await sessions.create(site, 7);
      const far = (await opened.openSecond?.())?.stores.sessions ?? sessions;
      const transcript = (word: string) => Array.from({ length: 20 }, () => ({ role: "user", content: word }));
      const writes = [
        sessions.update(id, { messages: transcript("near") }),
        far.update(id, { messages: transcript("far") }),
      ];
      expect(await Promise.all(writes)).toEqual([true, true]);
      const { messages = [] } = (await sessions.get(id)) ?? {};
      expect([transcript("near"), transcript("far")]).toContainEqual(messages);
    });

    it("changes the title of a session that is there", async () => {
      const id = await sessions.create(site, 7);
      expect(await sessions.updateTitle(id, "Refunds")).toBe(true);
      expect(await sessions.get(id)).toMatchObject({ title: "Refunds" });
      expect(await sessions.updateTitle("nobody", "Refunds")).toBe(false);
    });

    it("deletes a session with its messages, however often", async () => {
      const id = await sessions.create(site, 7);
      await sessions.update(id, { messages: [said] });
      expect(await sessions.delete(id)).toBe(true);
      expect(await sessions.get(id)).toBeUndefined();
      expect(await driver.all("select * from session_messages")).toEqual([]);
      expect(await sessions.delete(id)).toBe(true);
    });

    it("knows when a session was read", async () => {
      const id = await sessions.create(site, 7);
      expect(await sessions.touchRead(id)).toBe(true);
      expect(await sessions.get(id)).toMatchObject({ last_read_at: expect.any(String) });
      expect(await sessions.touchRead("nobody")).toBe(false);
    });

    describe("of an owner", () => {
      it("are those of one workspace and one owner, the newest first and without messages", async () => {
        await sessions.create(site, 7, { agent_slug: "a" });
        const second = await sessions.create(site, 7, { agent_slug: "b", context: "pipeline" });
        await sessions.update(second, { messages: [said] });
        await sessions.create(site, 8, { agent_slug: "c" });
        await sessions.create({ ...site, workspace_id: "2" }, 7, { agent_slug: "d" });
        const all = await sessions.list(site, 7);
        expect(slugs(all)).toEqual(["b", "a"]);
        expect(all.some((session) => "messages" in session)).toBe(false);
        expect(slugs(await sessions.list(site, 7, { agent_slug: "a" }))).toEqual(["a"]);
        expect(await sessions.list(site, 7, { context: "pipeline", include_messages: true })).toMatchObject([
          { agent_slug: "b", messages: [said] },
        ]);
        expect(slugs(await sessions.list(site, 7, { limit: 1, offset: 1 }))).toEqual(["a"]);
        expect(slugs(await sessions.list(site, 7, { limit: 0, offset: -1 }))).toEqual(["b"]);
      });

      it("who is no user have no user", async () => {
        const id = await sessions.createForOwner(site, browser, { agent_slug: "a" });
        expect(await sessions.get(id)).toMatchObject({ owner_type: "browser", owner_key: "k1", user_id: 0 });
        expect(slugs(await sessions.listForOwner(site, browser))).toEqual(["a"]);
        expect(await sessions.listForOwner(site, { ...browser, key: "k2" })).toEqual([]);
        expect(await sessions.list(site, 0)).toEqual([]);
      });

      it("who visit are those of their audience", async () => {
        const ids: string[] = [];
        for (const audience_id of ["a", "b"]) ids.push(await sessions.createForOwner(site, browser, { audience_id }));
        expect(await sessions.get(ids[1] ?? "")).toMatchObject({ audience_id: "b" });
        expect(await sessions.listForOwner(site, browser, { audience_id: "a" })).toMatchObject([
          { session_id: ids[0], audience_id: "a" },
        ]);
        expect(await sessions.listForOwner(site, browser, { audience_id: "c" })).toEqual([]);
        expect(await sessions.listForOwner(site, browser)).toHaveLength(2);
      });

      it("are read by nobody else", async () => {
        const id = await sessions.createForOwner(site, browser);
        await sessions.update(id, { messages: [said] });
        expect(await sessions.getForOwner(site, browser, id)).toMatchObject({ session_id: id, messages: [said] });
        expect(await sessions.getForOwner(site, { ...browser, key: "k2" }, id)).toBeUndefined();
        expect(await sessions.getForOwner({ ...site, workspace_id: "2" }, browser, id)).toBeUndefined();
      });
    });

    describe("that waits for its first message", () => {
      it("is the newest one of the last ten minutes, the last second included", async () => {
        const id = await sessions.create(site, 7, { agent_slug: "a" });
        expect(await sessions.recentPending(site, 7)).toMatchObject({ session_id: id, messages: [] });
        expect(await sessions.recentPending(site, 8)).toBeUndefined();
        expect(await sessions.recentPending(site, 7, { context: "rest" })).toBeUndefined();
        await age(id, "created_at", 602);
        expect(await sessions.recentPending(site, 7)).toBeUndefined();
        expect(await sessions.recentPending(site, 7, { seconds: 3_600 })).toMatchObject({ session_id: id });
      });

      it("is not looked for behind a newer one that was answered", async () => {
        const older = await sessions.create(site, 7);
        const newer = await sessions.create(site, 7);
        await sessions.update(newer, { messages: [said] });
        expect(await sessions.recentPending(site, 7)).toBeUndefined();
        await sessions.delete(newer);
        expect(await sessions.recentPending(site, 7)).toMatchObject({ session_id: older });
      });

      it("is also one that somebody is at", async () => {
        const id = await sessions.create(site, 7);
        await sessions.update(id, { messages: [said] });
        await sessions.acquireLock(id);
        expect(await sessions.recentPending(site, 7)).toMatchObject({ session_id: id, messages: [said] });
        await age(id, "lock_until", 1);
        expect(await sessions.recentPending(site, 7)).toBeUndefined();
      });

      it("is that of a token, if one is named", async () => {
        const owner = { type: "token", key: "3" };
        const id = await sessions.createForOwner(site, owner, { metadata: { token_id: 3 } });
        await sessions.createForOwner(site, owner);
        expect(await sessions.recentPendingForOwner(site, owner, { token_id: 3 })).toMatchObject({ session_id: id });
        expect(await sessions.recentPendingForOwner(site, owner, { token_id: 4 })).toBeUndefined();
      });
    });

    describe("lock", () => {
      it("is held by one, and given back by its token alone", async () => {
        const id = await sessions.create(site, 7);
        const token = await sessions.acquireLock(id);
        expect(token).toEqual(expect.any(String));
        expect(await sessions.acquireLock(id)).toBeNull();
        expect(await sessions.releaseLock(id, "another")).toBe(false);
        expect(await sessions.releaseLock(id, token ?? "")).toBe(true);
        expect(await sessions.releaseLock(id, token ?? "")).toBe(false);
        expect(await sessions.acquireLock(id, 0)).not.toBeNull();
        expect(await sessions.acquireLock(id)).toBeNull();
        expect(await sessions.acquireLock("nobody")).toBeNull();
        expect(await sessions.releaseLock("nobody", "token")).toBe(false);
      });

      it("is taken over when its time is up, and the old token then gives nothing back", async () => {
        const id = await sessions.create(site, 7);
        const old = (await sessions.acquireLock(id, 30)) ?? "";
        await age(id, "lock_until", 0);
        const token = (await sessions.acquireLock(id)) ?? "";
        expect(token).not.toBe("");
        expect(await sessions.releaseLock(id, old)).toBe(false);
        expect(await sessions.releaseLock(id, token)).toBe(true);
      });

      it("goes to one of many who want it at the same time", async () => {
        const id = await sessions.create(site, 7);
        const far = (await opened.openSecond?.())?.stores.sessions ?? sessions;
        await sessions.acquireLock(id);
        await age(id, "lock_until", 0);
        const tokens = await Promise.all(
          Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? sessions : far).acquireLock(id)),
        );
        const won = tokens.filter((token) => token !== null);
        expect(won).toHaveLength(1);
        expect(await sessions.releaseLock(id, won[0] ?? "")).toBe(true);
      });

      it.each(losses)("is known to be held and given back when %s got lost", async (loss) => {
        const id = await sessions.create(site, 7);
        const shaky = losingDriver(driver);
        const far = (await opened.storesOn(shaky)).sessions;
        shaky.loseNext(loss);
        const token = (await far.acquireLock(id)) ?? "";
        expect(await sessions.acquireLock(id)).toBeNull();
        shaky.loseNext(loss);
        expect(await far.releaseLock(id, token)).toBe(true);
      });
    });

    describe("that has expired", () => {
      it("is seen by nobody, and removed with its messages", async () => {
        const gone = await sessions.create(site, 7, { expires_after: 60 });
        const kept = await sessions.create(site, 7, { expires_after: 3_600 });
        for (const id of [gone, kept]) await sessions.update(id, { messages: [said] });
        await age(gone, "expires_at", 0);
        expect(await sessions.get(gone)).toBeUndefined();
        expect((await sessions.list(site, 7)).map(({ session_id }) => session_id)).toEqual([kept]);
        expect(await sessions.update(gone, { messages: [] })).toBe(false);
        expect(await sessions.acquireLock(gone)).toBeNull();
        expect(await sessions.expire()).toBe(1);
        expect(await sessions.expire()).toBe(0);
        expect(await driver.all("select session_id from session_messages")).toEqual([{ session_id: kept }]);
      });

      it("is also one that nobody has written to for long, where that is asked for", async () => {
        const old = await sessions.create(site, 7);
        const fresh = await sessions.create(site, 7);
        await age(old, "updated_at", 3_600);
        const [row] = await driver.all("select now_us() as now");
        expect(await sessions.expire({ before: Number(row?.now) - 1_800_000_000 })).toBe(1);
        expect((await sessions.list(site, 7)).map(({ session_id }) => session_id)).toEqual([fresh]);
      });
    });
  });
}
