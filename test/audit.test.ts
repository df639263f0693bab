// Promise: a stranger who has an export and the public key finds every change to it, and every change that was made to the
// database past the runtime before the last checkpoint; and what was erased is gone while all that still holds.
import fc from "fast-check";
import { expect, it } from "vitest";
import { verifyAudit } from "../src/contracts/audit/verify-audit.ts";
import { says } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { playStory, SECRET } from "./audited-story.ts";
import { eachDatabase } from "./databases.ts";
import { inShort } from "./held.ts";
import { changesTo, placesIn } from "./tampering.ts";

const compaction = { max_messages: 6, recent_messages: 2 };

eachDatabase((newWorld, database) => {
  it("holds for all threads and for each of them, before and after an erasure, whatever way the export went", async () => {
    const { holdfast, shop, team, fork } = await playStory(await newWorld());
    const { audit } = holdfast;
    const whole = await audit.export();
    const verdict = verifyAudit(whole, audit.publicKey);
    // Shop, fork, team and its worker; two checkpoints in the story, and one for the export.
    expect(verdict).toMatchObject({ ok: true, threads: 4, checkpoints: 3, erased: 0 });
    expect(verdict).toMatchObject({ scope: "installation", at: expect.any(Number), last_checkpoint: 3 });
    expect(whole.tombstones).toMatchObject([{ reason: "deleted" }]);

    await shop.eraseMessages({ all: true });
    await shop.wait();
    const after = await audit.export();
    expect(verifyAudit(after, audit.publicKey)).toMatchObject({ ok: true, threads: 4, checkpoints: 4 });
    expect(verifyAudit(after, audit.publicKey)).not.toMatchObject({ erased: 0 });
    for (const { id } of [shop, team, fork]) {
      const one = await audit.export({ thread: id });
      expect(verifyAudit(one, audit.publicKey)).toMatchObject({
        ...{ ok: true, scope: "thread", threads: 1, checkpoints: 4, last_checkpoint: 4 },
      });
      expect(one.checkpoints.some(({ heads }) => heads.some(({ proof }) => (proof?.length ?? 0) > 0))).toBe(true);
    }
    for (const each of [whole, after]) {
      const moved = JSON.parse(JSON.stringify(backwards(each)));
      expect(verifyAudit(moved, audit.publicKey)).toMatchObject({ ok: true });
    }
    const pem = `-----BEGIN PUBLIC KEY-----\n${Buffer.from(audit.publicKey, "base64url").toString("base64")}\n-----END PUBLIC KEY-----\n`;
    expect(verifyAudit(whole, pem)).toMatchObject({ ok: true });
    for (const thread of ["nobody", "", "\0"]) {
      await expect(audit.export({ thread })).rejects.toMatchObject({ code: "thread_not_found" });
    }
    // A slip must not hand out more than was meant.
    for (const which of [{ thread: undefined }, { thread: null }, { thread: 1 }, { threads: "a" }, null, "a", []]) {
      const asked = audit.export(which as { thread: string });
      await expect(asked).rejects.toMatchObject({ code: "invalid_argument" });
    }
  });

  it("names what somebody changed in the database past the runtime", async () => {
    const world = await newWorld();
    const { holdfast, shop, team } = await playStory(world);
    const { audit } = holdfast;
    await audit.checkpoint();
    const kept = await world.sql(`select records, hash from events where thread_id = '${shop.id}' order by seq`);
    const last = kept.length - 1;
    const damages = [
      {
        change: `update events set run = run + 1 where thread_id = '${shop.id}' and seq = 1`,
        repair: `update events set run = run - 1 where thread_id = '${shop.id}' and seq = 1`,
        broken: { thread: shop.id, place: "event", seq: 1 },
      },
      {
        change: `update messages set envelope = replace(envelope, 'Look', 'Book') where thread_id = '${shop.id}' and seq = 0`,
        repair: `update messages set envelope = replace(envelope, 'Book', 'Look') where thread_id = '${shop.id}' and seq = 0`,
        broken: { thread: shop.id, place: "message", seq: 0 },
      },
      // Cut off so that nothing of the thread shows it: only the checkpoint does.
      {
        change: `update threads set next_seq = ${last}, last_hash = '${kept[last - 1]?.hash}' where id = '${shop.id}'`,
        repair: `update threads set next_seq = ${last + 1}, last_hash = '${kept[last]?.hash}' where id = '${shop.id}'`,
        broken: { thread: shop.id },
      },
      {
        change: `update audit_heads set seq = seq + 1 where checkpoint = 1`,
        repair: `update audit_heads set seq = seq - 1 where checkpoint = 1`,
        broken: { place: "checkpoint", seq: 1 },
      },
    ];
    for (const { change, repair, broken } of damages) {
      await world.sql(`${change} returning 1`);
      expect(verifyAudit(await audit.export(), audit.publicKey), change).toMatchObject({ ok: false, broken });
      await world.sql(`${repair} returning 1`);
    }
    await world.sql(`delete from threads where id = '${team.id}'`);
    const broken = { place: "missing_thread", thread: team.id };
    expect(verifyAudit(await audit.export(), audit.publicKey)).toMatchObject({ ok: false, broken });
  });

  it("does not take content for erased that was merely removed", async () => {
    const world = await newWorld();
    const { holdfast, shop } = await playStory(world);
    await world.sql(
      `update messages set envelope = '{}', salt = '' where thread_id = '${shop.id}' and seq = 1 returning 1`,
    );
    expect(verifyAudit(await holdfast.audit.export(), holdfast.audit.publicKey)).toMatchObject({
      ok: false,
      broken: { thread: shop.id, place: "message", seq: 1 },
    });
  });

  it("erases a message in all its versions and with all its copies, and a call with its result", async () => {
    const world = await newWorld();
    const { holdfast, shop, fork, team } = await playStory(world);
    const { threads, audit } = holdfast;
    expect(await world.everything()).toContain(SECRET);
    // The fork has a copy of its own.
    await threads.delete(fork.id);
    const rows = await shop.messages();
    const result = rows.find(({ message }) => message.type === "tool_result")?.seq ?? -1;
    await shop.eraseMessage(0, { key: "first" });
    await shop.eraseMessage(0, { key: "first" });
    await shop.eraseMessage(result);
    await shop.wait();
    const left = await shop.messages();
    expect(left.map(({ seq }) => seq)).not.toContain(0);
    const types = (of: typeof rows) => of.filter(({ message }) => message.type === "tool_call").length;
    expect(types(left)).toBe(types(rows) - 1);
    // Other messages that quote it are others.
    expect(await world.everything()).toContain(SECRET);
    await shop.eraseMessages({ all: true });
    await shop.wait();
    expect(await world.everything()).not.toContain(SECRET);
    expect(await shop.messages()).toEqual([]);
    expect(await shop.runs()).toMatchObject([{ outcome: { status: "completed", final_content: "" } }, { run: 2 }]);
    expect(verifyAudit(await audit.export(), audit.publicKey)).toMatchObject({ ok: true });
    const exported = await shop.export();
    expect(exported.events.some(({ notes }) => notes?.includes("messages_erased"))).toBe(true);
    // What is erased cannot be sent again under its key, and the thread goes on.
    expect(await shop.send("Hello")).toMatchObject({ final_content: "Shown 1: Hello" });
    expect(await team.messages()).not.toEqual([]);
    await expect(shop.eraseMessage(999)).rejects.toMatchObject({ code: "message_not_found" });
    await expect(shop.eraseMessages({ before: -1 })).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("erases what comes before a message, and waits until no run is under way", async () => {
    const world = await newWorld();
    const { shop, holdfast } = await playStory(world);
    const { waiting_for } = await shop.send("Look again");
    const rows = await shop.messages();
    const from = rows.findLast(({ message }) => message.content === "Look again")?.seq ?? -1;
    await shop.eraseMessages({ before: from });
    expect(await shop.messages()).toEqual(rows);
    await holdfast.requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" });
    await shop.wait();
    expect((await shop.messages())[0]).toMatchObject({ seq: from, message: { content: "Look again" } });
    expect(verifyAudit(await holdfast.audit.export(), holdfast.audit.publicKey)).toMatchObject({ ok: true });
  });

  it("erases the summary too that stands for what is erased", async () => {
    const world = await newWorld();
    const shown: (readonly string[])[] = [];
    const keeper = agent({
      ...{ slug: "keeper", compaction },
      model: (messages, _context, { step }) => {
        if (step === undefined) return says(`They spoke of ${SECRET}.`);
        shown.push(inShort(messages));
        return says(`Answer ${step}.`);
      },
    });
    const { threads, audit } = await world.open(keeper);
    const thread = await threads.open("c", { agent: "keeper" });
    await thread.send(`The word is ${SECRET}`);
    for (const text of ["one", "two", "three"]) await thread.send(text);
    expect(shown.at(-1)?.join()).toContain(SECRET);
    const fork = await thread.fork("before");
    await thread.eraseMessage(0);
    await thread.send("four");
    expect(shown.at(-1)?.join()).not.toContain(SECRET);
    expect(shown.at(-1)?.at(-1)).toBe("user: four");
    await fork.eraseMessage(0);
    await fork.wait();
    expect(await world.everything()).not.toContain(SECRET);
    expect(verifyAudit(await audit.export(), audit.publicKey)).toMatchObject({ ok: true });
  });

  it("forks at a step before an erasure without what was erased", async () => {
    const world = await newWorld();
    const { shop, holdfast } = await playStory(world);
    const { next_seq } = await shop.status();
    await shop.eraseMessage(0);
    await shop.wait();
    const early = await shop.fork("early", { at: next_seq - 1 });
    expect((await early.messages()).map(({ seq }) => seq)).not.toContain(0);
    expect(await early.send("Hello")).toMatchObject({ status: "completed" });
    const again = await early.fork("again");
    expect((await again.messages()).map(({ seq }) => seq)).not.toContain(0);
    expect(verifyAudit(await holdfast.audit.export(), holdfast.audit.publicKey)).toMatchObject({
      ok: true,
      threads: 6,
    });
  });

  it("makes one checkpoint of several at once, and none where nothing has changed", async () => {
    const world = await newWorld();
    const { holdfast } = await playStory(world);
    const { audit } = holdfast;
    const made = await Promise.all([1, 2, 3, 4].map(() => audit.checkpoint()));
    expect(new Set(made.map(({ statement }) => statement)).size).toBe(1);
    expect(await audit.checkpoint()).toEqual(made[0]);
    expect(await audit.checkpoints()).toHaveLength(3);
  });

  if (database === "sqlite") describeTampering(newWorld);
});

/** The same value with the keys of every map the other way round. */
function backwards(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(backwards);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, backwards(item)]),
  );
}

