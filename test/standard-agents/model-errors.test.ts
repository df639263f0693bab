// Models that fail: who is asked instead and how often, what the logs tell of it, and that a thread comes through it.
import { expect, it } from "vitest";
import { type Model, ModelFailure } from "../../src/index.ts";
import { says } from "../../src/models/scripted/scripted-model.ts";
import { model } from "../../src/threads/definitions/model.ts";
import type { LogRow } from "../../src/threads/logs/log-row.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase, type World } from "../databases.ts";
import { heldModel } from "../held.ts";
import { listed, stored } from "./listed.ts";
import { openHelper } from "./open-agents.ts";
import { talker } from "./talker.ts";

const retry = { backoffMs: 1 };

/** A model that counts how often it was asked, and fails each time. */
function failing(failure: () => unknown) {
  const counted = { asked: 0 };
  const ask: Model = () => {
    counted.asked++;
    throw failure();
  };
  return { counted, ask };
}

const unavailable = () => new ModelFailure("model_unavailable", "Overloaded.", { status: 503 });
const stalled = () => new ModelFailure("model_stalled", "Nothing came.");

/** A thread whose model is `main`, with the others to take over in their order. */
async function openFailing(world: World, main: Model, ...others: readonly Model[]): Promise<ThreadHandle> {
  const spares = others.map((each, index) => model({ name: `spare_${index}`, model: each }));
  const first = model({ name: "main", model: main, fallbacks: spares.map(({ name }) => name) });
  return await openHelper(world, { model: "main" }, { retry, options: { models: [first, ...spares] } });
}

async function attempts(thread: ThreadHandle): Promise<readonly LogRow[]> {
  return (await thread.logs({ order: "asc" })).filter(({ kind }) => kind === null);
}

