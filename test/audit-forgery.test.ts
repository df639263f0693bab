// Promise: who can write to the database, and has not the key, can hide or rewrite nothing that a checkpoint has covered: no
// thread disappears, no content is said to be erased, and no history takes the place of another without being found.
import fc from "fast-check";
import { expect, it } from "vitest";
import { type AuditExport, manifestText, readManifest } from "../src/contracts/audit/audit-export.ts";
import { contentHash, firstHash, type Link, nextHash } from "../src/contracts/audit/chain.ts";
import { createSigner } from "../src/contracts/audit/signer.ts";
import { verifyAudit } from "../src/contracts/audit/verify-audit.ts";
import { createSealing } from "../src/threads/secrets/sealing.ts";
import { playStory } from "./audited-story.ts";
import { eachDatabase, secretKey, type World } from "./databases.ts";
import { changesTo, type Place, placesIn } from "./tampering.ts";

/** Of one thread, with the rows that are changed in the test. */
type Row = Readonly<Record<string, unknown>>;
const text = (value: unknown) => `'${String(value).replaceAll("'", "''")}'`;
const of = (id: string) => `where thread_id = ${text(id)}`;

/** Rewrites the chain of a thread from its rows, as somebody can who has read this very code. */
async function rechain({ sql }: World, id: string): Promise<void> {
  const messages = await sql(`select * from messages ${of(id)} order by seq`);
  const hashes: string[] = [];
  for (const message of messages) {
    const { kind, supersedes, depth, parent_seq, salt, envelope } = plain(message);
    const content = { kind, supersedes, depth, parent_seq, salt, envelope } as Parameters<typeof contentHash>[0];
    const hash = salt === "" ? String(message.hash) : contentHash(content);
    hashes.push(hash);
    await sql(`update messages set hash = ${text(hash)} ${of(id)} and seq = ${message.seq} returning 1`);
  }
  let hash = firstHash(id);
  for (const event of (await sql(`select * from events ${of(id)} order by seq`)).map(plain)) {
    const own = hashes.slice(Number(event.messages_from), Number(event.messages_to));
    hash = nextHash(hash, { ...event, settled: event.settled === 1, messages: own } as unknown as Link);
    await sql(`update events set hash = ${text(hash)} ${of(id)} and seq = ${event.seq} returning 1`);
  }
  await sql(`update threads set last_hash = ${text(hash)} where id = ${text(id)} returning 1`);
}

/** Numbers as numbers, whatever the database gives them as. */
function plain(row: Row): Row {
  const read = (value: unknown) => (typeof value === "bigint" || /^-?\d+$/.test(String(value)) ? Number(value) : value);
  const texts = new Set(["envelope", "records", "notes_hash", "hash", "salt", "kind"]);
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, texts.has(name) ? value : read(value)]));
}

async function rewrite(world: World, id: string): Promise<void> {
  const change = "update messages set envelope = replace(envelope, 'Look', 'Book')";
  await world.sql(`${change} ${of(id)} and seq = 0 returning 1`);
  await rechain(world, id);
}

/** What the export of a database would be in which that was changed: the manifest is signed by who has the key. */
function exportedAnew(changed: unknown): unknown {
  const { sign } = createSigner(createSealing(Buffer.from(secretKey, "hex")).signingSeed());
  const exported = changed as AuditExport;
  const about = readManifest(exported.manifest.statement);
  if (!about) return changed;
  const { at, key, thread } = about;
  const statement = manifestText(exported, { at, key, thread });
  return { ...exported, manifest: { statement, signature: sign(statement) } };
}

