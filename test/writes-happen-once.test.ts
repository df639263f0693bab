// Promise: a write that comes with a key happens once, however often and from however many sides it is asked for, and
// everybody who repeats it is told what the first one came to.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDesk } from "../src/abilities/desk.ts";
import { runOnce } from "../src/abilities/once.ts";
import { operationsFor } from "../src/abilities/operation.ts";
import { holdfastError } from "../src/contracts/error.ts";
import { operationError } from "../src/contracts/operation-error.ts";
import * as principals from "../src/contracts/trust/principal.ts";
import type { Holdfast } from "../src/holdfast.ts";
import { says } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { eachDatabase } from "./databases.ts";

const talker = agent({ slug: "talker", model: () => says("Hello.") });
const ann = principals.userSession(1, "talker");
const bob = principals.userSession(2, "talker");
const trust = { administrators: [1] };

type Answer = (times: number) => unknown;

/** A desk on which one write can be asked for; how it answers is said by the test. */
function deskOn({ outcomes }: Holdfast, answer: Answer) {
  let times = 0;
  const define = operationsFor(
    async () => true,
    (write, execute) => runOnce(outcomes, write, execute),
  );
  const input = z.object({ word: z.string(), wrong: z.boolean().optional() });
  const usual = { title: "t", description: "d", input, output: z.any(), capability: "chat" } as const;
  const execute = async () => await answer(++times);
  const desk = createDesk([
    define({ ...usual, name: "test/write", effect: "write", execute }),
    define({
      ...{ ...usual, name: "test/twice", effect: "write" },
      execute: async (_input, { dispatch }) => [
        await dispatch("test/write", { word: "first" }),
        await dispatch("test/write", { word: "second" }),
      ],
    }),
    define({ ...usual, name: "test/read", effect: "read", execute }),
  ]);
  const call = (
    key: string,
    parts: { principal?: typeof ann; word?: unknown; name?: string; signal?: AbortSignal } = {},
  ) => {
    const { principal = ann, word = "hello", name = "test/write", signal } = parts;
    return desk.call(name, { word }, { principal, door: "http", key, ...(signal && { signal }) });
  };
  return { call, times: () => times };
}

