// What every store of values, variables and effects promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aCommit, MINUTE } from "./contract/a-commit.ts";
import { anEffect, aStop, written } from "./contract/a-write.ts";
import { heldThread, openThread, type StoresInTest } from "./contract/stores-in-test.ts";
import type { SqlDriver } from "./sql-driver.ts";
import type { StateStore } from "./state-store.ts";
import type { Stores } from "./stores.ts";
import type { EffectStatus, NewEffect, Write } from "./write.ts";

export function describeStateStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`state store on ${name}`, () => {
    let stores: Stores;
    let state: StateStore;
    let driver: SqlDriver;
    let id: string;

    beforeEach(async () => {
      ({ stores, driver } = await open());
      ({ state } = stores);
      id = await openThread(stores);
    });

    const write = (...all: readonly Write[]) => written(stores, id, ...all);

    describe("values", () => {
      const set = (key: string, value: string | null) => write({ write: "value", thread_id: id, key, value });

      it("are what was written last, and nothing once they are deleted", async () => {
        expect(await state.value(id, "count")).toBeUndefined();
        await set("count", "1");
        await set("count", '{"b":1,"a":2}');
        expect(await state.value(id, "count")).toBe('{"b":1,"a":2}');
        await set("count", null);
        expect(await state.value(id, "count")).toBeUndefined();
        await set("count", null);
      });

      it("are those of one thread, in order", async () => {
        await set("b", "2");
        await set("a", "null");
        await set("B", "1");
        expect(await state.values(id)).toEqual([
          { key: "B", value: "1" },
          { key: "a", value: "null" },
          { key: "b", value: "2" },
        ]);
        expect(await state.values(await openThread(stores))).toEqual([]);
        await write({ write: "value", thread_id: "nobody", key: "a", value: "1" });
        expect(await state.values("nobody")).toEqual([]);
      });

      it("of a user are the same in all threads", async () => {
        const set = (user_id: string, key: string, value: string | null) =>
          write({ write: "user_value", user_id, key, value });
        await set("ada", "b", "1");
        await set("ada", "a", "2");
        await set("ada", "b", "3");
        await set("bob", "a", "4");
        expect(await state.userValue("ada", "b")).toBe("3");
        expect(await state.userValues("ada")).toEqual([
          { key: "a", value: "2" },
          { key: "b", value: "3" },
        ]);
        await set("ada", "a", null);
        expect(await state.userValue("ada", "a")).toBeUndefined();
        expect(await state.userValue("bob", "a")).toBe("4");
        expect(await state.userValues("nobody")).toEqual([]);
      });
    });

    it("gives variables as they were written last, by name", async () => {
      const variable = { write: "variable", thread_id: id, type: "secret", inherited: false } as const;
      await write({ ...variable, name: "TOKEN", sealed: "old", inherited: true });
      await write({ ...variable, name: "TOKEN", sealed: "new", type: "text" });
      await write(
        { ...variable, name: "KEY", sealed: "key", inherited: true },
        { ...variable, name: "X", sealed: "x" },
      );
      await write({ ...variable, name: "X", sealed: null });
      expect(await state.variables(id)).toEqual([
        { name: "KEY", sealed: "key", type: "secret", inherited: true },
        { name: "TOKEN", sealed: "new", type: "text", inherited: false },
      ]);
      expect(await state.variables("nobody")).toEqual([]);
    });

    describe("an effect", () => {
      const schedule = async (parts: Partial<NewEffect> = {}) => {
        const effect = anEffect(parts);
        await write({ write: "effect", thread_id: id, effect });
        return effect.id;
      };
      const change = (effect: string, from: readonly EffectStatus[], to: EffectStatus, error?: string) =>
        write({
          write: "effect_change",
          thread_id: id,
          id: effect,
          from,
          to,
          ...(error !== undefined && { error }),
        });

      it("is read as it was scheduled", async () => {
        await schedule({ id: "one", name: "mail", args: "sealed mail", after: MINUTE });
        const effect = await state.effect(id, "one");
        expect(effect).toEqual({
          id: "one",
          thread_id: id,
          name: "mail",
          args: "sealed mail",
          status: "pending",
          scheduled_at: expect.any(Number),
          created_at: expect.any(Number),
          attempts: 0,
          error: null,
          completed_at: null,
          manual_run: false,
          manual_run_at: null,
          replayed_from: null,
        });
        expect((effect?.scheduled_at ?? 0) - (effect?.created_at ?? 0)).toBeGreaterThanOrEqual(MINUTE - 1_000);
        expect(await state.effect("nobody", "one")).toBeUndefined();
      });

      it("that is run by hand knows when, and what it repeats", async () => {
        await schedule({ id: "again", manual_run: true, replayed_from: "one" });
        expect(await state.effect(id, "again")).toMatchObject({
          manual_run: true,
          manual_run_at: expect.any(Number),
          replayed_from: "one",
        });
      });

      it("counts its attempts, and keeps why the last one failed", async () => {
        await schedule({ id: "one" });
        await change("one", ["pending"], "processing");
        expect(await state.effect(id, "one")).toMatchObject({ status: "processing", attempts: 1, completed_at: null });
        await change("one", ["processing"], "failed", "No network.");
        const failed = await state.effect(id, "one");
        expect(failed).toMatchObject({ status: "failed", error: "No network.", completed_at: expect.any(Number) });
        await change("one", ["failed"], "processing");
        expect(await state.effect(id, "one")).toMatchObject({ attempts: 2, error: null, completed_at: null });
        await change("one", ["processing"], "completed");
        expect(await state.effect(id, "one")).toMatchObject({ status: "completed", error: null, attempts: 2 });
      });

      it.each(["completed", "failed", "agent_canceled", "user_canceled"] as const)(
        "that is %s has ended",
        async (to) => {
          await schedule({ id: "one" });
          await change("one", ["pending", "processing"], to);
          expect(await state.effect(id, "one")).toMatchObject({ status: to, completed_at: expect.any(Number) });
          expect(await state.dueEffect(id)).toBeUndefined();
        },
      );

      it("changes from nothing but the states that are named", async () => {
        await schedule({ id: "one" });
        await change("one", ["processing", "failed"], "completed");
        await change("another", ["pending"], "completed");
        expect(await state.effect(id, "one")).toMatchObject({ status: "pending", completed_at: null });
      });

      it("is listed, the newest first", async () => {
        for (const one of ["a", "b", "c"]) await schedule({ id: one, name: one === "b" ? "mail" : "remind" });
        await change("c", ["pending"], "agent_canceled");
        const ids = async (query: Parameters<StateStore["effects"]>[1]) =>
          (await state.effects(id, query)).map((effect) => effect.id);
        expect(await ids({})).toEqual(["c", "b", "a"]);
        expect(await ids({ limit: 2 })).toEqual(["c", "b"]);
        expect(await ids({ name: "remind" })).toEqual(["c", "a"]);
        expect(await ids({ name: "remind", status: "pending" })).toEqual(["a"]);
        expect(await state.effects("nobody", {})).toEqual([]);
      });

      it("is the next when it is due, the oldest first", async () => {
        expect(await state.dueEffect(id)).toBeUndefined();
        await schedule({ id: "later", after: MINUTE });
        expect(await state.dueEffect(id)).toBeUndefined();
        await schedule({ id: "first" });
        await schedule({ id: "second" });
        expect(await state.dueEffect(id)).toMatchObject({ id: "first" });
        await change("first", ["pending"], "completed");
        expect(await state.dueEffect(id)).toMatchObject({ id: "second" });
      });

      it("that was begun is the next before those behind it", async () => {
        await schedule({ id: "begun" });
        await schedule({ id: "waiting" });
        await change("begun", ["pending"], "processing");
        expect(await state.dueEffect(id)).toMatchObject({ id: "begun", status: "processing" });
      });

      it("is forgotten some time after it has ended, when another one ends", async () => {
        const day = 1_440 * MINUTE;
        const ended = async (parts: { id: string; to: EffectStatus; ago: number }) => {
          await schedule({ id: parts.id });
          await change(parts.id, ["pending"], parts.to);
          const sql = "update effects set completed_at = now_us() - $2 where id = $1";
          await driver.batch([{ sql, params: [parts.id, parts.ago] }]);
        };
        await schedule({ id: "waiting" });
        await schedule({ id: "last" });
        await ended({ id: "cancelled long ago", to: "user_canceled", ago: 31 * day });
        await ended({ id: "cancelled", to: "agent_canceled", ago: 29 * day });
        await ended({ id: "done", to: "completed", ago: 29 * day });
        await ended({ id: "failed", to: "failed", ago: 2 * day });
        await change("last", ["pending"], "failed");
        expect((await state.effects(id, {})).map((effect) => effect.id).toSorted()).toEqual([
          ...["cancelled", "done", "last", "waiting"],
        ]);
      });

      it("may fail with words that no database can hold", async () => {
        await schedule({ id: "one" });
        await change("one", ["pending"], "failed", "bad \0 byte");
        expect(await state.effect(id, "one")).toMatchObject({ status: "failed", error: "bad  byte" });
      });

      it("is refused by a thread that is terminated, and so is all that was to be written with it", async () => {
        const held = await heldThread(stores);
        const effect = { write: "effect", thread_id: held.id, effect: anEffect({ id: "one" }) } as const;
        await stores.threads.terminate(held.id, aStop());
        const value = { write: "value", thread_id: held.id, key: "a", value: "1" } as const;
        const late = aCommit(held, { writes: [value, effect] });
        expect(await stores.threads.commit(late)).toEqual({ outcome: "overtaken" });
        expect(await stores.writes.apply(held.id, [value, effect])).toBe("terminated");
        expect(await stores.writes.apply(id, [effect])).toBe("overtaken");
        expect(await state.effect(held.id, "one")).toBeUndefined();
        expect(await state.value(held.id, "a")).toBeUndefined();
      });
    });
  });
}