eachDatabase((newWorld, database) => {
  it("finds a thread that was removed, whatever tombstone is made for it", async () => {
    const world = await newWorld();
    const { holdfast, team, shop } = await playStory(world);
    const { audit } = holdfast;
    await audit.checkpoint();
    const [head] = await world.sql(`select next_seq, last_hash from threads where id = ${text(team.id)}`);
    const [other] = await world.sql("select reason, deleted_at, signature from audit_tombstones");
    for (const table of ["messages", "events", "runs", "inbox"]) await world.sql(`delete from ${table} ${of(team.id)}`);
    await world.sql(`delete from threads where id = ${text(team.id)}`);
    const last = Number(head?.next_seq) - 1;
    // One that is all that it should be but signed, and one of nonsense.
    const forged = [
      `${text(team.id)}, ${last}, ${text(head?.last_hash)}, ${text(other?.reason)}, ${other?.deleted_at}, ${text(other?.signature)}`,
      `${text(team.id)}, -1, 'nonsense', 'retention', 1, ''`,
    ];
    for (const values of forged) {
      await world.sql(`delete from audit_tombstones ${of(team.id)}`);
      await world.sql(
        `insert into audit_tombstones (thread_id, seq, hash, reason, deleted_at, signature) values (${values})`,
      );
      const broken = { place: "missing_thread", thread: team.id };
      expect(verifyAudit(await audit.export(), audit.publicKey)).toMatchObject({ ok: false, broken });
    }
    // What is left can still be shown of each other thread.
    const one = verifyAudit(await audit.export({ thread: shop.id }), audit.publicKey);
    expect(one).toMatchObject({ ok: true, scope: "thread", last_checkpoint: 4 });
  });

  it("finds content that was removed together with a forged word of its erasure", async () => {
    const world = await newWorld();
    const { holdfast, shop } = await playStory(world);
    const { audit } = holdfast;
    await shop.eraseMessage(0);
    await shop.wait();
    await audit.checkpoint();
    const [genuine] = await world.sql(`select envelope from messages ${of(shop.id)} and envelope like '{"erased"%'`);
    const envelopes = ['{"erased":true}', '{"erased":true,"signature":""}', String(genuine?.envelope)];
    for (const envelope of envelopes) {
      const [thread] = await world.sql(`select * from threads where id = ${text(shop.id)}`);
      const { next_seq, next_message, run, steps, tail_from } = plain(thread ?? {});
      await world.sql(
        `insert into messages (thread_id, seq, run, step, kind, supersedes, envelope, salt, hash, at, depth)
          values (${text(shop.id)}, ${next_message}, ${run}, ${steps}, 'deletion', 1, ${text(envelope)}, 'salt', '', 0, 0)`,
      );
      await world.sql(
        `insert into events (thread_id, seq, run, step, records, messages_from, messages_to, tail_from, settled, at, hash)
          values (${text(shop.id)}, ${next_seq}, ${run}, ${steps}, '[]', ${next_message}, ${Number(next_message) + 1},
            ${tail_from}, 1, 0, '')`,
      );
      await world.sql(
        `update threads set next_seq = next_seq + 1, next_message = next_message + 1 where id = ${text(shop.id)} returning 1`,
      );
      await world.sql(`update messages set envelope = '{}', salt = '' ${of(shop.id)} and seq = 1 returning 1`);
      await rechain(world, shop.id);
      const broken = { place: "message", thread: shop.id, seq: 1 };
      for (const exported of [await audit.export(), await audit.export({ thread: shop.id })]) {
        expect(verifyAudit(exported, audit.publicKey), envelope).toMatchObject({ ok: false, broken });
      }
    }
  });

  it("shows one thread only where its place in every checkpoint can be shown", async () => {
    const world = await newWorld();
    const { holdfast, shop, team } = await playStory(world);
    const { audit } = holdfast;
    const before = await audit.export({ thread: shop.id });
    // Three of its checkpoints have no head of this one: what stands beside its place is shown instead.
    const early = await audit.export({ thread: team.id });
    expect(early.checkpoints[0]?.heads.map(({ thread }) => thread)).not.toContain(team.id);
    expect(verifyAudit(early, audit.publicKey)).toMatchObject({ ok: true, scope: "thread", threads: 1 });
    await rewrite(world, shop.id);
    await world.sql(`delete from audit_heads ${of(shop.id)}`);
    await world.sql(`delete from audit_latest ${of(shop.id)}`);
    await expect(audit.export({ thread: shop.id })).rejects.toMatchObject({ code: "audit_damaged" });
    // And whoever leaves the head out of an export all the same is found, too.
    for (const shown of [[], before.checkpoints[1]?.heads ?? []]) {
      const [first, ...rest] = before.checkpoints;
      const hidden = exportedAnew({ ...before, checkpoints: [{ ...first, heads: shown }, ...rest] });
      const broken = { place: "checkpoint", seq: 1, thread: shop.id };
      expect(verifyAudit(hidden, audit.publicKey)).toMatchObject({ ok: false, broken });
    }
  });

  it("finds a history that was begun anew by a checkpoint that somebody kept elsewhere", async () => {
    const world = await newWorld();
    const { holdfast, shop } = await playStory(world);
    const { audit } = holdfast;
    const [kept] = await audit.checkpoints();
    if (!kept) throw new Error("There is no checkpoint.");
    const { publicKey } = audit;
    expect(verifyAudit(await audit.export(), publicKey, { checkpoints: [kept] })).toMatchObject({ ok: true });
    await rewrite(world, shop.id);
    for (const table of ["checkpoints", "heads", "latest"]) await world.sql(`delete from audit_${table}`);
    await world.sql("delete from audit_tombstones");
    const anew = await audit.export();
    // Without anything from before there is nothing to find it by.
    expect(verifyAudit(anew, publicKey)).toMatchObject({ ok: true, last_checkpoint: 1 });
    const broken = { place: "checkpoint", seq: 1 };
    expect(verifyAudit(anew, publicKey, { checkpoints: [kept] })).toMatchObject({ ok: false, broken });
    const odd = [null, [null], [{}], "", [{ statement: kept.statement }]];
    for (const checkpoints of odd) {
      const verdict = verifyAudit(anew, publicKey, { checkpoints } as unknown as { checkpoints: [] });
      expect(verdict.ok, JSON.stringify(checkpoints)).toBe(false);
    }
  });

  if (database === "sqlite") describeChanges(newWorld);
});

