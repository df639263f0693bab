// What the subject store promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aThread } from "./contract/a-commit.ts";
import { openChild } from "./contract/a-write.ts";
import { openThread, type StoresInTest } from "./contract/stores-in-test.ts";
import type { Stores } from "./stores.ts";
import type { StoredSubject } from "./subject-store.ts";

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

    it("change their consent only from what was read", async () => {
      await stores.threads.open(aThread({ id: "t", subject: ann }));
      expect(await stores.subjects.changeConsent("t", ann, '{"a":true}')).toBe("changed");
      expect(await stores.subjects.changeConsent("t", ann, '{"b":true}')).toBe("overtaken");
      expect(await stores.subjects.get("t")).toEqual({ ...ann, consent: '{"a":true}' });
      expect(await stores.subjects.changeConsent("nobody", ann, "{}")).toBe("not_found");
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
