// Promise: every tool call has exactly one result, whatever becomes of it, before a model is asked again. A history is
// never one that a provider would refuse.
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Message } from "../src/contracts/conversation/message.ts";
import * as toolPairs from "../src/contracts/conversation/tool-pairs.ts";
import type { Holdfast } from "../src/holdfast.ts";
import type { Model } from "../src/models/model.ts";
import { agent } from "../src/threads/agent.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";

/** What a model may call, and what comes of it. */
const kinds = [
  "succeeds",
  "fails",
  "throws",
  "is missing",
  "is forbidden",
  "is accepted",
  "is rejected",
  "is not decided",
  "is the client's",
  "is the client's failure",
  "is nobody's",
  "queues",
] as const;
type Kind = (typeof kinds)[number];

const describes = { description: "Does what its name says." };
const tools = [
  tool({ ...describes, name: "shop/succeeds", execute: () => ({ ok: true }) }),
  tool({ ...describes, name: "shop/fails", execute: () => ({ success: false, error: "No." }) }),
  tool({ ...describes, name: "shop/throws", execute: () => Promise.reject(new Error("No.")) }),
  tool({ ...describes, name: "shop/is-forbidden", actionPolicy: "forbidden", execute: () => "never" }),
  tool({ ...describes, name: "shop/is-accepted", actionPolicy: "preview", execute: () => "accepted" }),
  tool({ ...describes, name: "shop/is-rejected", actionPolicy: "preview", execute: () => "never" }),
  tool({ ...describes, name: "shop/is-not-decided", actionPolicy: "preview", waitMs: 1, execute: () => "never" }),
  tool({ ...describes, name: "client/is-the-clients" }),
  tool({ ...describes, name: "client/is-the-clients-failure" }),
  tool({ ...describes, name: "client/is-nobodys", waitMs: 1 }),
  tool({
    ...describes,
    name: "shop/queues",
    execute: (_input, { queueTool, queueMessage }) => {
      queueTool("shop/succeeds", {});
      queueTool("shop/is-missing", {});
      queueMessage("And another thing.");
    },
  }),
];

function callOf(kind: Kind, id: string): unknown {
  const slug = kind.replaceAll("'", "").replaceAll(" ", "-");
  const isClients = kind.startsWith("is the client's") || kind === "is nobody's";
  return { id, name: `${isClients ? "client" : "shop"}/${slug}`, parameters: { number: id } };
}

/** True for a call that the model made, in contrast to one that a tool queued. */
function isOwn({ metadata }: Message): boolean {
  return String(metadata.tool_call_id).startsWith("call-");
}

type Story = {
  /** What each answer calls; after the last one the model has no more to call. */
  readonly answers: readonly (readonly Kind[])[];
  readonly budget: number | undefined;
  /** After how many commits somebody stops the thread. */
  readonly stopsAfter: number | undefined;
};

const story: fc.Arbitrary<Story> = fc.record({
  answers: fc.array(fc.array(fc.constantFrom(...kinds), { maxLength: 5 }), { minLength: 1, maxLength: 4 }),
  budget: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
  stopsAfter: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
});

/** Fails unless every call is followed by its one result, before anything else is said by anybody but the loop. */
function expectWhole(messages: readonly Message[]): void {
  expect(toolPairs.validate(messages)).toEqual([]);
  const ids = (type: string) => messages.flatMap((each) => (each.type === type ? [each.metadata.tool_call_id] : []));
  expect(ids("tool_result")).toEqual(ids("tool_call"));
  let open: unknown;
  for (const { type, role, metadata } of messages) {
    if (type === "tool_call") {
      expect(open).toBeUndefined();
      open = metadata.tool_call_id;
    } else if (type === "tool_result") {
      expect(metadata.tool_call_id).toBe(open);
      open = undefined;
    } else if (role === "user") expect(open).toBeUndefined();
  }
  expect(open).toBeUndefined();
}

