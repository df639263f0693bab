// A database with something of everything in it, for what is done with databases as a whole; and a look at whether it is
// all still there and goes on.
import { expect } from "vitest";
import { verifyAudit } from "../src/contracts/audit/verify-audit.ts";
import * as principals from "../src/contracts/trust/principal.ts";
import type { Holdfast, HoldfastOptions } from "../src/holdfast.ts";
import { memoryScope } from "../src/memory/scope-of-layer.ts";
import { callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { effect } from "../src/threads/definitions/effect.ts";
import { tool } from "../src/threads/tool.ts";
import type { World } from "./databases.ts";
import { helperOf } from "./standard-agents/open-agents.ts";
import { actor, creates, finishes, lead, staying, worker } from "./standard-agents/team.ts";

const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);

const operator = principals.userSession(1, "shop");

/** What has happened outside of the database: each runtime on it adds to the same. */
export type Happened = { readonly payments: string[]; readonly reminders: string[] };

export type Busy = {
  readonly waiting: string;
  readonly timer: string;
  readonly stopped: string;
  readonly chat: string;
  readonly team: string;
  readonly token: string;
  readonly revoked: number;
};

/** Opens a runtime that knows everything of it. */
export async function openBusy(world: World, { payments, reminders }: Happened): Promise<Holdfast> {
  const pay = tool({
    ...{ name: "shop/pay", description: "Pays.", actionPolicy: "preview" },
    execute: (_input, { idempotencyKey }) => {
      payments.push(idempotencyKey);
      return "paid";
    },
  });
  const remind = effect({
    ...{ name: "remind", description: "Reminds." },
    handler: (_state, { of }) => void reminders.push(String(of)),
  });
  const options: Partial<HoldfastOptions> = { effects: [remind], trust: { administrators: [1] } };
  return await world.open(
    [
      agent({
        slug: "shop",
        model: (messages) =>
          messages.at(-1)?.content === "Pay." ? callsTool("shop/pay", { euros: 12 }) : says("Done."),
        tools: [pay],
      }),
      helperOf({ model: () => "Hi." }),
      lead(actor(creates(), "Done.").model, [staying("worker")]),
      worker(actor(finishes("All good.")).model),
    ],
    options,
  );
}

const notes = (filename = "") => memoryScope("user", filename, { user_id: 7 });

export async function fill(world: World, happened: Happened): Promise<Busy> {
  const holdfast = await openBusy(world, happened);
  const { threads, tokens } = holdfast;
  const waiting = await threads.open("waiting", { agent: "shop" });
  expect(await waiting.send("Pay.")).toMatchObject({ waiting_for: { kind: "approval" } });
  const timer = await threads.open("timer", { agent: "helper" });
  await (await timer.state()).scheduleEffect("remind", { of: "tea" }, 3_600_000);
  const stopped = await threads.open("stopped", { agent: "helper" });
  await stopped.send("Hi.");
  await stopped.stop();
  await stopped.queueMessage("For later.");
  const chat = await threads.open("chat", { agent: "shop", consent: { store_transcript: true } });
  await chat.send("Hello.");
  await chat.fork("fork");
  const files = await threads.open("files", { agent: "helper" });
  await (await files.state()).writeFile("/notes.bin", everyByte);
  const team = await threads.open("team", { agent: "lead" });
  await team.send("Go.");
  const gone = await threads.open("gone", { agent: "shop" });
  await gone.send("Hello.");
  await holdfast.audit.checkpoint();
  await threads.delete(gone.id);
  await holdfast.audit.checkpoint();
  for (const confidence of [1, 0.5]) {
    await holdfast.memories.write(notes(`at-${confidence}.md`), `The naïve café costs ${confidence}.`, {
      metadata: { source_type: "user_asserted", confidence },
    });
  }
  const { token } = await tokens.create({ agent: "shop", owner_user_id: 1, label: "first" });
  const { metadata } = await tokens.create({ agent: "shop", owner_user_id: 1, label: "second" });
  await tokens.revoke(metadata.token_id, "shop");
  await holdfast.grants.grant({ agent: "shop", user_id: 7, role: "operator" });
  await openByKey(holdfast);
  await holdfast.close();
  const ids = { waiting: waiting.id, timer: timer.id, stopped: stopped.id, chat: chat.id, team: team.id };
  return { ...ids, token, revoked: metadata.token_id };
}

/** A write that is the same write however often it is repeated. */
async function openByKey({ abilities }: Holdfast): Promise<unknown> {
  const caller = { principal: operator, door: "cli", key: "open once" } as const;
  return await abilities.call("holdfast/open-thread", { agent: "shop" }, caller);
}

/** Looks at everything, and lets everything go on. */
export async function expectBusy(world: World, happened: Happened, busy: Busy): Promise<Holdfast> {
  // An hour later.
  const [timer] = await world.sql(`select due_at from threads where id = '${busy.timer}'`);
  expect(timer?.due_at).not.toBeNull();
  await world.sql("update effects set scheduled_at = scheduled_at - 3600000000");
  await world.sql(`update threads set due_at = due_at - 3600000000 where id = '${busy.timer}'`);
  const holdfast = await openBusy(world, happened);
  const { threads, requests, tokens, audit } = holdfast;
  // Not how they stand: what is due has begun.
  const ids = async () => (await threads.list()).map(({ id }) => id);
  const before = await ids();
  expect(await openByKey(holdfast)).toMatchObject({ id: expect.any(String) });
  expect(await ids()).toEqual(before);
  expect(verifyAudit(await audit.export(), audit.publicKey)).toMatchObject({ ok: true, threads: 9 });
  expect(await tokens.authenticate(busy.token)).toMatchObject({ acting_user_id: 1 });
  const { metadata } = await tokens.create({ agent: "shop", owner_user_id: 1, label: "third" });
  expect(metadata.token_id).toBeGreaterThan(busy.revoked);
  expect(await holdfast.sessions.get(busy.chat)).toMatchObject({ messages: [{ content: "Hello." }, {}] });
  const found = await holdfast.memories.search(notes(), "NAÏVE caf");
  expect(found.map(({ filename }) => filename).toSorted()).toEqual(["at-0.5.md", "at-1.md"]);
  const files = await threads.open("files", { agent: "helper" });
  expect(await (await files.state()).readFile("/notes.bin")).toEqual(everyByte);
  const [child] = await (await (await threads.get(busy.team)).state()).children();
  expect(child).toBeDefined();

  expect(happened.payments).toEqual([]);
  const waiting = await threads.get(busy.waiting);
  const [request] = await requests.list({ status: "pending" });
  await requests.submit(request?.id ?? "", { decision: "accepted" });
  expect(await waiting.wait()).toMatchObject({ status: "completed", final_content: "Done." });
  expect(happened.payments).toHaveLength(1);
  expect(await (await threads.get(busy.stopped)).continue()).toMatchObject({ status: "completed" });
  await (await threads.get(busy.chat)).send("And again?");
  while (happened.reminders.length === 0) await new Promise(setImmediate);
  expect(happened.reminders).toEqual(["tea"]);
  expect(verifyAudit(await audit.export(), audit.publicKey)).toMatchObject({ ok: true });
  return holdfast;
}
