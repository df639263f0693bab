// A tool that is queued runs before the model is asked again; call and result are part of the thread like any other.
import { expect, it } from "vitest";
import { z } from "zod";
import { calls, callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";
import { heldModel, heldTool, inShort } from "./held.ts";

async function history(thread: ThreadHandle): Promise<readonly string[]> {
  return inShort((await thread.messages()).map(({ message }) => message));
}

/** A tool that says its name. */
const named = (name: string) => tool({ name, description: "Says its name.", execute: () => name });

eachDatabase((newWorld) => {
  it("runs a tool that is queued for an idle thread, and shows the model what came of it", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [named("shop/peek")] }));
    const thread = await threads.open("c", { agent: "shop" });

    await thread.queueTool("shop/peek", { shelf: 3 });
    const first = await asked();
    first.answer("I see.");

    expect(first.shown).toEqual(["call shop/peek", 'result shop/peek: "shop/peek"']);
    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "I see." });
    expect(await history(thread)).toEqual(["call shop/peek", 'result shop/peek: "shop/peek"', "assistant: I see."]);
    expect(await thread.calls()).toMatchObject([{ tool_name: "shop/peek", phase: "settled", outcome: "success" }]);
  });

  it("gives the tool the parameters it was queued with, and refuses others under the same key", async () => {
    const world = await newWorld();
    const { tool: peek, next } = heldTool({ name: "shop/peek" });
    const model = scriptedModel([says("I see.")]);
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [peek] }));
    const thread = await threads.open("c", { agent: "shop" });

    const { id } = await thread.queueTool("shop/peek", { shelf: 3 }, { key: "k" });
    expect(await thread.queueTool("shop/peek", { shelf: 3 }, { key: "k" })).toEqual({ id });
    await expect(thread.queueTool("shop/peek", { shelf: 4 }, { key: "k" })).rejects.toMatchObject({
      code: "idempotency_conflict",
    });
    const call = await next();
    expect(call.input).toEqual({ shelf: 3 });
    call.answer("seen");
    await thread.wait();

    expect(await thread.calls()).toHaveLength(1);
  });

  it("runs what a tool queues after the calls that are open, before the model is asked again", async () => {
    const world = await newWorld();
    const ran: string[] = [];
    const tools = ["shop/a", "shop/b", "shop/c"].map((name) =>
      tool({
        name,
        description: "Notes that it ran.",
        execute: (_input, context) => {
          ran.push(name);
          if (name === "shop/a") context.queueTool("shop/c", { from: "a" });
          return "ran";
        },
      }),
    );
    const model = scriptedModel([
      calls(callsTool("shop/a"), callsTool("shop/b")),
      (messages) => says(inShort(messages).join("; ")),
    ]);
    const { threads } = await world.open(agent({ slug: "shop", model, tools }));
    const thread = await threads.open("c", { agent: "shop" });

    const { final_content } = await thread.send("Go");

    expect(ran).toEqual(["shop/a", "shop/b", "shop/c"]);
    expect(final_content).toBe(
      'user: Go; call shop/a; result shop/a: "ran"; call shop/b; result shop/b: "ran"; call shop/c; result shop/c: "ran"',
    );
  });

  it("also when the tool that queues is the last one, and when it queues a message", async () => {
    const world = await newWorld();
    const first = tool({
      name: "shop/first",
      description: "Queues.",
      execute: (_input, context) => {
        context.queueMessage("A word from the tool");
        context.queueTool("shop/second", {});
        return "ran";
      },
    });
    const model = scriptedModel([callsTool("shop/first"), (messages) => says(inShort(messages).join("; "))]);
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [first, named("shop/second")] }));
    const thread = await threads.open("c", { agent: "shop" });

    const { final_content } = await thread.send("Go");
    await thread.wait();

    expect(final_content).toBe(
      'user: Go; call shop/first; result shop/first: "ran"; user: A word from the tool; call shop/second; result shop/second: "shop/second"',
    );
    expect(await thread.runs()).toHaveLength(1);
  });

  it("forgets what a tool queued that failed", async () => {
    const world = await newWorld();
    let attempts = 0;
    const failing = tool({
      name: "shop/failing",
      description: "Queues, then fails.",
      execute: (_input, context) => {
        context.queueMessage("never");
        context.queueTool("shop/peek", {});
        throw new Error("No.");
      },
    });
    const second = tool({
      name: "shop/second",
      description: "Works the second time.",
      retry: { attempts: 2, backoffMs: 1 },
      execute: (_input, context) => {
        context.queueMessage(`from attempt ${++attempts}`);
        if (attempts === 1) throw new Error("Not yet.");
      },
    });
    const wrong = tool({
      name: "shop/wrong",
      description: "Returns what it does not promise.",
      outputSchema: z.object({ count: z.number() }),
      execute: (_input, context) => {
        context.queueMessage("never");
        return "three";
      },
    });
    const model = scriptedModel([
      calls(callsTool("shop/failing"), callsTool("shop/second"), callsTool("shop/wrong")),
      says("Done."),
      says("Done."),
    ]);
    const { threads } = await world.open(
      agent({ slug: "shop", model, tools: [failing, second, wrong, named("shop/peek")] }),
    );
    const thread = await threads.open("c", { agent: "shop" });

    await thread.send("Go");
    await thread.wait();

    const lines = await history(thread);
    expect(lines).not.toContain("user: never");
    expect(lines.filter((line) => line.startsWith("user: from"))).toEqual(["user: from attempt 2"]);
    expect((await thread.calls()).map(({ tool_name }) => tool_name)).not.toContain("shop/peek");
  });

  it("keeps messages and tools in the order in which they were queued", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(
      agent({ slug: "shop", model, tools: [named("shop/a"), named("shop/b"), named("shop/c")] }),
    );
    const thread = await threads.open("c", { agent: "shop" });

    const sent = thread.send("Go");
    const first = await asked();
    await thread.queueMessage("one");
    await thread.queueTool("shop/a");
    await thread.queueTool("shop/b");
    await thread.queueMessage("two");
    await thread.queueTool("shop/c");
    first.answer("Going.");
    await sent;
    const second = await asked();
    second.answer("Gone.");
    await thread.wait();

    expect(second.shown).toEqual([
      ...["user: Go", "assistant: Going.", "user: one"],
      ...["call shop/a", 'result shop/a: "shop/a"', "call shop/b", 'result shop/b: "shop/b"'],
      ...["user: two", "call shop/c", 'result shop/c: "shop/c"'],
    ]);
    expect(await thread.runs()).toHaveLength(2);
  });

  it("tells the model when a queued tool is unknown, fails, or is called with the wrong parameters", async () => {
    const world = await newWorld();
    const strict = tool({
      name: "shop/strict",
      description: "Wants a number.",
      inputSchema: z.object({ order: z.number() }),
      execute: () => "done",
    });
    const failing = tool({
      name: "shop/failing",
      description: "Fails.",
      execute: () => {
        throw new Error("No.");
      },
    });
    const script = Array.from({ length: 3 }, () => says("I see."));
    const { threads } = await world.open(
      agent({ slug: "shop", model: scriptedModel(script), tools: [strict, failing] }),
    );
    const thread = await threads.open("c", { agent: "shop" });

    for (const name of ["shop/unknown", "shop/failing", "shop/strict"]) {
      await thread.queueTool(name, { order: "seven" });
      expect(await thread.wait()).toMatchObject({ status: "completed" });
    }

    const results = (await history(thread)).filter((line) => line.startsWith("result"));
    expect(results).toHaveLength(3);
    expect(results.every((line) => !line.includes('"done"'))).toBe(true);
    expect(results.at(-1)).toBe("result shop/strict: invalid_parameters");
  });

  it("asks a person first where the tool's policy says so", async () => {
    const world = await newWorld();
    const pay = tool({ name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });
    const { threads, requests } = await world.open(
      agent({ slug: "shop", model: scriptedModel([says("Paid.")]), tools: [pay] }),
    );
    const thread = await threads.open("c", { agent: "shop" });

    await thread.queueTool("shop/pay", { cents: 5 });
    const waiting = await thread.wait();
    expect(waiting).toMatchObject({ status: "approval_required" });
    await requests.submit(waiting?.waiting_for?.request_id ?? "", { decision: "accepted" });

    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Paid." });
    expect(await history(thread)).toContain('result shop/pay: "paid"');
  });

  it("stores no secret of a queued tool in clear, neither before it runs nor after", async () => {
    const world = await newWorld();
    const seen: unknown[] = [];
    const { tool: login, next } = heldTool({ name: "shop/login", sensitive: ["password"] });
    const outer = tool({
      name: "shop/outer",
      description: "Queues a tool with a secret.",
      execute: (_input, context) => context.queueTool("shop/login", { password: "rosebud-2" }),
    });
    const model = scriptedModel([says("In."), callsTool("shop/outer"), says("In again."), says("Out.")]);
    const holdfast = await world.open(agent({ slug: "shop", model, tools: [login, outer] }), { runs: false });
    const thread = await holdfast.threads.open("c", { agent: "shop" });

    await thread.queueTool("shop/login", { user: "kane", password: "rosebud-1" });
    expect(await world.everything()).not.toContain("rosebud");
    await holdfast.close();
    const running = await world.open(agent({ slug: "shop", model, tools: [login, outer] }));
    const same = await running.threads.get(thread.id);
    for (const sent of ["", "Log in"]) {
      const outcome = sent === "" ? same.wait() : same.send(sent);
      const call = await next();
      seen.push(call.input);
      expect(await world.everything()).not.toContain("rosebud");
      call.answer("in");
      await outcome;
    }

    expect(seen).toEqual([{ user: "kane", password: "rosebud-1" }, { password: "rosebud-2" }]);
    expect(await world.everything()).not.toContain("rosebud");
    expect(JSON.stringify(await same.export())).not.toContain("rosebud");
  });

  it("does not run a tool that was taken back", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [named("shop/peek")] }));
    const thread = await threads.open("c", { agent: "shop" });

    const sent = thread.send("Go");
    const first = await asked();
    const { id } = await thread.queueTool("shop/peek");
    expect(await thread.cancelQueued(id)).toBe(true);
    first.answer("Gone.");
    await sent;
    await thread.wait();

    expect(await thread.calls()).toEqual([]);
  });
});
