// Promise: what is erased is gone with everything that a thread keeps of it, whatever became of the call, the run and the
// thread; whoever asks for it by mistake erases nothing; and exports that are made meanwhile hold.
import { expect, it } from "vitest";
import { createAudit } from "../src/audit/audit.ts";
import type { StoredEvent } from "../src/backend/thread-rows.ts";
import type { ThreadStore } from "../src/backend/thread-store.ts";
import { createSigner } from "../src/contracts/audit/signer.ts";
import { verifyAudit } from "../src/contracts/audit/verify-audit.ts";
import { stableHash } from "../src/contracts/canonical-json.ts";
import * as message from "../src/contracts/conversation/message.ts";
import type { JsonMap } from "../src/contracts/json.ts";
import * as principals from "../src/contracts/trust/principal.ts";
import type { Holdfast } from "../src/holdfast.ts";
import { unpackRecords } from "../src/loop/packed-records.ts";
import { callsTool, type ScriptedAnswer, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { createSealing } from "../src/threads/secrets/sealing.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { type ToolDefinition, tool } from "../src/threads/tool.ts";
import { eachDatabase, secretKey, type World } from "./databases.ts";
import { heldModel } from "./held.ts";

const SECRET = "swordfish";

async function opened(
  world: World,
  script: Parameters<typeof scriptedModel>[0],
  tools: readonly ToolDefinition[] = [],
) {
  const shop = agent({ slug: "shop", model: scriptedModel([...script]), tools: tools.map((each) => tool(each)) });
  const holdfast = await world.open(shop);
  return { holdfast, thread: await holdfast.threads.open("t", { agent: "shop" }) };
}

async function eraseAll(thread: ThreadHandle): Promise<void> {
  await thread.eraseMessages({ all: true });
  await thread.wait();
}

async function untilItWaitsNoMore(thread: ThreadHandle): Promise<void> {
  while ((await thread.status()).status === "waiting") await new Promise(setImmediate);
}

async function expectGone(world: World, { audit }: Holdfast): Promise<void> {
  expect(await world.everything()).not.toContain(SECRET);
  expect(verifyAudit(await audit.export(), audit.publicKey)).toMatchObject({ ok: true });
}

/** What the log says of this kind that no erasure reaches. */
function factsOf(events: readonly StoredEvent[], type: string): readonly JsonMap[] {
  const facts = events.flatMap(({ records }) => unpackRecords(records)).map(({ fact }) => fact as JsonMap);
  return facts.filter((fact) => fact.type === type);
}

const pay: ToolDefinition = { name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" };
const lost: ToolDefinition = {
  ...{ name: "shop/lose", description: "Nobody knows." },
  execute: () => ({ success: false, error: SECRET, metadata: { error_type: "outcome_unknown" } }),
};

eachDatabase((newWorld) => {
  const ways: readonly [way: string, definition: ToolDefinition, end: (given: Ending) => Promise<unknown>][] = [
    ["was rejected", pay, ({ reject }) => reject()],
    ["was cancelled by a stop", pay, ({ thread }) => thread.stop()],
    ["has expired", { ...pay, waitMs: 1 }, ({ thread }) => untilItWaitsNoMore(thread)],
    [
      "was rejected while the erasure waited",
      pay,
      ({ thread, reject }) => thread.eraseMessages({ all: true }).then(reject),
    ],
  ];
  type Ending = { readonly thread: ThreadHandle; readonly reject: () => Promise<unknown> };

  it.each(ways)("erases what was shown of a call whose approval %s", async (_way, definition, end) => {
    const world = await newWorld();
    const { holdfast, thread } = await opened(
      world,
      [callsTool("shop/pay", { word: SECRET }), says("Done.")],
      [definition],
    );
    const { waiting_for } = await thread.send("Pay.");
    const id = waiting_for?.request_id ?? "";
    await end({ thread, reject: () => holdfast.requests.submit(id, { decision: "rejected", reason: SECRET }) });
    await thread.wait();
    await eraseAll(thread);
    await expectGone(world, holdfast);
  });

  it("keeps who decided, how and under which rules, and not a word of what was decided about", async () => {
    const world = await newWorld();
    const script = [callsTool("shop/pay", { word: SECRET }), says("Done.")];
    const { holdfast, thread } = await opened(world, script, [pay]);
    const { waiting_for } = await thread.send("Pay.");
    const request_id = waiting_for?.request_id ?? "";
    const principal = principals.userSession(12, "desk");
    await holdfast.requests.submit(request_id, { decision: "accepted", reason: SECRET }, { principal });
    await thread.wait();
    await eraseAll(thread);

    const { events } = await thread.export();
    expect(events.some(({ notes }) => notes?.includes("approval_"))).toBe(false);
    expect(factsOf(events, "approval.decided")).toEqual([
      {
        ...{ type: "approval.decided", request_id, tool_name: "shop/pay", decision: "accepted" },
        ...{ resolver: "user:12", by: expect.objectContaining({ acting_user_id: 12 }) },
        policy_version: expect.stringMatching(/^policy-/),
      },
    ]);
    expect(await holdfast.approvals.get(request_id, true)).toMatchObject({ status: "accepted", resolver: "user:12" });
    await expectGone(world, holdfast);
  });

  it("keeps who erased what, and who settled a call, also when that is erased in turn", async () => {
    const world = await newWorld();
    const { holdfast, thread } = await opened(world, [callsTool("shop/lose"), says("Done.")], [lost]);
    await thread.send("Lose.");
    const [call] = await holdfast.calls.unknown();
    if (!call) throw new Error("Nothing is unknown.");
    await holdfast.calls.settle(call, { found: SECRET }, { principal: principals.userSession(12, "desk") });
    await thread.wait();
    await thread.eraseMessages({ all: true }, { principal: principals.userSession(7, "desk") });
    await thread.wait();
    await eraseAll(thread);

    const { events } = await thread.export();
    expect(factsOf(events, "operator.settled")).toMatchObject([{ run: 1, call: 0, by: { acting_user_id: 12 } }]);
    expect(factsOf(events, "messages.erased")).toMatchObject([{ messages: 4, by: { acting_user_id: 7 } }]);
    await expectGone(world, holdfast);
  });

  it("keeps what was shown of another call", async () => {
    const world = await newWorld();
    const script = [
      callsTool("shop/pay", { word: SECRET }),
      says("No."),
      callsTool("shop/pay", { word: "kept" }),
      says("No."),
    ];
    const { holdfast, thread } = await opened(world, script, [pay]);
    for (const text of ["Pay.", "Pay again."]) {
      const { waiting_for } = await thread.send(text);
      await holdfast.requests.submit(waiting_for?.request_id ?? "", { decision: "rejected" });
      await thread.wait();
    }
    const call = (await thread.messages()).find(({ message: { type } }) => type === "tool_call");
    await thread.eraseMessage(call?.seq ?? -1);
    await thread.wait();
    await expectGone(world, holdfast);
    expect((await world.tables()).get("requests")).toContain("kept");
  });

  it("lets an operator settle a call that was erased, and goes on", async () => {
    const world = await newWorld();
    const script = [callsTool("shop/lose", { word: SECRET }), says("Done."), says("Still here.")];
    const { holdfast, thread } = await opened(world, script, [lost]);
    await thread.send("Lose.");
    const [call] = await holdfast.calls.unknown();
    if (!call) throw new Error("Nothing is unknown.");
    await thread.eraseMessage(call.message_seq ?? -1);
    await thread.wait();
    await holdfast.calls.settle(call, { found: SECRET });
    await thread.wait();
    expect(await thread.calls()).toMatchObject([{ phase: "settled", outcome: "settled_by_operator" }]);
    expect((await thread.messages()).map(({ message: { type } }) => type)).toEqual(["text", "text"]);
    expect(await thread.send("Are you?")).toMatchObject({ final_content: "Still here." });
    await expectGone(world, holdfast);
    const inbox = await world.sql("select payload_hash from inbox where kind = 'settlement'");
    expect(inbox).toMatchObject([{ payload_hash: "" }]);
  });

  it("takes in a change that cannot be made, and says so", async () => {
    const world = await newWorld();
    const { holdfast, thread } = await opened(
      world,
      [callsTool("shop/lose"), says("Done."), says("Still here.")],
      [lost],
    );
    await thread.send("Lose.");
    const [call] = await holdfast.calls.unknown();
    await world.sql(`update messages set envelope = '[]' where seq = ${call?.message_seq} returning 1`);
    if (call) await holdfast.calls.settle(call, "found");
    await thread.wait();
    expect(world.takeErrors()).toHaveLength(1);
    const { events } = await thread.export();
    expect(events.some(({ notes }) => notes?.includes("change_not_made"))).toBe(true);
    expect(await thread.status()).toMatchObject({ status: "idle" });
  });

  it("erases nothing for whoever does not say what", async () => {
    const { thread } = await opened(await newWorld(), [says("Yes.")]);
    await thread.send("Keep me.");
    const slips = [
      { all: false },
      { all: 1 },
      {},
      { before: undefined },
      { before: "1" },
      { before: 1, all: true },
      null,
      1,
    ];
    for (const which of slips) {
      const asked = thread.eraseMessages(which as { all: true });
      await expect(asked, JSON.stringify(which)).rejects.toMatchObject({ code: "invalid_argument" });
    }
    for (const seq of [-1, 0.5, "0", null, undefined, Number.NaN, 2 ** 60]) {
      await expect(thread.eraseMessage(seq as number)).rejects.toMatchObject({ code: "invalid_argument" });
    }
    await thread.wait();
    expect(await thread.messages()).toHaveLength(2);
  });

  it("leaves no hash that what was erased could be guessed by", async () => {
    const world = await newWorld();
    const model = heldModel();
    const holdfast = await world.open(agent({ slug: "shop", model: model.model }));
    const thread = await holdfast.threads.open("t", { agent: "shop" });
    const sent = thread.send("My number is 4711");
    // The edit and the erasure are taken in by one commit.
    const asked = await model.next();
    await thread.editMessage(0, "My number is 0815");
    await thread.eraseMessage(0);
    asked.answer(says("Noted."));
    await sent;
    await thread.wait();
    const stored = await world.everything();
    const edited = { seq: 0, message: message.text("user", "My number is 0815") };
    for (const guess of [edited, message.text("user", "My number is 4711")]) {
      expect(stored).not.toContain(stableHash(guess));
    }
  });

  it("leaves no hash of why a run was stopped", async () => {
    const world = await newWorld();
    const model = heldModel();
    const holdfast = await world.open(agent({ slug: "shop", model: model.model }));
    const thread = await holdfast.threads.open("t", { agent: "shop" });
    const sent = thread.send("Go.");
    await model.next();
    await thread.stop({ reason: SECRET });
    await sent;
    await eraseAll(thread);
    await expectGone(world, holdfast);
    expect(await world.everything()).not.toContain(stableHash({ reason: SECRET }));
  });

  it("erases what was noted and told of a run that has failed over it", async () => {
    const world = await newWorld();
    const fails = (): ScriptedAnswer => {
      throw new Error(`The provider does not like "${SECRET}".`);
    };
    const { holdfast, thread } = await opened(world, [fails]);
    expect(await thread.send(SECRET)).toMatchObject({ status: "failed" });
    expect(await world.everything()).toContain(SECRET);
    await eraseAll(thread);
    expect(await thread.runs()).toMatchObject([{ status: "failed", outcome: { status: "failed", final_content: "" } }]);
    await expectGone(world, holdfast);
  });

  it("erases from a thread that was terminated", async () => {
    const world = await newWorld();
    const { holdfast, thread } = await opened(world, [says(SECRET)]);
    await thread.send(SECRET);
    await thread.terminate();
    await eraseAll(thread);
    expect(await thread.messages()).toEqual([]);
    expect(await thread.status()).toMatchObject({ status: "terminated" });
    await expectGone(world, holdfast);
    await expect(thread.queueMessage("More.")).rejects.toMatchObject({ code: "thread_terminated" });
    await expect(thread.deleteMessage(0)).rejects.toMatchObject({ code: "thread_terminated" });
  });

  it("edits no message that was erased or deleted, also when it is asked before that is done", async () => {
    const world = await newWorld();
    const model = heldModel();
    const holdfast = await world.open(agent({ slug: "shop", model: model.model }));
    const thread = await holdfast.threads.open("t", { agent: "shop" });
    const sent = thread.send("one");
    const asked = await model.next();
    await thread.eraseMessage(0);
    await thread.editMessage(0, "again");
    asked.answer(says("two"));
    await sent;
    await thread.wait();
    await thread.deleteMessage(1);
    await thread.wait();
    expect(await thread.messages()).toEqual([]);
    for (const seq of [0, 1]) {
      await expect(thread.editMessage(seq, "again")).rejects.toMatchObject({ code: "message_not_found" });
    }
    await thread.eraseMessage(1);
    await thread.wait();
    expect(verifyAudit(await holdfast.audit.export(), holdfast.audit.publicKey)).toMatchObject({ ok: true });
  });

  /** An audit that lets something happen between two of its reads. */
  async function auditDuring(world: World, meddle: (read: "events" | "messages") => Promise<void>) {
    const stores = await world.stores();
    const threads: Pick<ThreadStore, "events" | "messages"> = {
      async events(...asked) {
        const found = await stores.threads.events(...asked);
        await meddle("events");
        return found;
      },
      async messages(...asked) {
        const found = await stores.threads.messages(...asked);
        await meddle("messages");
        return found;
      },
    };
    const signer = createSigner(createSealing(Buffer.from(secretKey, "hex")).signingSeed());
    return createAudit({ store: stores.audit, threads, signer, now: Date.now, reached: () => undefined });
  }

  it.each(["events", "messages"] as const)(
    "exports a thread that is erased from after its %s were read",
    async (when) => {
      const world = await newWorld();
      const { holdfast, thread } = await opened(world, [says("one"), says("two")]);
      await thread.send(SECRET);
      let left = 2;
      const audit = await auditDuring(world, async (read) => {
        if (read !== when || left-- <= 0) return;
        await thread.eraseMessage(left);
        await thread.wait();
      });
      for (const which of [{}, { thread: thread.id }]) {
        left = 2;
        const exported = await audit.export(which);
        expect(verifyAudit(exported, holdfast.audit.publicKey)).toMatchObject({ ok: true, threads: 1 });
        expect(JSON.stringify(exported)).not.toContain(SECRET);
      }
    },
  );

  it.each(["events", "messages"] as const)(
    "exports without a thread that is deleted after its %s were read",
    async (when) => {
      const world = await newWorld();
      const { holdfast, thread } = await opened(world, [says("one"), says("two")]);
      await thread.send("Hello");
      const audit = await auditDuring(world, async (read) => {
        const [first] = await holdfast.threads.list();
        if (read === when && first) await holdfast.threads.delete(first.id);
      });
      const exported = await audit.export();
      expect(verifyAudit(exported, holdfast.audit.publicKey)).toMatchObject({ ok: true, threads: 0 });
      expect(exported.tombstones).toHaveLength(1);
      const other = await holdfast.threads.open("other", { agent: "shop" });
      await expect(audit.export({ thread: other.id })).rejects.toMatchObject({ code: "thread_not_found" });
    },
  );

  it("gives up an export of a thread that is erased from again and again", async () => {
    const world = await newWorld();
    const { thread } = await opened(
      world,
      Array.from({ length: 40 }, () => says("Yes.")),
    );
    let sent = 0;
    const audit = await auditDuring(world, async (read) => {
      if (read !== "messages") return;
      await thread.send(`Message ${sent++}`);
      await thread.eraseMessages({ all: true });
      await thread.wait();
    });
    await expect(audit.export({ thread: thread.id })).rejects.toMatchObject({ code: "thread_busy" });
  });
});