eachDatabase((newWorld) => {
  it("28 [LLM-1, LLM-4] asks the first model twice, then the next one, and the three logs lead back to each other", async () => {
    const main = failing(unavailable);
    const spare = talker("Here I am.");
    const thread = await openFailing(await newWorld(), main.ask, spare.model);

    expect(await thread.send("Hello")).toMatchObject({ status: "completed", final_content: "Here I am." });

    expect([main.counted.asked, spare.asked.length]).toEqual([2, 1]);
    const [first, second, third, ...more] = await attempts(thread);
    expect(more).toEqual([]);
    expect(first).toMatchObject({ retry_of_log_id: null, error_type: "api_error", is_complete: true });
    expect(first?.error).toContain("Overloaded.");
    expect(second).toMatchObject({ retry_of_log_id: first?.id, error_type: "api_error" });
    expect(third).toMatchObject({ retry_of_log_id: second?.id, error: null, error_type: null });
    expect([first, second, third].map((row) => row?.model)).toEqual(["main", "main", "spare_0"]);
    expect(await listed(thread)).toEqual(["user: Hello", "assistant: Here I am."]);
  });

  it("29 [LLM-2] does not ask a model again that has stalled, but the next one", async () => {
    const main = failing(stalled);
    const spare = talker("Here I am.");
    const thread = await openFailing(await newWorld(), main.ask, spare.model);

    expect(await thread.send("Hello")).toMatchObject({ final_content: "Here I am." });

    expect([main.counted.asked, spare.asked.length]).toEqual([1, 1]);
    expect(await attempts(thread)).toHaveLength(2);
  });

  it("30 [LLM-1, RUN-11] shows an answer that failed when every model does, rests, and takes the next message", async () => {
    let isUp = false;
    const answers = talker("Back again.");
    const moody: Model = (...asked) => {
      if (!isUp) throw unavailable();
      return answers.model(...asked);
    };
    const spare = failing(unavailable);
    const thread = await openFailing(await newWorld(), moody, spare.ask);

    expect(await thread.send("Hello")).toMatchObject({ status: "failed", completed: false });

    expect((await thread.status()).status).toBe("idle");
    expect(spare.counted.asked).toBe(2);
    const rows = await stored(thread);
    expect(rows.map(({ role, status }) => [role, status])).toEqual([
      ["user", null],
      ["assistant", "failed"],
    ]);
    const logs = await attempts(thread);
    expect(logs.map(({ error_type }) => error_type)).toEqual([
      ...["api_error", "api_error", "api_error", "all_retries_exhausted"],
    ]);
    isUp = true;
    expect(await thread.send("And now?")).toMatchObject({ status: "completed", final_content: "Back again." });
    // What failed is no part of what the model is shown.
    expect(answers.asked[0]?.lines).toEqual(["user: Hello", "user: And now?"]);
    expect((await attempts(thread)).at(-1)).toMatchObject({ retry_of_log_id: null, error: null });
  });

  it("[RUN-5, RUN-11] keeps the place of an answer that is pending for the one that failed", async () => {
    const world = await newWorld();
    const { model: held, next } = heldModel();
    const thread = await openHelper(world, { model: held }, { retry: { attempts: 1 } });

    const sent = thread.send("Hello");
    const asked = await next();
    const pending = (await stored(thread)).at(-1);
    expect(pending).toMatchObject({ role: "assistant", status: "pending" });
    asked.fail(new ModelFailure("model_refused", "No."));
    await sent;

    expect((await stored(thread)).at(-1)).toMatchObject({ id: pending?.id, status: "failed" });
    expect(await stored(thread)).toHaveLength(2);
  });

  it("[LLM-1] asks those that take over in their order, each twice, and does not follow their own", async () => {
    const world = await newWorld();
    const asked: string[] = [];
    const named = (name: string, fallbacks: readonly string[] = []) => {
      const ask: Model = () => {
        asked.push(name);
        if (name === "third") return says("Here.");
        throw unavailable();
      };
      return model({ name, model: ask, fallbacks });
    };
    const models = [named("first", ["second", "third"]), named("second", ["fourth"]), named("third"), named("fourth")];
    const thread = await openHelper(world, { model: "first" }, { retry, options: { models } });

    expect(await thread.send("Hello")).toMatchObject({ final_content: "Here." });

    expect(asked).toEqual(["first", "first", "second", "second", "third"]);
  });

  it("[LLM-3] asks nobody else when a user has stopped the model", async () => {
    const world = await newWorld();
    const { model: held, next } = heldModel();
    const spare = talker("Here I am.");
    const thread = await openFailing(world, held, spare.model);

    const sent = thread.send("Hello");
    const asked = await next();
    asked.options.signal?.addEventListener("abort", () => asked.fail(unavailable()));
    await thread.stop();

    expect(await sent).toMatchObject({ status: "interrupted" });
    expect(spare.asked).toEqual([]);
    expect(await attempts(thread)).toMatchObject([{ error_type: "user_interrupted", is_complete: true }]);
  });

  it("[LLM-5, DEF-6] refuses a prompt whose model nobody knows before anything is opened", async () => {
    const world = await newWorld();

    await expect(openHelper(world, { model: "nobody" })).rejects.toMatchObject({ code: "invalid_definition" });
  });

  it("[LLM-1] asks the first model first again in the next step", async () => {
    const world = await newWorld();
    let asked = 0;
    const main: Model = () => {
      if (asked++ < 2) throw unavailable();
      return says("The first one again.");
    };
    const look = tool({ name: "look", description: "Looks.", execute: () => "seen" });
    const spare = talker({ content: "", tool_calls: [{ name: "look", parameters: {} }] });
    const models = [
      model({ name: "main", model: main, fallbacks: ["spare"] }),
      model({ name: "spare", model: spare.model }),
    ];
    const thread = await openHelper(world, { model: "main", tools: [look] }, { retry, options: { models } });

    expect(await thread.send("Hello")).toMatchObject({ final_content: "The first one again." });

    expect(spare.asked).toHaveLength(1);
    expect(
      (await attempts(thread)).map(({ model: name, retry_of_log_id }) => [name, retry_of_log_id === null]),
    ).toEqual([
      ["main", true],
      ["main", false],
      ["spare", false],
      ["main", true],
    ]);
  });

  it("[LLM-6] keeps how full the context was as a value of the thread", async () => {
    const world = await newWorld();
    const usage = { prompt_tokens: 120, completion_tokens: 30, total_tokens: 150 };
    const main = model({
      name: "main",
      model: () => ({ content: "Hi.", tool_calls: [], usage }),
      capabilities: { maxContextTokens: 1000 },
    });
    const thread = await openHelper(world, { model: "main" }, { options: { models: [main] } });

    await thread.send("Hello");

    expect(await (await thread.state()).getValue("context_usage")).toEqual({
      ...{ inputTokens: 120, totalTokens: 150, maxContextTokens: 1000, model: "main" },
      at: expect.any(Number),
    });
  });
});