function describeChanges(newWorld: () => Promise<World>): void {
  it("finds every change of what checkpoints cover in an export that was signed after it", async () => {
    const { holdfast, shop } = await playStory(await newWorld());
    const { audit } = holdfast;
    await shop.eraseMessage(0);
    await shop.wait();
    for (const exported of [await audit.export(), await audit.export({ thread: shop.id })]) {
      const places = placesIn(exported).filter(isCovered(exported));
      const isFound = (changed: unknown) => {
        try {
          return !verifyAudit(exportedAnew(changed), audit.publicKey).ok;
        } catch {
          // Nobody could have exported that.
          return true;
        }
      };
      expect(isFound(exported)).toBe(false);
      const kinds = Map.groupBy(places, ({ path }) =>
        path.map((step) => (typeof step === "number" ? "*" : step)).join(),
      );
      for (const [kind, [first]] of kinds) {
        for (const { change, changed } of first ? changesTo(first, 0) : []) {
          expect(isFound(changed), `${change} of ${kind}`).toBe(true);
        }
      }
      fc.assert(
        fc.property(fc.nat(places.length - 1), fc.nat(1_000_000), (index, seed) => {
          const place = places[index];
          const changes = place ? changesTo(place, seed) : [];
          const { change, changed } = changes[seed % Math.max(1, changes.length)] ?? {};
          if (change !== undefined) expect(isFound(changed), `${change} of ${place?.path}`).toBe(true);
        }),
        { numRuns: 150 },
      );
    }
  });
}

/**
 * Not what only the manifest covers, and no list of which the end may be missing: of checkpoints, and of what they tell, too.
 * What an erased message was for is covered together with what it said.
 */
function isCovered(exported: AuditExport): (place: Place) => boolean {
  return ({ path }) => {
    const [list, index, part, item, field] = path;
    const row = part === "messages" ? exported.threads[Number(index)]?.messages[Number(item)] : undefined;
    const isOfErased = row?.envelope === null && ["kind", "supersedes", "depth", "parent_seq"].includes(String(field));
    if (list === "threads") return (part === "head" || part === "events" || part === "messages") && !isOfErased;
    return (list === "checkpoints" && path.length > 1) || (list === "tombstones" && path.length === 3);
  };
}