/** Answers for everybody the thread waits for, until it waits for nobody any more. */
async function answerAll(holdfast: Holdfast, thread: ThreadHandle): Promise<void> {
  for (;;) {
    const outcome = await thread.wait();
    const id = outcome?.waiting_for?.request_id;
    if (id === undefined) return;
    const { tool_name, created_at, expires_at, status } = await holdfast.requests.get(id);
    const isShort = expires_at !== null && expires_at - created_at < 60_000_000;
    // Gone on since, or about to go on by itself.
    if (status !== "pending" || isShort) await sleep(1);
    else await holdfast.requests.submit(id, answers[tool_name] ?? { result: { done: true } }).catch(refusedForStop);
  }
}

const answers: Readonly<Record<string, Parameters<Holdfast["requests"]["submit"]>[1]>> = {
  "shop/is-accepted": { decision: "accepted" },
  "shop/is-rejected": { decision: "rejected" },
  "client/is-the-clients-failure": { error: "It broke." },
};

/** Somebody may stop the thread in the very moment. */
function refusedForStop(thrown: { code?: string }): void {
  if (thrown.code !== "request_cancelled") throw thrown;
}

eachDatabase((newWorld, database) => {
  it("holds for any calls, budgets and stops", async () => {
    const world = await newWorld();
    let number = 0;
    await fc.assert(
      fc.asyncProperty(story, async ({ answers: script, budget, stopsAfter }) => {
        const shown: Message[][] = [];
        const model: Model = (messages, _context, { step = 0 }) => {
          shown.push(messages);
          const calls = (script[step] ?? []).map((kind, index) => callOf(kind, `call-${step}-${index}`));
          return { content: `Answer ${step}.`, tool_calls: calls };
        };
        let commits = 0;
        const stopped: Promise<unknown>[] = [];
        const budgets = budget === undefined ? [] : [{ name: "tool_calls", ceiling: budget }];
        const holdfast = await world.open(agent({ slug: "clerk", model, tools, budgets }), {
          onPoint(point) {
            if (point.startsWith("after commit") && ++commits === stopsAfter) stopped.push(thread.stop());
          },
        });
        const thread = await holdfast.threads.open(`t${number++}`, { agent: "clerk" });

        try {
          for (const text of ["one", "two", "three"]) {
            await thread.queueMessage(text);
            await answerAll(holdfast, thread);
            await Promise.all(stopped);
            if ((await thread.status()).status !== "stopped") continue;
            await thread.continue();
            await answerAll(holdfast, thread);
          }

          for (const messages of shown) expectWhole(messages);
          const stored = await thread.messages();
          expectWhole(stored.map(({ message }) => message));
          const asked = Math.min(script.length, (await thread.status()).steps);
          const made = script.slice(0, asked).flat();
          const results = stored.filter(({ message }) => message.type === "tool_result");
          expect(results.filter(({ message }) => isOwn(message))).toHaveLength(made.length);
          const ledger = await thread.calls();
          expect(ledger.filter(({ phase }) => phase === "begun" || phase === "waiting")).toEqual([]);
        } finally {
          // Before the next one: it would take this one's threads.
          await holdfast.close();
        }
      }),
      { numRuns: database === "sqlite" ? 25 : 10 },
    );
  });

  it("holds for a thousand calls in one answer, while the state stays small", async () => {
    const world = await newWorld();
    const count = 1_000;
    const sizes: number[] = [];
    const shown: Message[][] = [];
    const model: Model = (messages, _context, { step = 0 }) => {
      shown.push(messages);
      const calls = Array.from({ length: count }, (_, index) => callOf("succeeds", `call-${index}`));
      return { content: "", tool_calls: step === 0 ? calls : [] };
    };
    let commits = 0;
    const holdfast = await world.open(agent({ slug: "clerk", model, tools }), {
      verifies: false,
      async onPoint(point) {
        if (!point.startsWith("after commit") || ++commits % 250 !== 0) return;
        const [thread] = await world.sql("select length(state) + length(working) as size from threads");
        sizes.push(Number(thread?.size));
      },
    });
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    expect(await thread.send("All of them.")).toMatchObject({ status: "completed" });

    expectWhole((await thread.messages()).map(({ message }) => message));
    expectWhole(shown[1] ?? []);
    expect((await thread.calls()).filter(({ outcome }) => outcome === "success")).toHaveLength(count);
    expect(sizes.length).toBeGreaterThan(2);
    expect(Math.max(...sizes)).toBeLessThan(4_000);
  });

  it("tells calls apart that came without an id, in every run, queue and fork", async () => {
    const world = await newWorld();
    const model: Model = (messages) => {
      const isAsked = messages.at(-1)?.content === "Go on.";
      const twice = [
        { name: "shop/succeeds", parameters: {} },
        { name: "shop/succeeds", parameters: {} },
      ];
      return { content: "", tool_calls: isAsked ? twice : [] };
    };
    const holdfast = await world.open(agent({ slug: "clerk", model, tools }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    const goOn = async (on: ThreadHandle) => {
      await on.send("Go on.");
      await on.queueTool("shop/succeeds");
      await on.wait();
    };
    await goOn(thread);
    await goOn(thread);
    const fork = await thread.fork("f");
    await goOn(fork);

    const messages = (await fork.messages()).map(({ message }) => message);
    expectWhole(messages);
    const ids = messages.flatMap(({ type, metadata }) => (type === "tool_call" ? [metadata.tool_call_id] : []));
    expect(ids).toHaveLength(9);
    expect(new Set(ids).size).toBe(9);
  });

  it("holds for calls of tools that there are not, and for calls that are odd", async () => {
    const world = await newWorld();
    const odd: unknown[] = [
      { id: "a", name: "shop/is-missing", parameters: {} },
      { id: "b", name: "shop/succeeds", parameters: "none" },
      { id: "c", name: "shop/succeeds", parameters: null },
      { id: "d", name: "shop/succeeds", parameters: [1] },
      { id: 7, name: "shop/succeeds" },
      { tool_call_id: "e", tool_name: "shop/succeeds" },
      { name: "shop/succeeds", parameters: {} },
      { id: "f", name: "__proto__", parameters: {} },
      { id: "g", name: "constructor", parameters: {} },
      { id: "same", name: "shop/succeeds", parameters: {} },
      { id: "same", name: "shop/fails", parameters: {} },
      { id: "h", name: "x".repeat(10_000), parameters: {} },
      { id: "i".repeat(10_000), name: "shop/succeeds", parameters: {} },
    ];
    const shown: Message[][] = [];
    const model: Model = (messages, _context, { step = 0 }) => {
      shown.push(messages);
      return { content: "", tool_calls: step === 0 ? odd : [] };
    };
    const holdfast = await world.open(agent({ slug: "clerk", model, tools }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    expect(await thread.send("Odd ones.")).toMatchObject({ status: "completed" });

    const stored = (await thread.messages()).map(({ message }) => message);
    expectWhole(stored);
    expectWhole(shown[1] ?? []);
    const results = stored.flatMap(({ type, payload, metadata }) =>
      type === "tool_result" ? [[metadata.tool_call_id, (payload as { success: boolean }).success]] : [],
    );
    expect(results).toHaveLength(odd.length);
    expect(Object.fromEntries(results)).toMatchObject({
      a: false,
      b: false,
      c: true,
      d: false,
      f: false,
      g: false,
      h: false,
    });
  });

  it("holds for answers with something in them that is no call: the run fails, and none of the others begins", async () => {
    const world = await newWorld();
    const begun: unknown[] = [];
    const note = tool({ ...describes, name: "shop/note", execute: (input) => begun.push(input) });
    const call = { id: "a", name: "shop/note", parameters: {} };
    const noCalls: unknown[] = [null, 5, "shop/note", [], {}, { id: "b", name: "" }, { id: "b", parameters: {} }];
    const model: Model = (messages) => {
      const [, index] = /^(\d+)$/.exec(String(messages.at(-1)?.content)) ?? [];
      return { content: "Hm.", tool_calls: index === undefined ? [] : [call, noCalls[Number(index)], call] };
    };
    const holdfast = await world.open(agent({ slug: "clerk", model, tools: [note] }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    for (const index of noCalls.keys()) expect(await thread.send(`${index}`)).toMatchObject({ status: "failed" });
    expect(await thread.send("And now?")).toMatchObject({ status: "completed", final_content: "Hm." });

    expectWhole((await thread.messages()).map(({ message }) => message));
    expect(begun).toEqual([]);
  });
});