function describeTampering(newWorld: Parameters<Parameters<typeof eachDatabase>[0]>[0]): void {
  it("finds every value that was changed, and everything that was dropped, doubled, moved or cut off", async () => {
    const { holdfast, shop } = await playStory(await newWorld());
    const { audit } = holdfast;
    await shop.eraseMessage(0);
    await shop.wait();
    for (const exported of [await audit.export(), await audit.export({ thread: shop.id })]) {
      const places = placesIn(exported);
      const notFound = (changed: unknown) => verifyAudit(changed, audit.publicKey).ok;
      expect(notFound(exported)).toBe(true);
      // Every kind of place at least once, and then any of them.
      const kinds = Map.groupBy(places, ({ path }) =>
        path.map((step) => (typeof step === "number" ? "*" : step)).join(),
      );
      for (const [kind, [first]] of kinds) {
        for (const { change, changed } of first ? changesTo(first, 0) : []) {
          expect(notFound(changed), `${change} of ${kind}`).toBe(false);
        }
      }
      fc.assert(
        fc.property(fc.nat(places.length - 1), fc.nat(1_000_000), (index, seed) => {
          const place = places[index];
          if (!place) return;
          const changes = changesTo(place, seed);
          const { change, changed } = changes[seed % changes.length] ?? {};
          if (change !== undefined) expect(notFound(changed), `${change} of ${place.path}`).toBe(false);
        }),
        { numRuns: 400 },
      );
    }
  });

  it("never throws, whatever it is given", async () => {
    const { holdfast } = await playStory(await newWorld());
    const { publicKey } = holdfast.audit;
    const exported = await holdfast.audit.export();
    const places = placesIn(exported);
    const throwing = {
      get schema(): string {
        throw new Error("No.");
      },
    };
    const odd = [
      undefined,
      null,
      1,
      "",
      [],
      {},
      throwing,
      new Proxy(
        {},
        {
          get: () => {
            throw new Error("No.");
          },
        },
      ),
    ];
    for (const each of odd)
      expect(verifyAudit(each, publicKey)).toMatchObject({ ok: false, broken: { place: "manifest" } });
    for (const key of ["", "no key", undefined as unknown as string, "-----BEGIN PUBLIC KEY-----"]) {
      expect(verifyAudit(exported, key)).toMatchObject({ ok: false, broken: { place: "manifest" } });
    }
    fc.assert(
      fc.property(fc.nat(places.length - 1), fc.anything(), (index, anything) => {
        const place = places[index];
        if (!place) return;
        const changed = place.replaced(anything);
        const verdict = verifyAudit(changed, publicKey);
        if (verdict.ok) expect(anything).toEqual(place.value);
        else expect(verdict.broken.detail).not.toBe("");
      }),
      { numRuns: 200 },
    );
  });
}
