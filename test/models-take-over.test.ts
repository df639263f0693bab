// Promise: when a model fails, it is asked again as often as was said, then the next one takes over; who is asked next,
// and how often it was asked before, survives the process.
import { describe, expect, it, onTestFinished } from "vitest";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { createHoldfast } from "../src/holdfast.ts";
import type { Model } from "../src/models/model.ts";
import { ModelFailure } from "../src/models/model-failure.ts";
import { callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { heldClock } from "../src/testing/held-clock.ts";
import { type Agent, type AgentDefinition, agent } from "../src/threads/agent.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, type World } from "./databases.ts";
import { openMortal } from "./mortal-runtime.ts";

const busy = () => new ModelFailure("model_unavailable", "Busy.", { status: 503 });
const broken = () => new ModelFailure("model_answer_broken", "Cut off.", { hasSpoken: true });
const stalled = () => new ModelFailure("model_stalled", "Silence.");
const refused = () => new ModelFailure("model_refused", "No such model.", { status: 404 });

const used = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
const peek = tool({ name: "shop/peek", description: "Looks.", execute: () => "seen" });

/** What a model does each time it is asked: answers, or throws what is an error. The last one counts from then on. */
type Script = readonly unknown[];

/** Models a, b, c, which note when they are asked. */
function models(...scripts: Script[]) {
  const asked: string[] = [];
  const made = scripts.map((script, index) => {
    const name = "abc".charAt(index);
    let times = 0;
    const model: Model = () => {
      asked.push(name);
      const entry = script[Math.min(times++, script.length - 1)];
      if (entry instanceof Error) throw entry;
      return entry;
    };
    return model;
  });
  return { made, asked };
}

function clerk(model: readonly Model[], more: Partial<AgentDefinition> = {}): Agent {
  return agent({ slug: "clerk", model, retry: { backoffMs: 1 }, tools: [peek], ...more });
}

async function open(world: World, made: Agent): Promise<ThreadHandle> {
  const { threads } = await world.open(made);
  return await threads.open("t", { agent: "clerk" });
}

eachDatabase((newWorld) => {
  it("asks each model twice, in their order, before the run fails with what the last one said", async () => {
    const { made, asked } = models([busy()], [busy()], [broken()]);
    const thread = await open(await newWorld(), clerk(made));

    expect(await thread.send("Go.")).toMatchObject({
      status: "failed",
      failure: { code: "model_answer_broken", message: expect.stringContaining("Cut off.") },
    });

    expect(asked.join("")).toBe("aabbcc");
  });

  it.each<[string, number, AgentDefinition["retry"], string]>([
    ["five times when it is alone", 1, { backoffMs: 1 }, "aaaaa"],
    ["as often as was said when it is alone", 1, { backoffMs: 1, attempts: 2 }, "aa"],
    ["as often as was said when others take over", 2, { backoffMs: 1, attempts: 3 }, "aaabbb"],
    ["once when that was said", 2, { attempts: 1 }, "ab"],
  ])("asks a model %s", async (_title, count, retry, order) => {
    const { made, asked } = models(...Array.from({ length: count }, () => [busy()]));
    const thread = await open(await newWorld(), clerk(made, { retry: retry ?? {} }));

    expect(await thread.send("Go.")).toMatchObject({ status: "failed", failure: { code: "model_unavailable" } });

    expect(asked.join("")).toBe(order);
  });

  it("needs nobody to take over when the second attempt comes to something", async () => {
    const { made, asked } = models([busy(), says("Here I am.")], [says("Me too.")]);
    const thread = await open(await newWorld(), clerk(made));
    expect(await thread.send("Go.")).toMatchObject({ status: "completed", final_content: "Here I am." });
    expect(asked.join("")).toBe("aa");
  });

  it.each<[string, unknown]>([
    ["hung", stalled()],
    ["refused", refused()],
    ["has a bug", new TypeError("undefined is not a function")],
    ["gave an answer that cannot be used", { content: 5 }],
  ])("does not ask a model again that %s: the next one is asked at once", async (_title, failure) => {
    const { made, asked } = models([failure], [failure], [says("Here I am.")]);
    // Nobody would wait for the test to be over.
    const thread = await open(await newWorld(), clerk(made, { retry: { backoffMs: 3_600_000 } }));

    expect(await thread.send("Go.")).toMatchObject({ status: "completed", final_content: "Here I am." });

    expect(asked.join("")).toBe("abc");
  });

  it("asks a model again that hung when there is nobody else", async () => {
    const { made, asked } = models([refused()], [stalled(), says("Here I am.")]);
    const thread = await open(await newWorld(), clerk(made));
    expect(await thread.send("Go.")).toMatchObject({ status: "completed" });
    expect(asked.join("")).toBe("abb");
  });

  it("begins every step with the first model again, and every run", async () => {
    const { made, asked } = models([stalled(), says("Me again."), refused()], [callsTool("shop/peek"), says("Yes.")]);
    const thread = await open(await newWorld(), clerk(made));

    expect(await thread.send("Go.")).toMatchObject({ status: "completed", final_content: "Me again." });
    expect(asked.join("")).toBe("aba");
    expect(await thread.send("Once more.")).toMatchObject({ status: "completed", final_content: "Yes." });
    expect(asked.join("")).toBe("abaab");
  });

  it("counts what was spoken by the price of whoever spoke", async () => {
    const { made } = models([broken()], [says("Here I am.", { usage: used })]);
    const [first, second] = made as [Model, Model];
    const model = [
      { model: first, price: { input: 0, output: 100 }, maxOutputTokens: 50 },
      { model: second, price: { input: 2, output: 30 } },
    ];
    const dear = agent({ slug: "clerk", model, retry: { attempts: 1 } });
    const thread = await open(await newWorld(), dear);

    // Fifty tokens of the first, because it had begun to speak; of the second a hundred in and ten out.
    expect(await thread.send("Go.")).toMatchObject({ status: "completed", cost_usd: 0.005 + 0.000_2 + 0.000_3 });
  });

  it("has another model write the summary when the first will not, and asks the first for the answer", async () => {
    const asked: string[] = [];
    const named = (name: string, isWriter: boolean): Model => {
      return (_messages, _context, { step }) => {
        asked.push(`${name} ${step === undefined ? "summary" : "answer"}`);
        if (step === undefined && !isWriter) throw refused();
        return says(step === undefined ? "In short." : "Yes.");
      };
    };
    const compaction = { max_messages: 2, recent_messages: 1 };
    const thread = await open(await newWorld(), clerk([named("a", false), named("b", true)], { compaction }));

    await thread.send("One.");
    expect(await thread.send("Two.")).toMatchObject({ status: "completed" });

    expect(asked).toEqual(["a answer", "a summary", "b summary", "a answer"]);
  });

  it.each<[string, (point: string) => boolean, string]>([
    ["between two attempts", (point) => point.startsWith("after commit effect.postponed"), "a|ab"],
    ["before the next model is asked", (point) => point === "before effect call_model", "aab"],
    ["while the next model is asked", (point) => point === "after effect call_model", "aab|b"],
  ])("goes on with the model whose turn it is when its process dies %s", async (_title, isThere, order) => {
    const world = await newWorld();
    const { made, asked } = models([busy()], [says("Here I am.")]);
    // The third call is the one after two that failed.
    let left = order.startsWith("a|") ? 1 : 3;
    // Long enough for the thread to be laid down in between, however fast or slow the machine is.
    const patient = clerk(made, { retry: { backoffMs: 100 } });
    const doomed = await openMortal(world, [patient], (point) => isThere(point) && --left === 0);
    const { id, queueMessage } = await doomed.threads.open("t", { agent: "clerk" });
    await queueMessage("Go.");
    await doomed.died;
    if (order.includes("|")) asked.push("|");

    const { threads } = await openMortal(world, [patient]);
    expect(await (await threads.get(id)).wait()).toMatchObject({ status: "completed", final_content: "Here I am." });

    expect(asked.join("")).toBe(order);
  });

  it("stops at once when it is stopped between two attempts", async () => {
    const { made, asked } = models([busy()]);
    const thread = await open(await newWorld(), clerk(made, { retry: { backoffMs: 3_600_000, mostMs: 3_600_000 } }));

    const sent = thread.send("Go.");
    while ((await thread.status()).status !== "waiting") await new Promise(setImmediate);
    expect(await thread.stop()).toMatchObject({ status: "stopped" });

    expect(await sent).toMatchObject({ status: "interrupted" });
    expect(asked.join("")).toBe("a");
  });
});

describe("between two attempts", () => {
  it("a thread waits as long as the provider wants, by the clock", async () => {
    const clock = heldClock();
    const errors: unknown[] = [];
    const failure = new ModelFailure("model_unavailable", "Busy.", { retryAfter: 60 });
    const { made, asked } = models([failure, busy(), says("Here I am.")]);
    const { threads, close } = await createHoldfast({
      ...{ backend: sqlite(":memory:", { clock }), verifies: true, pollMs: 60_000 },
      agents: [clerk(made, { retry: { backoffMs: 10_000 } })],
      onError: (error) => errors.push(error),
    });
    onTestFinished(async () => {
      await close();
      expect(errors).toEqual([]);
    });
    const thread = await threads.open("t", { agent: "clerk" });
    await thread.queueMessage("Go.");
    const untilWaiting = async () => {
      while ((await thread.status()).status !== "waiting") await new Promise(setImmediate);
    };

    await untilWaiting();
    await clock.advance(59_999);
    await untilWaiting();
    expect(asked.join("")).toBe("a");
    await clock.advance(1);
    await untilWaiting();
    expect(asked.join("")).toBe("aa");
    // Twice as long as the first time, had the provider not said how long.
    await clock.advance(20_000);

    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Here I am." });
    expect(asked.join("")).toBe("aaa");
  });
});
