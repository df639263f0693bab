// What a database promises about guidelines, as tests.
import { describe, expect, it } from "vitest";
import { PRIVATE_MEMORY, SHARED_GUIDANCE } from "../contracts/memory/guideline.ts";
import { losingDriver, losses } from "./contract/losing-driver.ts";
import type { StoresInTest } from "./contract/stores-in-test.ts";
import type { GuidelineFilter, NewGuideline } from "./guideline-store.ts";

const FIRST = { limit: 10 };

function aGuideline(parts: Partial<NewGuideline> = {}): NewGuideline {
  return {
    id: crypto.randomUUID(),
    type: "artifact",
    title: "Tone",
    content: "Be brief.",
    scope: PRIVATE_MEMORY,
    user_id: 7,
    workspace_id: "shop",
    status: "publish",
    ...parts,
  };
}

export function describeGuidelineStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`guidelines on ${name}`, () => {
    const openGuidelines = async () => (await open()).stores.guidelines;

    it("gives back what was made, with its times and its first version", async () => {
      const guidelines = await openGuidelines();
      const given = aGuideline({ title: "Ton\0", content: "Größe 🎈" });
      const made = await guidelines.create(given);
      expect(made).toMatchObject({ ...given, title: "Ton", version: 1, promoted_from: null, promoted_by: null });
      expect(made.created_at).toBeGreaterThan(0);
      expect(await guidelines.get(given.id)).toEqual(made);
      expect(await guidelines.create({ ...given, title: "Another" })).toEqual(made);
      expect(await guidelines.get("nothing")).toBeUndefined();
    });

    it("changes what was read, and nothing that was changed meanwhile", async () => {
      const guidelines = await openGuidelines();
      const { id, updated_at } = await guidelines.create(aGuideline());
      const changed = await guidelines.update(id, 1, { title: "Voice", status: "draft" });
      expect(changed).toMatchObject({ title: "Voice", content: "Be brief.", status: "draft", version: 2 });
      expect(changed?.updated_at).toBeGreaterThan(updated_at);
      expect(await guidelines.update(id, 1, { title: "Too late" })).toBeUndefined();
      expect(await guidelines.update("nothing", 1, {})).toBeUndefined();
      expect(await guidelines.get(id)).toEqual(changed);
    });

    it("lets one of many win who have read the same", async () => {
      const guidelines = await openGuidelines();
      const { id } = await guidelines.create(aGuideline());
      const rivals = await Promise.all(
        Array.from({ length: 8 }, (_, index) => guidelines.update(id, 1, { title: `rival ${index}` })),
      );
      expect(rivals.filter((each) => each !== undefined)).toHaveLength(1);
      expect(await guidelines.get(id)).toMatchObject({ version: 2 });
    });

    it("deletes what was read, and nothing that was changed meanwhile", async () => {
      const guidelines = await openGuidelines();
      const { id } = await guidelines.create(aGuideline());
      await guidelines.update(id, 1, { title: "Voice" });
      expect(await guidelines.delete(id, 1)).toBe(false);
      expect(await guidelines.delete(id, 2)).toBe(true);
      expect(await guidelines.get(id)).toBeUndefined();
    });

    it("lists and counts what is shared in a workspace, and the private records of one user there", async () => {
      const guidelines = await openGuidelines();
      const shared = await guidelines.create(aGuideline({ scope: SHARED_GUIDANCE, user_id: 8 }));
      const own = await guidelines.create(aGuideline({ type: "content", status: "draft" }));
      await guidelines.create(aGuideline({ user_id: 8 }));
      await guidelines.create(aGuideline({ user_id: 0 }));
      await guidelines.create(aGuideline({ workspace_id: "blog" }));
      await guidelines.create(aGuideline({ scope: SHARED_GUIDANCE, workspace_id: "blog" }));
      const filter = { workspace_id: "shop", shared: true, private_of: 7 };
      const cases: readonly [Partial<GuidelineFilter>, readonly unknown[]][] = [
        [{}, [shared, own]],
        [{ private_of: null }, [shared]],
        [{ shared: false }, [own]],
        [{ shared: false, private_of: 0 }, []],
        [{ shared: false, private_of: null }, []],
        [{ type: "content" }, [own]],
        [{ status: "publish" }, [shared]],
        [{ status: "publish", type: "content" }, []],
      ];
      for (const [parts, found] of cases) {
        expect(await guidelines.list({ ...filter, ...parts }, FIRST), JSON.stringify(parts)).toEqual(found);
        expect(await guidelines.count({ ...filter, ...parts })).toBe(found.length);
      }
    });

    it("goes through a list page by page", async () => {
      const guidelines = await openGuidelines();
      const made = [];
      for (let index = 0; index < 5; index++) made.push(await guidelines.create(aGuideline()));
      const filter = { workspace_id: "shop", shared: false, private_of: 7 };
      const first = await guidelines.list(filter, { limit: 3 });
      const rest = await guidelines.list(filter, { limit: 3, after: first[2] });
      expect([...first, ...rest]).toEqual(made);
    });

    describe("promotion", () => {
      it("makes a shared record that knows where it came from, and leaves the private one to its owner", async () => {
        const guidelines = await openGuidelines();
        const own = await guidelines.create(aGuideline({ type: "content" }));
        const shared = await guidelines.promote(own, { id: "shared", promoted_by: 7 });
        const { id, scope, created_at: _created, updated_at: _updated, ...same } = own;
        expect(shared).toMatchObject({
          ...same,
          id: "shared",
          scope: SHARED_GUIDANCE,
          promoted_from: id,
          promoted_by: 7,
        });
        expect(await guidelines.get(id)).toEqual(own);
        expect(scope).toBe(PRIVATE_MEMORY);
      });

      it("happens once, however many try", async () => {
        const guidelines = await openGuidelines();
        const own = await guidelines.create(aGuideline());
        const made = await Promise.all(
          Array.from({ length: 5 }, (_, index) => guidelines.promote(own, { id: `shared ${index}`, promoted_by: 7 })),
        );
        expect(new Set(made.map((each) => each?.id)).size).toBe(1);
        expect(await guidelines.count({ workspace_id: "shop", shared: true, private_of: null })).toBe(1);
      });

      it("does not share what was changed meanwhile, nor what is shared", async () => {
        const guidelines = await openGuidelines();
        const own = await guidelines.create(aGuideline());
        await guidelines.update(own.id, 1, { content: "Something private." });
        expect(await guidelines.promote(own, { id: "shared", promoted_by: 7 })).toBeUndefined();
        const shared = await guidelines.create(aGuideline({ scope: SHARED_GUIDANCE }));
        expect(await guidelines.promote(shared, { id: "again", promoted_by: 7 })).toBeUndefined();
        expect(await guidelines.count({ workspace_id: "shop", shared: true, private_of: null })).toBe(1);
      });
    });

    it("forgets what is private to a user, in one workspace or in all, and nothing that is shared", async () => {
      const guidelines = await openGuidelines();
      const own = await guidelines.create(aGuideline({ user_id: 7, workspace_id: "shop" }));
      const elsewhere = await guidelines.create(aGuideline({ user_id: 7, workspace_id: "office" }));
      const others = await guidelines.create(aGuideline({ user_id: 8, workspace_id: "shop" }));
      const shared = await guidelines.create(aGuideline({ user_id: 7, scope: SHARED_GUIDANCE, workspace_id: "shop" }));
      const left = async () =>
        (await Promise.all([own, elsewhere, others, shared].map(({ id }) => guidelines.get(id)))).flatMap((each) =>
          each ? [each.id] : [],
        );
      expect(await guidelines.forgetAll({ user_id: 9 })).toBe(0);
      expect(await guidelines.forgetAll({ user_id: 7, workspace_id: "shop" })).toBe(1);
      expect(await left()).toEqual([elsewhere.id, others.id, shared.id]);
      expect(await guidelines.forgetAll({ user_id: 7 })).toBe(1);
      expect(await guidelines.forgetAll({ user_id: 7 })).toBe(0);
      expect(await left()).toEqual([others.id, shared.id]);
    });

    it.each(losses)("tells what came of each change that loses %s", async (loss) => {
      const { driver, storesOn } = await open();
      const losing = losingDriver(driver);
      const { guidelines } = await storesOn(losing);
      losing.loseNext(loss);
      const own = await guidelines.create(aGuideline());
      expect(own.version).toBe(1);
      losing.loseNext(loss);
      expect(await guidelines.update(own.id, 1, { title: "Voice" })).toMatchObject({ title: "Voice", version: 2 });
      losing.loseNext(loss);
      const shared = await guidelines.promote({ id: own.id, version: 2 }, { id: "shared", promoted_by: 7 });
      expect(shared).toMatchObject({ id: "shared", promoted_from: own.id });
      losing.loseNext(loss);
      expect(await guidelines.delete(own.id, 2)).toBe(true);
    });
  });
}