eachDatabase((newWorld, database) => {
  it("executes it once for ten who ask at the same time, and tells all of them the same", async () => {
    const world = await newWorld();
    const one = await world.open(talker);
    const other = database === "postgres" ? await world.open(talker) : one;
    const desks = [one, other].map((holdfast) =>
      deskOn(holdfast, async () => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        return { id: crypto.randomUUID() };
      }),
    );
    const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => desks[index % 2]?.call("key")));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toEqual({ id: expect.any(String) });
    expect(desks.map(({ times }) => times()).toSorted()).toEqual([0, 1]);
  });

  it("tells the first outcome again after a restart, and keeps it where nobody can read it", async () => {
    const world = await newWorld();
    const first = await world.open(talker);
    const { call } = deskOn(first, () => ({ token: "hf_shown-once" }));
    expect(await call("key")).toEqual({ token: "hf_shown-once" });
    await first.close();
    const { call: repeat, times } = deskOn(await world.open(talker), () => "another");
    expect(await repeat("key")).toEqual({ token: "hf_shown-once" });
    expect(times()).toBe(0);
    expect(await world.everything()).not.toContain("hf_shown-once");
  });

  it("refuses another payload under the same key, and keeps callers, operations and keys apart", async () => {
    const world = await newWorld();
    const { call } = deskOn(await world.open(talker), (times) => times);
    expect(await call("key")).toBe(1);
    expect(await call("key", { word: "goodbye" })).toMatchObject({ code: "idempotency_conflict" });
    expect(await call("key", { principal: bob, word: "goodbye" })).toBe(2);
    expect(await call("another key", { word: "goodbye" })).toBe(3);
    expect(await call("key", { principal: principals.agentToken(1, "talker", 5) })).toBe(4);
    expect(await call("key", { principal: principals.userSession(1, "talker", { workspace_id: "7" }) })).toBe(5);
    expect(await call("key")).toBe(1);
  });

  it("takes a refusal before any effect for nothing, and every other failure for an outcome", async () => {
    const world = await newWorld();
    const { call, times } = deskOn(await world.open(talker), (number) => {
      if (number === 1) return operationError("invalid_answer", "No.");
      if (number === 2) throw holdfastError("thread_not_found", "No.");
      if (number === 3) throw new Error("Half of it was done.");
      return "done";
    });
    expect(await call("key", { word: 7 })).toMatchObject({ code: "invalid_input" });
    expect(await call("key")).toMatchObject({ code: "invalid_answer" });
    expect(await call("key")).toMatchObject({ code: "thread_not_found" });
    const failed = { code: "ability_exception", message: "Half of it was done." };
    expect(await call("key")).toEqual(failed);
    expect(await call("key")).toEqual(failed);
    expect(times()).toBe(3);
  });

  it("says that it is under way to whoever does not want to wait, and tells the outcome later", async () => {
    const world = await newWorld();
    const begun = Promise.withResolvers<void>();
    const going = Promise.withResolvers<string>();
    const { call } = deskOn(await world.open(talker), () => {
      begun.resolve();
      return going.promise;
    });
    const first = call("key");
    await begun.promise;
    const impatient = new AbortController();
    const repeat = call("key", { signal: impatient.signal });
    impatient.abort();
    expect(["idempotency_in_progress", "ability_aborted"]).toContain(((await repeat) as { code: string }).code);
    going.resolve("done");
    expect(await first).toBe("done");
    expect(await call("key")).toBe("done");
  });

  it("is taken over from a process that died, once that is certain", async () => {
    const world = await newWorld();
    const dead = await world.open(talker);
    const never = deskOn(dead, () => new Promise(() => undefined));
    void never.call("key");
    while (never.times() === 0) await new Promise(setImmediate);
    await dead.close();
    // As if a minute had passed; where nobody else can be at work, no time has to pass.
    if (database === "postgres") await world.sql("update outcomes set lease_until = 1");
    const { call } = deskOn(await world.open(talker), () => "done");
    expect(await call("key")).toBe("done");
    world.takeErrors();
  });

  it("sends a message once when the process died between the message and its outcome", async () => {
    const world = await newWorld();
    const dying = await world.open(talker, { trust, runs: false });
    // The outcome never arrives: as after a crash behind the effect.
    const { store } = dying.outcomes;
    Object.assign(store, { settle: () => new Promise(() => undefined) });
    const opened = await dying.threads.open("t", { agent: "talker" });
    const sent = { thread_id: opened.id, content: "Hi." };
    const caller = { principal: ann, door: "http", key: "mail 12" } as const;
    void dying.abilities.call("holdfast/send-message", sent, caller);
    await world.untilLeft(opened.id, 1);
    await dying.close();
    if (database === "postgres") await world.sql("update outcomes set lease_until = 1");
    const holdfast = await world.open(talker, { trust });
    const answer = await holdfast.abilities.call("holdfast/send-message", { ...sent }, caller);
    expect(answer).toMatchObject({ status: "queued" });
    expect(await holdfast.abilities.call("holdfast/send-message", sent, caller)).toEqual(answer);
    const thread = await holdfast.threads.get(opened.id);
    await thread.send("Anybody?", { key: "last" });
    const said = (await thread.messages()).map(({ message }) => message.content);
    expect(said.filter((content) => content === "Hi.")).toHaveLength(1);
    world.takeErrors();
  });

  it("forgets what is older than a day, or than it is to be kept", async () => {
    const world = await newWorld();
    const housekeeping = { everyMs: 20, retention: { outcomeMs: 1 } };
    const holdfast = await world.open(talker, { housekeeping });
    const { call, times } = deskOn(holdfast, (number) => number);
    await call("key");
    while ((await world.sql("select 1 from outcomes")).length > 0) await new Promise(setImmediate);
    expect(await call("key", { word: "goodbye" })).toBe(2);
    expect(times()).toBe(2);
  });

  it("takes what a write calls in turn for a part of it", async () => {
    const world = await newWorld();
    const { call, times } = deskOn(await world.open(talker), (number) => number);
    expect(await call("key", { name: "test/twice" })).toEqual([1, 2]);
    expect(await call("key", { name: "test/twice" })).toEqual([1, 2]);
    expect(times()).toBe(2);
  });
});

describe("a key", () => {
  eachDatabase((newWorld) => {
    it("is nothing for reads, and has to be a name of somebody's own", async () => {
      const world = await newWorld();
      const { call, times } = deskOn(await world.open(talker), () => "done");
      expect(await call("key", { name: "test/read" })).toMatchObject({ code: "invalid_input" });
      expect(await call(" ")).toMatchObject({ code: "invalid_input" });
      expect(await call("a\0b")).toMatchObject({ code: "invalid_input" });
      const visitor = principals.audience("public", "talker");
      expect(await call("key", { principal: visitor })).toMatchObject({ code: "invalid_input" });
      expect(times()).toBe(0);
      expect(await call("key", { principal: principals.system("talker") })).toBe("done");
    });
  });
});
