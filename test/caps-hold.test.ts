// Promise: a process does no more at a time for one owner, and of one provider, than it is told; others do not wait for that.
import { expect, it } from "vitest";
import * as principals from "../src/contracts/trust/principal.ts";
import { says } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { eachDatabase, type World } from "./databases.ts";

/** A model that answers when it is told to; how many are at it, and the most that ever were. */
function aSlowModel() {
  const going: (() => void)[] = [];
  let [now, most] = [0, 0];
  const ask = async () => {
    now++;
    most = Math.max(most, now);
    await new Promise<void>((resolve) => going.push(resolve));
    now--;
    return says("Done.");
  };
  return {
    ask,
    most: () => most,
    answerOne: () => going.shift()?.(),
    async untilAsked(count: number) {
      while (going.length < count) await new Promise(setImmediate);
    },
  };
}

async function open(world: World, caps: object, model: () => unknown) {
  const named = { name: "acme/slow", model };
  return await world.open(agent({ slug: "clerk", model: named as never }), { caps });
}

const of = (user: number) => ({ agent: "clerk", principal: principals.userSession(user, "clerk") });

eachDatabase((newWorld) => {
  it("runs at most so many threads of one owner at a time, and all of them in the end", async () => {
    const world = await newWorld();
    const model = aSlowModel();
    const holdfast = await open(world, { perOwner: 2 }, model.ask);
    const many = await Promise.all([1, 2, 3, 4, 5].map((each) => holdfast.threads.open(`${each}`, of(1))));
    const answers = many.map((thread) => thread.send("Hi."));
    await model.untilAsked(2);
    const other = await holdfast.threads.open("other", of(2));
    const answered = other.send("Hi.");
    // The third place is another owner's.
    await model.untilAsked(3);
    expect(await world.sql("select id from threads where lease_by is not null")).toHaveLength(3);
    for (let left = 6; left > 0; left--) {
      await model.untilAsked(1);
      model.answerOne();
    }
    expect(await Promise.all([...answers, answered])).toHaveLength(6);
    expect(model.most()).toBe(3);
    expect(await world.sql("select id from threads where claims > 0")).toEqual([]);
  });

  it("makes at most so many calls of a provider at a time", async () => {
    const world = await newWorld();
    const model = aSlowModel();
    const holdfast = await open(world, { perProvider: { acme: 2 } }, model.ask);
    const many = await Promise.all([1, 2, 3, 4, 5].map((each) => holdfast.threads.open(`${each}`, of(each))));
    const answers = many.map((thread) => thread.send("Hi."));
    await model.untilAsked(2);
    for (let left = 5; left > 0; left--) {
      await model.untilAsked(1);
      model.answerOne();
    }
    await Promise.all(answers);
    expect(model.most()).toBe(2);
  });

  it("lets a thread be stopped that waits for a provider", async () => {
    const world = await newWorld();
    const model = aSlowModel();
    const holdfast = await open(world, { perProvider: { acme: 1 } }, model.ask);
    const [first, second] = await Promise.all(["1", "2"].map((key) => holdfast.threads.open(key, of(1))));
    const answer = first?.send("Hi.");
    await model.untilAsked(1);
    const waiting = second?.send("Hi.");
    while ((await world.sql("select id from threads where lease_by is not null and run > 0")).length < 2) {
      await new Promise(setImmediate);
    }
    expect(await second?.stop()).toMatchObject({ status: "stopped" });
    expect(await waiting).toMatchObject({ status: "interrupted" });
    model.answerOne();
    expect(await answer).toMatchObject({ completed: true });
    expect(model.most()).toBe(1);
  });

  it("refuses caps that are none", async () => {
    const world = await newWorld();
    const wrong = { code: "invalid_argument" };
    await expect(open(world, { perOwner: 0 }, says.bind(null, ""))).rejects.toMatchObject(wrong);
    await expect(open(world, { perProvider: { acme: 1.5 } }, says.bind(null, ""))).rejects.toMatchObject(wrong);
    await expect(open(world, { perProvider: 3 }, says.bind(null, ""))).rejects.toMatchObject(wrong);
  });
});
