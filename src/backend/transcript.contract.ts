// What a commit promises that keeps what its thread says in a session, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aCommit, aMessage } from "./contract/a-commit.ts";
import { written } from "./contract/a-write.ts";
import { heldThread, openThread, type StoresInTest } from "./contract/stores-in-test.ts";
import type { Held } from "./engine.ts";
import type { SqlDriver } from "./sql-driver.ts";
import type { Stores } from "./stores.ts";
import type { NewMessage } from "./thread-rows.ts";
import type { TranscriptSession, Write } from "./write.ts";

const consent = { allowed: true, operation: "store_transcript", reason: "explicit_consent" };
const site = { workspace_type: "site", workspace_id: "1" };

const aSession = (parts: Partial<TranscriptSession> = {}): TranscriptSession => ({
  ...site,
  owner_type: "user",
  owner_key: "7",
  audience_id: "shop",
  user_id: 7,
  agent_slug: "support",
  title: "Refund order 7",
  metadata: '{"product":{"n":1}}',
  provider: "openai",
  model: "m1",
  context: "chat",
  consent: JSON.stringify(consent),
  token_id: null,
  expires_after: null,
  ...parts,
});

export function describeTranscript(name: string, open: () => Promise<StoresInTest>): void {
  describe(`a transcript on ${name}`, () => {
    let stores: Stores;
    let driver: SqlDriver;
    let held: Held;
    let seq: number;
    let next: number;

    beforeEach(async () => {
      ({ stores, driver } = await open());
      held = await heldThread(stores);
      seq = 0;
      next = 0;
    });

    /** Commits messages, and keeps those from `from` on in the session; all that are new unless told otherwise. */
    async function say(messages: readonly NewMessage[], session = aSession(), from = next, session_id = "session") {
      const run_to = next + messages.length;
      const transcript = {
        write: "transcript",
        session_id,
        thread_id: held.id,
        run_from: from,
        run_to,
        session,
        if_consent: null,
      } as const;
      const commit = aCommit(held, { seq, messages, writes: [transcript], event: { messages_from: next } });
      expect(await stores.threads.commit(commit)).toMatchObject({ outcome: "committed" });
      seq++;
      next = run_to;
    }

    const kept = async (id = "session") =>
      (await stores.sessions.get(id))?.messages.map((message) => (message as { text: string }).text);

    it("is a session of its owner, with the decision that allows to keep it", async () => {
      await say([aMessage("hello"), aMessage("hi")]);
      expect(await stores.sessions.get("session")).toMatchObject({
        ...{ session_id: "session", thread_id: held.id, ...site, owner_type: "user", owner_key: "7", user_id: 7 },
        ...{ agent_slug: "support", title: "Refund order 7", metadata: { product: { n: 1 } }, consent },
        ...{ provider: "openai", model: "m1", provider_response_id: null, context: "chat", expires_at: null },
        audience_id: "shop",
        messages: [{ text: "hello" }, { text: "hi" }],
      });
      expect(await stores.sessions.list(site, 7)).toMatchObject([{ session_id: "session" }]);
    });

    it("grows by what each run says, and keeps what the owner has changed", async () => {
      await say([aMessage("one"), aMessage("two")]);
      await stores.sessions.updateTitle("session", "Mine");
      const { metadata, ...others } = aSession({
        provider: "",
        model: "m2",
        title: "Another",
        provider_response_id: "r1",
      });
      expect(metadata).toBeDefined();
      await say([aMessage("three")], others);
      expect(await kept()).toEqual(["one", "two", "three"]);
      expect(await stores.sessions.get("session")).toMatchObject({
        ...{
          title: "Mine",
          metadata: { product: { n: 1 } },
          provider: "openai",
          model: "m2",
          provider_response_id: "r1",
        },
      });
      await say([], aSession({ metadata: "{}" }));
      expect(await stores.sessions.get("session")).toMatchObject({ metadata: {}, provider_response_id: "r1" });
      await say([], aSession({ provider_response_id: null }));
      expect(await stores.sessions.get("session")).toMatchObject({ provider_response_id: null });
      expect(await kept()).toEqual(["one", "two", "three"]);
    });

    it("holds nothing from before its consent, no notices, and nothing that prompts say among themselves", async () => {
      await say([aMessage("before")], aSession(), 1);
      await say([
        aMessage("said"),
        aMessage("notice", { kind: "notice" }),
        aMessage("summary", { kind: "summary" }),
        aMessage("deep", { depth: 1, parent_seq: 1 }),
      ]);
      expect(await kept()).toEqual(["said"]);
    });

    it("follows what is changed and removed, in the same run or later", async () => {
      await say([
        aMessage("one"),
        aMessage("two"),
        aMessage("three"),
        aMessage("one, better", { kind: "edit", supersedes: 0 }),
        aMessage("one, best", { kind: "edit", supersedes: 0 }),
      ]);
      expect(await kept()).toEqual(["one, best", "two", "three"]);
      await say([
        aMessage("two, better", { kind: "edit", supersedes: 1 }),
        aMessage("", { kind: "deletion", supersedes: 2 }),
        aMessage("four"),
      ]);
      expect(await kept()).toEqual(["one, best", "two, better", "four"]);
      await say([], aSession(), 0);
      expect(await kept()).toEqual(["one, best", "two, better", "four"]);
    });

    it("loses what is erased, in every session of the thread", async () => {
      await say([aMessage("one"), aMessage("two"), aMessage("three")]);
      await say([], aSession(), 0, "copy");
      await written(stores, held.id, { write: "transcript_erased", thread_id: held.id, seqs: [0, 2] });
      expect(await kept()).toEqual(["two"]);
      expect(await kept("copy")).toEqual(["two"]);
      await written(stores, held.id, { write: "transcript_erased", thread_id: held.id, seqs: [] });
    });

    it("goes into a session that its owner has begun, behind what is in it", async () => {
      const id = await stores.sessions.create(site, 7, { agent_slug: "support" });
      await stores.sessions.update(id, { messages: [{ text: "a" }, { text: "b" }] });
      await say([aMessage("one")], aSession(), next, id);
      expect(await kept(id)).toEqual(["a", "b", "one"]);
      await stores.sessions.update(id, { messages: [{ text: "c" }] });
      await say([aMessage("two")], aSession(), next, id);
      expect(await kept(id)).toEqual(["c", "two"]);
    });

    it.each([
      ["owner", { owner_key: "8" }],
      ["owner of another type", { owner_type: "browser" }],
      ["workspace", { workspace_id: "2" }],
    ])("never goes into the session of another %s", async (_, other) => {
      await say([aMessage("mine")]);
      const before = await stores.sessions.get("session");
      await say([aMessage("yours"), aMessage("changed", { kind: "edit", supersedes: 0 })], aSession(other));
      expect(await stores.sessions.get("session")).toEqual(before);
      const own = await stores.sessions.createForOwner(site, { type: "browser", key: "k" });
      await say([aMessage("hers")], aSession(), next, own);
      expect(await stores.sessions.get(own)).toMatchObject({ thread_id: null, messages: [] });
    });

    it("never goes into the session of another thread", async () => {
      await say([aMessage("mine")]);
      const other = await openThread(stores);
      const transcript = {
        write: "transcript",
        session_id: "session",
        thread_id: other,
        run_from: 0,
        run_to: 9,
        if_consent: null,
      } as const;
      await written(stores, other, { ...transcript, session: aSession({ title: "Theirs" }) });
      expect(await stores.sessions.get("session")).toMatchObject({ thread_id: held.id, title: "Refund order 7" });
      const gone: Write = { ...transcript, session_id: "new", thread_id: "nobody", session: aSession() };
      await written(stores, other, gone);
      expect(await stores.sessions.get("new")).toBeUndefined();
    });

    it("outlives its thread, and ends by itself when its time is up", async () => {
      await say([aMessage("one")], aSession({ expires_after: 60_000_000 }));
      expect(await stores.sessions.get("session")).toMatchObject({ expires_at: expect.any(String) });
      await stores.threads.delete(held.id);
      expect(await kept()).toEqual(["one"]);
      await driver.batch([{ sql: "update sessions set expires_at = now_us()", params: [] }]);
      expect(await stores.sessions.get("session")).toBeUndefined();
      expect(await stores.sessions.expire()).toBe(1);
    });

    it("keeps nothing once the consent is another one than it was decided from", async () => {
      const subject = {
        ...{ principal: "{}", workspace_type: null, workspace_id: null, owner_type: null, owner_key: null },
        ...{ context: "chat", consent: '{"store_transcript":true}' },
      };
      const id = await openThread(stores, { id: "asked", subject });
      const write = (session_id: string, if_consent: string | null): Write => ({
        ...{ write: "transcript", session_id, thread_id: id, run_from: 0, run_to: 9, if_consent },
        session: aSession(),
      });
      await written(stores, id, write("kept", subject.consent));
      await stores.subjects.changeConsent(id, subject, '{"store_transcript":false}');
      await written(stores, id, write("late", subject.consent));
      await written(stores, id, write("unasked", null));
      expect(await stores.sessions.get("kept")).toMatchObject({ session_id: "kept" });
      expect(await stores.sessions.get("late")).toBeUndefined();
      expect(await stores.sessions.get("unasked")).toBeUndefined();
    });
  });
}
