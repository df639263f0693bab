// What bounds children: budgets, limits, depth, and definitions that are refused before anything runs.
import { describe, expect, it } from "vitest";
import { callsTool, says } from "../../src/models/scripted/scripted-model.ts";
import { agent } from "../../src/threads/agent.ts";
import { prompt } from "../../src/threads/definitions/define-prompt.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase } from "../databases.ts";
import { heldModel } from "../held.ts";
import { actor, creates, finishes, history, lead, onlyChild, results, staying, worker, writesTo } from "./team.ts";

const used = (tokens: number) => ({
  usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens },
});
const spends = (tokens: number, answer = says("Go on.")) => ({ ...answer, ...used(tokens) });

eachDatabase((newWorld) => {
  it("[OBS-7] children draw on the budget of their parent, and what they cost counts as its cost", async () => {
    const world = await newWorld();
    const price = { input: 1, output: 1 };
    const boss = actor(spends(10, creates()), spends(10, says("Done.")));
    const child = actor(spends(100, finishes("Done.")));
    const holdfast = await world.open([
      lead({ model: boss.model, price }, [staying("worker")]),
      worker({ model: child.model, price }),
    ]);
    await holdfast.budgets.set("team", { tokens: 100_000 });
    const thread = await holdfast.threads.open("t", { agent: "lead", budget: "team" });
    await thread.send("Go.");
    expect((await holdfast.budgets.get("team"))?.tokens).toMatchObject({ used: 120, reserved: 0 });
    const only = await onlyChild(holdfast, thread);
    expect(await only.thread.status()).toMatchObject({ budget: "team" });
    expect(await thread.cost()).toMatchObject({
      ...{ own: { calls: 2, total_tokens: 20 }, subtree: { calls: 3, total_tokens: 120 } },
    });
    expect((await thread.cost()).subtree.usd).toBeCloseTo(0.000_12, 9);
  });

  it("a child for which the budget is not enough has failed, and its parent is told before it ends too", async () => {
    const world = await newWorld();
    const boss = actor(spends(10, creates()), "Never asked.");
    const child = actor(spends(40_000), "Never asked.");
    const holdfast = await world.open([lead(boss.model, [staying("worker")]), worker(child.model)]);
    await holdfast.budgets.set("team", { tokens: 40_000 });
    const thread = await holdfast.threads.open("t", { agent: "lead", budget: "team" });
    expect(await thread.send("Go.")).toMatchObject({ status: "budget_exceeded" });
    expect((await results(thread))[0]).toMatchObject({
      ...{ tool_status: "error", content: expect.stringContaining("budget_exceeded") },
    });
    expect((await onlyChild(holdfast, thread)).status).toBe("failed");
    expect([boss.shown.length, child.shown.length]).toEqual([1, 1]);
  });

  it.each([
    ["its own steps", { sideA: { maxSteps: 3, stopOnResponse: false } }, "max_side_steps"],
    ["the turns of a session", { maxSessionTurns: 3 }, "max_session_turns"],
    ["a limit of its agent", { limits: { steps: 3 } }, "budget_exceeded"],
  ])("[COM-8] a child that never ends is ended by %s, and its parent is told", async (_, parts, reason) => {
    const world = await newWorld();
    const child = actor("Still at it.");
    const holdfast = await world.open([
      lead(actor(creates(), "Oh.").model, [staying("worker", { blocking: true })]),
      worker(child.model, parts as Parameters<typeof worker>[1]),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    expect(await thread.send("Go.")).toMatchObject({ status: "completed", final_content: "Oh." });
    const [result] = await results(thread);
    expect(result).toMatchObject({ tool_status: "error", content: expect.stringContaining(reason) });
    expect(child.shown.length).toBeLessThanOrEqual(3);
    expect((await onlyChild(holdfast, thread)).status).toBe("failed");
  });

  it("a child whose model fails for good has failed, and can be written to again", async () => {
    const world = await newWorld();
    let isBroken = true;
    const child = actor(() => {
      if (isBroken) throw new Error("The model is away.");
      return finishes("Back again.");
    });
    const boss = actor(
      creates(),
      ({ messages }) => {
        isBroken = false;
        return writesTo(String(messages.findLast(({ type }) => type === "tool_result")?.metadata.subagent_id));
      },
      "Waiting.",
      "Thanks.",
    );
    const holdfast = await world.open([
      lead(boss.model, [staying("worker")]),
      worker(child.model, { retry: { attempts: 1 } }),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    await thread.send("Go.");
    expect((await results(thread))[0]).toMatchObject({
      ...{ tool_status: "error", content: expect.stringContaining("The model is away.") },
    });
    await (await onlyChild(holdfast, thread)).thread.wait();
    await thread.wait();
    expect((await history(thread)).some(({ content }) => content.includes("Back again."))).toBe(true);
    expect((await onlyChild(holdfast, thread)).status).toBe("idle");
  });

  it("agents that create each other are stopped at a depth, and everybody comes to an end", async () => {
    const world = await newWorld();
    const child = actor(({ lines }) =>
      lines.some((line) => line.startsWith("result subagent_create"))
        ? finishes("Done.")
        : creates({ message: "Deeper." }),
    );
    const holdfast = await world.open([
      lead(actor(creates(), "Done.").model, [staying("worker")]),
      worker(child.model, { tools: [staying("worker")] }),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    expect(await thread.send("Go.")).toMatchObject({ status: "completed" });
    const all = await holdfast.threads.list({ limit: 100 });
    expect(all).toHaveLength(17);
    const refused = [];
    for (const { id } of all) refused.push(...(await results(await holdfast.threads.get(id))));
    expect(refused.filter(({ tool_status }) => tool_status === "error")).toMatchObject([
      { name: "subagent_create", content: expect.stringContaining("17") },
    ]);
  });

  it("[COM-9] a child without tools that end its session returns what was said last", async () => {
    const world = await newWorld();
    const asks = prompt({ name: "asks", prompt: "Ask.", model: () => "What is it?", includeChat: true });
    const answers = prompt({ name: "answers", prompt: "Answer.", model: () => "It is 42.", includeChat: true });
    const pair = agent({
      ...{ name: "pair", sideA: { prompt: asks }, sideB: { prompt: answers }, maxSessionTurns: 2 },
      ...{ exposeAsTool: true, toolDescription: "Finds out." },
    });
    const holdfast = await world.open([lead(actor(callsTool("pair"), "Done.").model, ["pair"]), pair]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    await thread.send("Go.");
    const [result] = await results(thread);
    expect(result?.content).toContain("It is 42.");
  });

  it("[D3, D8] a subagent of a side is not waited for unless it says so, and goes by the name it is given", async () => {
    const world = await newWorld();
    const boss = heldModel();
    const child = heldModel();
    const hidden = { agent: "worker", as: "ghost", hidden: true } as const;
    const holdfast = await world.open([
      lead(boss.model, [], { subagents: [{ agent: "worker", as: "clerk", maxInstances: 1 }, hidden] }),
      worker(child.model),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    const sent = thread.send("Go.");
    const first = await boss.next();
    const told = JSON.stringify(first.options.tools["standard/subagent_create"]);
    expect(told).toContain("clerk");
    expect(told).not.toContain("ghost");
    first.answer(creates({ agent: "ghost" }));
    (await boss.next()).answer(creates({ agent: "clerk" }));
    const working = await child.next();
    (await boss.next()).answer(creates({ agent: "clerk", name: "Second" }));
    (await boss.next()).answer(callsTool("subagents"));
    (await boss.next()).answer("Waiting.");
    await sent;
    expect((await results(thread)).map(({ tool_status }) => tool_status)).toEqual([
      "error",
      "success",
      "error",
      "success",
    ]);
    expect(JSON.parse((await results(thread)).at(-1)?.content ?? "")).toMatchObject({
      ...{ subagents: [{ agent: "clerk", name: "First", status: "running" }] },
    });
    expect(await thread.children()).toMatchObject([{ name: "worker", relationship: "clerk", blocking: false }]);
    working.answer(finishes("Done."));
    (await boss.next()).answer("Thanks.");
    await thread.wait();
  });

  it("[COM-14] a child of side B is told to side B", async () => {
    const world = await newWorld();
    const first = actor("Your turn.", finishes("Enough."));
    const second = heldModel();
    const child = actor(finishes("From below."));
    const outer = worker(first.model, {
      ...{ name: "outer", checker: second.model, sideB: { subagents: [{ agent: "worker" }] } },
    });
    const holdfast = await world.open([outer, worker(child.model)]);
    const thread = await holdfast.threads.open("t", { agent: "outer" });
    const sent = thread.send("Go.");
    (await second.next()).answer(creates());
    const waiting = await second.next();
    await (await onlyChild(holdfast, thread)).thread.wait();
    waiting.answer(callsTool("subagents"));
    const told = await second.next();
    expect(told.shown.at(-1)).toMatch(/^user: .*From below\./s);
    expect((await history(thread)).find(({ silent }) => silent)).toMatchObject({ role: "assistant" });
    told.answer("Fine.");
    expect(await sent).toMatchObject({ status: "completed", final_content: "Your turn." });
  });

  it("[STOP-17] code may end the session without a word to the parent, unless that waits", async () => {
    const world = await newWorld();
    const leave = tool({
      name: "leave",
      description: "Leaves.",
      execute: (_input, { state }) => {
        state.stopSession({ result: "Left.", notifyParent: false });
        return "leaving";
      },
    });
    const boss = actor(({ lines }) => (lines.length === 1 ? creates() : "Done."));
    for (const blocking of [true, false]) {
      const child = actor(callsTool("leave"));
      const holdfast = await world.open([
        lead(boss.model, [staying("worker", { blocking })]),
        worker(child.model, { tools: [leave] }),
      ]);
      const thread = await holdfast.threads.open(`t ${blocking}`, { agent: "lead" });
      await thread.send("Go.");
      await (await onlyChild(holdfast, thread)).thread.wait();
      expect(await thread.wait()).toMatchObject({ run: 1 });
      const told = (await history(thread)).filter(({ content }) => content.includes("Left."));
      expect(told).toHaveLength(blocking ? 1 : 0);
      expect((await onlyChild(holdfast, thread)).status).toBe("idle");
      await holdfast.close();
    }
  });

  describe("definitions that would never come to an end, or name what is not there, are refused before anything runs", () => {
    const model = () => "x";
    const plain = worker(model);
    const immediate = (name: string) => staying(name, { immediate: true });
    const speaks = prompt({ name: "speaks", prompt: "x", model });
    const human = agent({ name: "human", sideA: { prompt: speaks } });

    it.each([
      [
        "children that create each other at once",
        [
          worker(model, { name: "a1", tools: [immediate("b1")] }),
          worker(model, { name: "b1", tools: [immediate("a1")] }),
        ],
        "a1 → b1 → a1",
      ],
      ["a prompt that is not there", [agent({ name: "lost", sideA: { prompt: "nowhere" } })], "nowhere"],
      ["a tool that is not there", [lead(model, ["no_such_tool"])], "no_such_tool"],
      ["a subagent that is not there", [lead(model, [], { subagents: [{ agent: "nobody" }] })], "nobody"],
      [
        "[SUB-5] a subagent that is not exposed",
        [lead(model, [staying("worker")]), worker(model, { exposeAsTool: false })],
        "exposeAsTool",
      ],
      ["a subagent with a person's side", [lead(model, [staying("human")]), human], "human"],
      [
        "two agents of one name",
        [plain, worker(model, { prompt: { name: "other" }, sideB: { prompt: speaks } })],
        "worker",
      ],
      [
        "two prompts of one name",
        [plain, worker(model, { name: "second", prompt: { name: "worker_does" } })],
        "worker_does",
      ],
      ["prompts that lead back to themselves", [lead(model, ["one"]), lead2("one", "two"), lead2("two", "one")], "one"],
    ] as const)("%s", async (_, given, words) => {
      const world = await newWorld();
      const agents = given.filter((each) => "sides" in each);
      const prompts = given.filter((each) => !("sides" in each));
      const opening = world.open(agents as never, { prompts: prompts as never });
      await expect(opening).rejects.toMatchObject({ detail: expect.stringContaining(words) });
    });

    function lead2(name: string, uses: string) {
      return prompt({ name, prompt: "x", model, toolDescription: "x", tools: [uses] });
    }
  });
});
