// What the subject store promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aThread } from "./contract/a-commit.ts";
import { openChild } from "./contract/a-write.ts";
import { openThread, type StoresInTest } from "./contract/stores-in-test.ts";
import type { Stores } from "./stores.ts";
import type { StoredSubject } from "./subject-store.ts";
import type { ThreadQuery } from "./thread-store.ts";

const ann: StoredSubject = {
  ...{ principal: '{"acting_user_id":7}', workspace_type: "site", workspace_id: "1" },
  ...{ owner_type: "user", owner_key: "7", context: "chat", consent: "{}" },
};

export function describeSubjectStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`subjects on ${name}`, () => {
    let stores: Stores;

    beforeEach(async () => {
      ({ stores } = await open());
    });

    it("are kept with a new thread, read with it, and gone with it", async () => {
      await stores.threads.open(aThread({ id: "t", subject: ann }));
      expect(await stores.subjects.get("t")).toEqual(ann);
      expect(await stores.threads.load("t")).toMatchObject({ subject: ann });
      await stores.threads.delete("t");
      expect(await stores.subjects.get("t")).toBeUndefined();
    });

    it("are not kept for a thread that there is under this key", async () => {
      await openThread(stores, { id: "first", key: "key" });
      await stores.threads.open(aThread({ id: "second", key: "key", subject: ann }));
      expect(await stores.subjects.get("first")).toBeUndefined();
      expect(await stores.subjects.get("second")).toBeUndefined();
      expect(await stores.threads.load("first")).toMatchObject({ subject: null });
    });

    it("of a parent are those of its children, unless they have their own", async () => {
      await stores.threads.open(aThread({ id: "parent", subject: ann }));
      await openChild(stores, "parent", { id: "child" });
      const bob = { ...ann, owner_key: "8" };
      await openChild(stores, "parent", { id: "other", subject: bob });
      expect(await stores.subjects.get("child")).toEqual(ann);
      expect(await stores.subjects.get("other")).toEqual(bob);
    });

    it("tell whose a thread is, so that the list may be of one owner", async () => {
      const owned = (id: string, owner_type: string | null, owner_key: string | null) =>
        stores.threads.open(aThread({ id, subject: { ...ann, owner_type, owner_key } }));
      await owned("first", "user", "7");
      await owned("of a token", "token", "7");
      await owned("of somebody else", "user", "70");
      await owned("of nobody", null, null);
      await openThread(stores, { id: "unstated" });
      await owned("second", "user", "7");
      await stores.threads.open(aThread({ id: "sold", agent: "sales", subject: ann }));
      const ids = async (query: Omit<ThreadQuery, "owner">, owner = { type: "user", key: "7" }) =>
        (await stores.threads.list({ ...query, owner })).map(({ id }) => id);
      expect(await ids({})).toEqual(["first", "second", "sold"]);
      expect(await ids({ limit: 2 })).toEqual(["first", "second"]);
      expect(await ids({ limit: 2, after: "second" })).toEqual(["sold"]);
      // A place in the list need not be of the same owner.
      expect(await ids({ after: "unstated" })).toEqual(["second", "sold"]);
      expect(await ids({ agent: "sales" })).toEqual(["sold"]);
      expect(await ids({}, { type: "token", key: "7" })).toEqual(["of a token"]);
      expect(await ids({}, { type: "user", key: "8" })).toEqual([]);
    });

    it("tell where a thread is, or else its principal, and of which audience its owner is", async () => {
      const subject = (principal: object, place: Partial<StoredSubject>): StoredSubject => ({
        ...{ ...ann, owner_type: "audience", owner_key: "42", workspace_type: null, workspace_id: null },
        ...{ principal: JSON.stringify(principal), ...place },
      });
      const site = { workspace_type: "site", workspace_id: "1" };
      await stores.threads.open(
        aThread({ id: "placed", subject: subject({ audience_id: "a", workspace_id: "2" }, site) }),
      );
      await stores.threads.open(aThread({ id: "come", subject: subject({ audience_id: "b", workspace_id: "1" }, {}) }));
      await stores.threads.open(aThread({ id: "away", subject: subject({ audience_id: "a", workspace_id: "2" }, {}) }));
      await stores.threads.open(aThread({ id: "nowhere", subject: subject({}, {}) }));
      await openThread(stores, { id: "unstated" });
      await openChild(stores, "come", { id: "child" });
      const ids = async (query: ThreadQuery) => (await stores.threads.list(query)).map(({ id }) => id);
      expect(await ids({ workspace: "1" })).toEqual(["placed", "come", "child"]);
      expect(await ids({ workspace: "2" })).toEqual(["away"]);
      expect(await ids({ workspace: "3" })).toEqual([]);
      const owner = { type: "audience", key: "42" };
      expect(await ids({ owner })).toEqual(["placed", "come", "away", "nowhere", "child"]);
      expect(await ids({ owner: { ...owner, audience: "a" } })).toEqual(["placed", "away"]);
      expect(await ids({ owner: { ...owner, audience: "a" }, workspace: "1" })).toEqual(["placed"]);
      const consent = '{"store_memory":true}';
      expect(await stores.subjects.changeConsent("away", subject({ workspace_id: "2" }, {}), consent)).toBe("changed");
      expect(await stores.subjects.changeConsent("unstated", subject({}, site), consent)).toBe("changed");
      expect(await ids({ workspace: "1", limit: 10 })).toEqual(["placed", "come", "unstated", "child"]);
    });

    it("change their consent only from what was read", async () => {
      await stores.threads.open(aThread({ id: "t", subject: ann }));
      expect(await stores.subjects.changeConsent("t", ann, '{"a":true}')).toBe("changed");
      expect(await stores.subjects.changeConsent("t", ann, '{"b":true}')).toBe("overtaken");
      expect(await stores.subjects.get("t")).toEqual({ ...ann, consent: '{"a":true}' });
      expect(await stores.subjects.changeConsent("nobody", ann, "{}")).toBe("not_found");
    });

    it("take back of all that live below a thread what is taken back of it, of the same principal alone", async () => {
      const agreed = { ...ann, consent: '{"use_memory":true,"store_memory":true}' };
      await stores.threads.open(aThread({ id: "parent", subject: agreed }));
      await openChild(stores, "parent", { id: "child" });
      await openChild(stores, "child", { id: "grandchild" });
      await openChild(stores, "parent", { id: "of bob", subject: { ...agreed, principal: '{"acting_user_id":8}' } });
      await stores.threads.open(aThread({ id: "beside", subject: agreed }));
      await stores.subjects.changeConsent("grandchild", agreed, '{"use_memory":false,"store_memory":true}');

      const consent = '{"use_memory":true,"store_memory":false,"store_transcript":true}';
      expect(await stores.subjects.changeConsent("parent", agreed, consent, ["store_memory"])).toBe("changed");
      const consentOf = async (id: string) => (await stores.subjects.get(id))?.consent;
      expect(await consentOf("parent")).toBe(consent);
      expect(await consentOf("child")).toBe('{"use_memory":true,"store_memory":false}');
      expect(await consentOf("grandchild")).toBe('{"use_memory":false,"store_memory":false}');
      expect([await consentOf("of bob"), await consentOf("beside")]).toEqual([agreed.consent, agreed.consent]);
      expect(await stores.subjects.changeConsent("parent", agreed, "{}", ["use_memory"])).toBe("overtaken");
      expect(await consentOf("child")).toBe('{"use_memory":true,"store_memory":false}');
    });

    it("are made for a thread that has none when its consent is changed", async () => {
      await openThread(stores, { id: "t" });
      expect(await stores.subjects.changeConsent("t", ann, '{"a":true}')).toBe("changed");
      expect(await stores.subjects.get("t")).toEqual({ ...ann, consent: '{"a":true}' });
    });

    it("take one of any number of changes that were made from the same", async () => {
      await stores.threads.open(aThread({ id: "t", subject: ann }));
      const changes = [1, 2, 3, 4].map((number) => stores.subjects.changeConsent("t", ann, `{"a":${number}}`));
      expect((await Promise.all(changes)).toSorted()).toEqual(["changed", "overtaken", "overtaken", "overtaken"]);
    });

    it("know with whom a transcript was shared, once for each", async () => {
      const share = { id: "1", session_id: "s", shared_with: "Bob", shared_by: "{}", consent: "{}" };
      await stores.subjects.share(share);
      await stores.subjects.share(share);
      await stores.subjects.share({ ...share, id: "2", session_id: "other" });
      expect(await stores.subjects.shares("s")).toEqual([{ ...share, at: expect.any(Number) }]);
    });
  });
}
