// What every store of pending actions promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import type { ActionClaim, ActionEnd, ActionQuery, ActionStore, NewAction } from "./action-store.ts";
import { losingDriver, losses } from "./contract/losing-driver.ts";
import type { StoresInTest } from "./contract/stores-in-test.ts";

const SECOND = 1_000_000;
const NOON = 1_800_000_000 * SECOND;

const at = (us: number) => ({ text: new Date(us / 1_000).toISOString(), us });

function anAction(action_id: string, parts: Partial<NewAction> = {}): NewAction {
  return {
    ...{ action_id, kind: "file_patch", status: "pending", workspace_type: null, workspace_id: null },
    ...{ agent: null, creator: null, resolver: null, created_at: at(NOON), expires_at: null, resolved_at: null },
    ...{ shown: '{"summary":"Apply a patch."}', sealed: "sealed input", outcome: null },
    ...parts,
  };
}

let claims = 0;

function aClaim(parts: Partial<ActionClaim> = {}): ActionClaim {
  return { claim_id: `claim ${++claims}`, decision: "accepted", claimed_by: "user:7", claimed_at: "noon", ...parts };
}

const accepted: ActionEnd = {
  ...{ status: "accepted", resolver: "user:7", resolved_at: at(NOON + SECOND), outcome: "sealed outcome" },
};

export function describeActionStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`pending actions on ${name}`, () => {
    let world: StoresInTest;
    let actions: ActionStore;

    beforeEach(async () => {
      world = await open();
      ({ actions } = world.stores);
    });

    const ids = async (query: ActionQuery, page = {}) =>
      (await actions.list(query, page)).map(({ action_id }) => action_id);

    it("are given as they were stored", async () => {
      const given = anAction("a", {
        ...{ workspace_type: "site", workspace_id: "1", agent: "writer", creator: "user:1" },
        ...{ expires_at: at(NOON + SECOND), created_at: { text: "some day", us: null } },
      });
      expect(await actions.put(given)).toBe(true);
      expect(await actions.get("a")).toEqual({
        ...given,
        ...{ created_at: "some day", expires_at: at(NOON + SECOND).text, revision: 1, claim: null },
        stored_at: expect.any(Number),
      });
      expect(await actions.get("b")).toBeUndefined();
    });

    it("are replaced in their place while nobody has decided them, and never afterwards", async () => {
      await actions.put(anAction("a"));
      await actions.put(anAction("b"));
      expect(await actions.put(anAction("a", { kind: "email", sealed: "other input" }))).toBe(true);
      expect(await actions.get("a")).toMatchObject({ kind: "email", sealed: "other input", revision: 2 });
      expect(await ids({})).toEqual(["a", "b"]);
      await actions.claim("a", 2, aClaim({ claim_id: "claim" }), NOON);
      expect(await actions.put(anAction("a"))).toBe(false);
      await actions.end("a", "claim", accepted);
      expect(await actions.put(anAction("a"))).toBe(false);
      expect(await actions.get("a")).toMatchObject({ kind: "email", status: "accepted" });
    });

    it("are claimed by one, and ended by whoever has claimed them", async () => {
      await actions.put(anAction("a"));
      const claim = aClaim();
      expect(await actions.claim("a", 1, claim, NOON)).toBe(true);
      expect(await actions.claim("a", 1, aClaim(), NOON)).toBe(false);
      expect(await actions.get("a")).toMatchObject({ status: "pending", claim });
      expect(await actions.end("a", null, accepted)).toBe(false);
      expect(await actions.end("a", "another claim", accepted)).toBe(false);
      expect(await actions.end("a", claim.claim_id, accepted)).toBe(true);
      expect(await actions.end("a", claim.claim_id, accepted)).toBe(false);
      expect(await actions.get("a")).toMatchObject({ status: "accepted", claim: null });
    });

    it("lose what applying them takes when they end", async () => {
      await actions.put(anAction("a"));
      await actions.put(anAction("b", { expires_at: at(NOON) }));
      expect(await actions.end("a", null, accepted)).toBe(true);
      await actions.expire(at(NOON));
      expect(await actions.get("a")).toMatchObject({
        ...{ status: "accepted", resolver: "user:7", sealed: null, outcome: "sealed outcome" },
        resolved_at: accepted.resolved_at.text,
      });
      expect(await actions.get("b")).toMatchObject({ status: "expired", resolver: null, sealed: null });
    });

    it("are not claimed as they were before they were stored anew, nor once their time is up", async () => {
      await actions.put(anAction("a", { expires_at: at(NOON + SECOND) }));
      await actions.put(anAction("a", { expires_at: at(NOON + SECOND), kind: "email" }));
      expect(await actions.claim("a", 1, aClaim(), NOON)).toBe(false);
      expect(await actions.claim("a", 2, aClaim(), NOON + SECOND)).toBe(false);
      expect(await actions.claim("b", 1, aClaim(), NOON)).toBe(false);
      expect(await actions.claim("a", 2, aClaim(), NOON + SECOND - 1)).toBe(true);
    });

    it("can be decided again when a claim is given back", async () => {
      await actions.put(anAction("a"));
      const claim = aClaim();
      await actions.claim("a", 1, claim, NOON);
      expect(await actions.release("a", "another claim")).toBe(false);
      expect(await actions.release("a", claim.claim_id)).toBe(true);
      expect(await actions.release("a", claim.claim_id)).toBe(false);
      expect(await actions.end("a", claim.claim_id, accepted)).toBe(false);
      expect(await actions.claim("a", 1, aClaim(), NOON)).toBe(true);
    });

    it("expire when their time has come, unless they are being decided or have no time", async () => {
      await actions.put(anAction("due", { expires_at: at(NOON) }));
      await actions.put(anAction("later", { expires_at: at(NOON + 1_000) }));
      await actions.put(anAction("never"));
      await actions.put(anAction("nonsense", { expires_at: { text: "tomorrow", us: null } }));
      await actions.put(anAction("claimed", { expires_at: at(NOON) }));
      await actions.claim("claimed", 1, aClaim(), NOON - SECOND);
      const expired = await actions.expire({ text: "at noon", us: NOON });
      expect(expired).toMatchObject([{ action_id: "due", status: "expired", resolved_at: "at noon" }]);
      expect(await actions.expire(at(NOON))).toEqual([]);
      expect(await actions.expire({ text: "some day", us: null })).toEqual([]);
      expect(await ids({ status: "pending" })).toEqual(["later", "never", "nonsense", "claimed"]);
    });

    it.each<[ActionQuery, string[]]>([
      [{}, ["a", "b", "c"]],
      [{ status: "accepted" }, ["c"]],
      [{ kind: "email" }, ["b"]],
      [{ workspace_type: "site", workspace_id: "1" }, ["b"]],
      [{ workspace_type: "site", workspace_id: "2" }, []],
      [{ agent: "writer", creator: "user:1" }, ["b"]],
      [{ resolver: "user:7" }, ["c"]],
      [{ created_from: NOON, created_to: NOON }, ["a", "c"]],
      [{ created_to: NOON - 1 }, ["b"]],
      [{ resolved_from: NOON + SECOND }, ["c"]],
      [{ resolved_to: NOON }, []],
    ])("are listed and counted by %j", async (query, expected) => {
      await actions.put(anAction("a"));
      await actions.put(
        anAction("b", {
          ...{ kind: "email", workspace_type: "site", workspace_id: "1", agent: "writer", creator: "user:1" },
          created_at: at(NOON - SECOND),
        }),
      );
      await actions.put(anAction("c"));
      await actions.end("c", null, accepted);
      expect(await ids(query)).toEqual(expected);
      const counted = await actions.count(query);
      expect(counted.reduce((total, { count }) => total + count, 0)).toBe(expected.length);
    });

    it("are counted by status and kind, and listed a page at a time", async () => {
      for (const id of ["a", "b", "c"]) await actions.put(anAction(id));
      await actions.put(anAction("d", { kind: "email" }));
      await actions.end("b", null, accepted);
      expect(await actions.count({})).toEqual([
        { status: "pending", kind: "file_patch", count: 2 },
        { status: "accepted", kind: "file_patch", count: 1 },
        { status: "pending", kind: "email", count: 1 },
      ]);
      expect(await ids({}, { limit: 2, offset: 1 })).toEqual(["b", "c"]);
      expect(await ids({}, { limit: 0 })).toEqual([]);
      expect(await ids({}, { offset: 3 })).toEqual(["d"]);
    });

    it("are claimed, ended and expired once, however many try at the same time", async () => {
      const second = (await world.openSecond?.())?.stores.actions ?? actions;
      const both = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? actions : second));
      const wins = (outcomes: readonly boolean[]) => outcomes.filter(Boolean).length;

      await actions.put(anAction("a", { expires_at: at(NOON) }));
      expect(wins(await Promise.all(both.map((store) => store.claim("a", 1, aClaim(), NOON - 1))))).toBe(1);

      await actions.put(anAction("b"));
      expect(wins(await Promise.all(both.map((store) => store.end("b", null, accepted))))).toBe(1);

      await actions.put(anAction("c", { expires_at: at(NOON) }));
      const mixed = both.map(async (store, index) => {
        if (index % 3 === 0) return (await store.expire(at(NOON))).length === 1;
        return index % 3 === 1 ? store.claim("c", 1, aClaim(), NOON - 1) : store.end("c", null, accepted);
      });
      expect(wins(await Promise.all(mixed))).toBe(1);
    });

    it.each(losses)("change once, and say so, when a commit loses %s", async (loss) => {
      const driver = losingDriver(world.driver);
      const losing = (await world.storesOn(driver)).actions;
      const lost = () => driver.loseNext(loss);
      lost();
      expect(await losing.put(anAction("a", { expires_at: at(NOON) }))).toBe(true);
      expect(await actions.get("a")).toMatchObject({ revision: 1 });
      const claim = aClaim();
      lost();
      expect(await losing.claim("a", 1, claim, NOON - 1)).toBe(true);
      lost();
      expect(await losing.release("a", claim.claim_id)).toBe(true);
      lost();
      expect(await losing.expire(at(NOON))).toHaveLength(1);
      await losing.put(anAction("b"));
      lost();
      expect(await losing.end("b", null, accepted)).toBe(true);
    });
  });
}
