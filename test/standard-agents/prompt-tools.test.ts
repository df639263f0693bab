// A prompt that is used as a tool: it is asked once, within the call, and what it came to is the result.
import { describe, expect, it } from "vitest";
import { calls, callsTool, says } from "../../src/models/scripted/scripted-model.ts";
import { agent } from "../../src/threads/agent.ts";
import { type PromptDefinition, prompt } from "../../src/threads/definitions/define-prompt.ts";
import { createSealing } from "../../src/threads/secrets/sealing.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase, secretKey } from "../databases.ts";
import { heldModel } from "../held.ts";
import { openMortal } from "../mortal-runtime.ts";
import { listed, stored } from "./listed.ts";
import { helperOf, openHelper, openPair } from "./open-agents.ts";
import { talker } from "./talker.ts";

const peek = tool({ name: "peek", description: "Looks.", execute: () => "seen" });
const broken = tool({
  name: "broken",
  description: "Fails.",
  execute: () => {
    throw new Error("Out of order");
  },
});
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

function inner(given: Partial<PromptDefinition>) {
  return prompt({ name: "summarize", prompt: "You sum up.", toolDescription: "Sums up.", ...given });
}

eachDatabase((newWorld) => {
  it("[PT-1, PT-6] asks the prompt once, runs what it calls, and gives both as the result", async () => {
    const within = talker(calls(says("Short."), callsTool("peek")), "Never.");
    const { model, asked } = talker(callsTool("summarize"), "Done.");
    const thread = await openHelper(await newWorld(), {
      model,
      tools: [inner({ model: within.model, tools: [peek] })],
    });

    expect(await thread.send("Go")).toMatchObject({ final_content: "Done.", stop_code: "stop_on_response" });
    expect(within.asked).toHaveLength(1);
    expect(within.asked[0]?.options.instructions).toBe("You sum up.");
    expect(Object.keys(asked[0]?.options.tools ?? {})).toEqual(["standard/summarize"]);
    const [, , result] = await stored(thread);
    expect(result).toMatchObject({ role: "tool", tool_status: "success" });
    expect(result?.content).toMatch(/^Short\.\n\n[\s\S]*peek[\s\S]*seen/);
  });

  it("[PT-2] stores what it says one level down, below the call, and shows it to nobody outside", async () => {
    const within = talker(callsTool("peek"));
    const { model, asked } = talker(callsTool("summarize"), "Done.", "Later.");
    const thread = await openHelper(await newWorld(), {
      model,
      tools: [inner({ model: within.model, tools: [peek] })],
    });

    await thread.send("Go");
    await thread.send("Again");

    expect(await listed(thread)).toEqual([
      ...["user: Go", "assistant:  [summarize]", expect.stringMatching(/^success summarize: /), "assistant: Done."],
      ...["user: Again", "assistant: Later."],
    ]);
    const deeper = (await stored(thread, { maxDepth: 5 })).filter(({ depth }) => depth > 0);
    expect(deeper.map(({ role, depth }) => [role, depth])).toEqual([
      ["assistant", 1],
      ["tool", 1],
    ]);
    const outer = (await stored(thread)).find(({ tool_calls }) => tool_calls !== null);
    expect(new Set(deeper.map(({ parent_id }) => parent_id))).toEqual(new Set([outer?.id]));
    expect(asked[2]?.messages.filter(({ type }) => type === "tool_call")).toHaveLength(1);
  });

  it("[PT-3] checks its arguments, and fills them into what it is told", async () => {
    const within = talker("Short.");
    const { model } = talker(
      callsTool("summarize"),
      callsTool("summarize", { topic: "rain", of: { days: 3 } }),
      "Done.",
    );
    const given = inner({
      model: within.model,
      prompt: ["Sum up ", { type: "variable", name: "topic" }, " of ", { type: "variable", name: "of" }],
      requiredSchema: { type: "object", properties: { topic: { type: "string" }, of: {} }, required: ["topic"] },
    });
    const thread = await openHelper(await newWorld(), { model, tools: [given] });

    await thread.send("Go");

    const [, , refused, , accepted] = await stored(thread);
    expect(refused).toMatchObject({ tool_status: "error", content: expect.stringContaining("topic") });
    expect(accepted).toMatchObject({ tool_status: "success", content: "Short." });
    expect(within.asked.map(({ options }) => options.instructions)).toEqual(['Sum up rain of {"days":3}']);
  });

  it("[PT-4] begins with the message and the files that its arguments name", async () => {
    const within = talker("Short.");
    const { model } = talker(callsTool("summarize", { what: { a: 1 }, files: ["/attachments/a.png"] }), "Done.");
    const entry = {
      prompt: inner({ model: within.model }),
      ...{ initUserMessageProperty: "what", initAttachmentsProperty: "files" },
    };
    const thread = await openHelper(await newWorld(), { model, tools: [entry] });
    await (await thread.state()).writeFile("/attachments/a.png", Buffer.from(pixel, "base64"), {
      mimeType: "image/png",
    });

    await thread.send("Go");

    expect(within.asked).toHaveLength(1);
    const [message] = within.asked[0]?.messages ?? [];
    expect(message?.role).toBe("user");
    expect(JSON.stringify(message?.content)).toContain('{\\"a\\":1}');
    expect(JSON.stringify(message?.content)).toContain(pixel);
  });

  it("[PT-4] names a file that is not there or not an attachment, and does not ask the model", async () => {
    const within = talker("Short.");
    const { model } = talker(
      callsTool("summarize", { what: "this", files: ["/attachments/none.png"] }),
      callsTool("summarize", { what: "this", files: "/notes.txt" }),
      "Done.",
    );
    const entry = {
      prompt: inner({ model: within.model }),
      ...{ initUserMessageProperty: "what", initAttachmentsProperty: "files" },
    };
    const thread = await openHelper(await newWorld(), { model, tools: [entry] });
    await (await thread.state()).writeFile("/notes.txt", "notes");

    await thread.send("Go");

    const results = (await stored(thread)).filter(({ role }) => role === "tool");
    expect(results).toMatchObject([
      { tool_status: "error", content: expect.stringContaining("/attachments/none.png") },
      { tool_status: "error", content: expect.stringContaining("/notes.txt") },
    ]);
    expect(within.asked).toEqual([]);
    expect(await stored(thread, { maxDepth: 5 })).toHaveLength(6);
  });

  it("[PT-5] fails when one of its calls fails, and tells as much as its entry wants", async () => {
    const answer = calls(says("Words."), callsTool("peek"), callsTool("broken"));
    const given = inner({ model: talker(answer).model, tools: [peek, broken] });
    const quiet = prompt({ name: "quiet", prompt: "Hush.", model: talker(answer).model, tools: [peek, broken] });
    const { model } = talker(calls(callsTool("summarize"), callsTool("quiet")), "Done.");
    const entry = { prompt: quiet, includeErrors: false, includeToolCalls: false };
    const thread = await openHelper(await newWorld(), { model, tools: [given, entry] });

    expect(await thread.send("Go")).toMatchObject({ final_content: "Done." });

    const [loud, hushed] = (await stored(thread)).filter(({ role }) => role === "tool");
    expect(loud).toMatchObject({ tool_status: "error" });
    expect(loud?.content).toMatch(/broken[\s\S]*Out of order[\s\S]*peek/);
    expect(hushed).toMatchObject({ tool_status: "error" });
    expect(hushed?.content).not.toMatch(/Out of order|peek|not found/);
    expect((await stored(thread, { maxDepth: 1 })).filter(({ depth }) => depth === 1)).toHaveLength(6);
  });

  it("[PT-6] gives a fixed text when its entry wants nothing of it", async () => {
    const entry = { prompt: inner({ model: talker("Short.").model }), includeTextResponse: false };
    const { model } = talker(callsTool("summarize"), "Done.");
    const thread = await openHelper(await newWorld(), { model, tools: [entry] });

    await thread.send("Go");

    const [, , result] = await stored(thread);
    expect(result).toMatchObject({ tool_status: "success", content: expect.stringMatching(/./) });
    expect(result?.content).not.toContain("Short");
  });

  it("[PT-7] passes the files of its answer on with the result", async () => {
    const painted = { content: "Here.", tool_calls: [], files: [{ media_type: "image/png", data: pixel }] };
    const { model } = talker(callsTool("summarize"), "Done.");
    const thread = await openHelper(await newWorld(), { model, tools: [inner({ model: talker(painted).model })] });

    await thread.send("Go");

    const [, , result] = await stored(thread);
    expect(result?.attachments).toMatchObject([{ mimeType: "image/png" }]);
    expect(await (await thread.state()).readFile(result?.attachments[0]?.path ?? "")).not.toBeNull();
  });

  it("[PT-8] carries out a handoff that is asked for within it once the step outside is over", async () => {
    const other = talker("I take over.");
    const within = talker(callsTool("expert"));
    const { model, asked } = talker(calls(callsTool("summarize"), callsTool("peek")), "Never.");
    const expert = agent({
      name: "expert",
      sideA: { prompt: prompt({ name: "expertise", prompt: "You know.", model: other.model, includeChat: true }) },
    });
    const world = await newWorld();
    const { threads } = await world.open([
      helperOf({ model, tools: [inner({ model: within.model, tools: ["expert"] }), peek] }),
      expert,
    ]);
    const thread = await threads.open("c", { agent: "helper" });

    expect(await thread.send("Go")).toMatchObject({ final_content: "I take over." });
    expect(asked).toHaveLength(1);
    expect(await thread.status()).toMatchObject({ agent: "expert", origin_agent: "helper" });
    expect((await listed(thread)).filter((line) => line.startsWith("success"))).toHaveLength(2);
  });

  it("sees the conversation if it wants to, and lets a prompt within it speak two levels down", async () => {
    const innermost = talker("Deep.");
    const within = talker(callsTool("dig"));
    const dig = prompt({ name: "dig", prompt: "You dig.", model: innermost.model });
    const { model } = talker("Hello.", callsTool("summarize"), "Done.");
    const thread = await openHelper(await newWorld(), {
      ...{ model, tools: [inner({ model: within.model, includeChat: true, tools: [dig] })] },
    });

    await thread.send("Hi");
    await thread.send("Go");

    expect(within.asked[0]?.lines).toEqual(["user: Hi", "assistant: Hello.", "user: Go"]);
    expect(innermost.asked[0]?.lines).toEqual([]);
    const depths = (await stored(thread, { maxDepth: 5 })).map(({ depth }) => depth);
    expect(Math.max(...depths)).toBe(2);
    expect((await listed(thread)).at(-2)).toMatch(/^success summarize: [\s\S]*Deep\./);
  });

  it("is a tool of side B like of side A", async () => {
    const within = talker("Short.");
    const a = talker("a1");
    const b = talker(callsTool("summarize"), "b1");
    const thread = await openPair(
      ...([await newWorld(), { model: a.model }] as const),
      { model: b.model, tools: [inner({ model: within.model })] },
      { maxSessionTurns: 1 },
    );

    await thread.send("Begin");

    expect(await listed(thread)).toEqual([
      ...["user: Begin", "assistant: a1", "user:  [summarize]", "success summarize: Short.", "user: b1"],
    ]);
    expect(b.asked[1]?.lines).toEqual([
      ...["assistant: Begin", "user: a1", "call summarize", 'result summarize: "Short."'],
    ]);
  });

  it("is an error of its call when its model fails, and the conversation goes on", async () => {
    const failing = () => {
      throw new Error("No such model");
    };
    const { model } = talker(callsTool("summarize"), "Sorry.");
    const thread = await openHelper(await newWorld(), { model, tools: [inner({ model: failing })] });

    expect(await thread.send("Go")).toMatchObject({ final_content: "Sorry." });
    expect((await stored(thread))[2]).toMatchObject({ role: "tool", tool_status: "error" });
  });

  describe("that speaks", () => {
    const schema = { type: "object", properties: { place: { type: "string" } } };
    const working = "select id, working from threads";
    const sealing = createSealing(Buffer.from(secretKey, "hex"));

    it("leaves nothing to be read of the call, its parameters or its answer where the run is kept", async () => {
      const world = await newWorld();
      const { model: within, next } = heldModel();
      const { model } = talker(
        calls(says("I look there."), callsTool("summarize", { place: "under the mat" })),
        "Done.",
      );
      const thread = await openHelper(world, { model, tools: [inner({ model: within, requiredSchema: schema })] });

      const sent = thread.send("Go");
      const asked = await next();
      const [row] = await world.sql(working);
      asked.answer("Short.");

      expect(await sent).toMatchObject({ final_content: "Done." });
      const kept = String(row?.working);
      expect(kept).not.toMatch(/under the mat|I look there|summarize|^\{/);
      // It is there, for whoever has the key.
      expect(sealing.open(kept, thread.id)).toContain("under the mat");
    });

    it("goes on with nothing that somebody else has written in that place", async () => {
      const world = await newWorld();
      const { model: within, next, count } = heldModel();
      const { model } = talker(callsTool("summarize", { place: "under the mat" }), "Done.");
      const helper = () => helperOf({ model, tools: [inner({ model: within, requiredSchema: schema })] });
      const mortal = await openMortal(world, [helper()]);
      const thread = await mortal.threads.open("c", { agent: "helper" });
      thread.send("Go").catch(() => undefined);
      await next();
      await mortal.die();
      const [row] = await world.sql(working);
      const plain = sealing.open(String(row?.working), thread.id).replaceAll("under the mat", "in the safe");
      await world.sql(
        `update threads set working = '${plain.replaceAll("'", "''")}' where id = '${thread.id}' returning 1`,
      );

      const reported = Promise.withResolvers<unknown>();
      const { close } = await world.open(helper(), { onError: reported.resolve });

      expect(await reported.promise).toMatchObject({ code: "secret_key_mismatch" });
      expect(count()).toBe(0);
      await close();
    });
  });

  describe("that is cut off", () => {
    it.each(["a", "b"])("keeps what it had said with the call of side %s when the thread is stopped", async (side) => {
      const { model: within, next } = heldModel();
      const calling = { model: talker(callsTool("summarize")).model, tools: [inner({ model: within })] };
      const other = { model: talker("Well.").model };
      const [a, b] = side === "a" ? [calling, other] : [other, calling];
      const thread = await openPair(await newWorld(), a, b);

      const sent = thread.send("Begin");
      (await next()).say("Half a sum");
      await Promise.all([thread.stop(), sent]);

      const all = await stored(thread, { maxDepth: 5 });
      const call = all.find(({ tool_calls }) => tool_calls !== null);
      expect(all.filter(({ content }) => content.includes("Half a sum"))).toMatchObject([
        { depth: 1, parent_id: call?.id, metadata: { stopped: true } },
      ]);
    });

    it("is asked again after a restart, and speaks for the same call", async () => {
      const world = await newWorld();
      const { model: within, next } = heldModel();
      const { model, asked } = talker(callsTool("summarize", { topic: "rain" }), "Done.");
      const given = inner({
        model: within,
        tools: [peek],
        prompt: ["Sum up ", { type: "variable", name: "topic" }],
        requiredSchema: { type: "object", properties: { topic: { type: "string" } } },
      });
      const helper = () => helperOf({ model, tools: [given] });
      const mortal = await openMortal(world, [helper()]);
      const thread = await mortal.threads.open("c", { agent: "helper" });
      thread.send("Go").catch(() => undefined);
      await next();
      await mortal.die();

      const { threads } = await world.open(helper());
      const again = await next();
      again.answer(calls(says("Short."), callsTool("peek")));
      const taken = await threads.get(thread.id);

      expect(await taken.wait()).toMatchObject({ final_content: "Done." });
      expect(again.options.instructions).toBe("Sum up rain");
      expect(asked).toHaveLength(2);
      expect(await listed(taken, { maxDepth: 5 })).toEqual([
        ...["user: Go", "assistant:  [summarize]", "assistant: Short. [peek]", "success peek: seen"],
        ...[expect.stringMatching(/^success summarize: Short\./), "assistant: Done."],
      ]);
    });

    it("has its one result when the thread is stopped while it speaks, and so has what it called", async () => {
      const { model: within, next } = heldModel();
      const { model, asked } = talker(calls(callsTool("summarize"), callsTool("peek")), "Later.");
      const thread = await openHelper(await newWorld(), { model, tools: [inner({ model: within }), peek] });

      const sent = thread.send("Go");
      await next();
      await thread.stop();
      await sent;

      const results = (await stored(thread)).filter(({ role }) => role === "tool");
      expect(results.map(({ name, tool_status }) => [name, tool_status])).toEqual([
        ["summarize", "error"],
        ["peek", "error"],
      ]);
      expect(await thread.send("And now?")).toMatchObject({ final_content: "Later." });
      expect(asked[1]?.messages.filter(({ type }) => type === "tool_result")).toHaveLength(2);
    });

    it("of side B keeps its call B's own when the thread is stopped", async () => {
      const { model: within, next } = heldModel();
      const a = talker("a1", "a2");
      const b = talker(callsTool("summarize"), "b1");
      const thread = await openPair(
        ...([await newWorld(), { model: a.model }] as const),
        { model: b.model, tools: [inner({ model: within })] },
        { maxSessionTurns: 2 },
      );

      const sent = thread.send("Begin");
      await next();
      await thread.stop();
      await sent;
      await thread.send("Go on");

      expect(a.asked[1]?.lines.filter((line) => /^(call|result)/.test(line))).toEqual([]);
      expect(b.asked[1]?.lines.filter((line) => /^(call|result)/.test(line))).toEqual([
        ...["call summarize", "result summarize: cancelled"],
      ]);
    });

    it("waits for somebody who has to agree to one of its calls, across a restart", async () => {
      const world = await newWorld();
      const risky = tool({ name: "risky", description: "Is risky.", actionPolicy: "preview", execute: () => "dared" });
      const within = talker(calls(callsTool("risky"), callsTool("peek")));
      const { model } = talker(calls(callsTool("summarize"), callsTool("peek")), "Done.");
      const helper = () => helperOf({ model, tools: [inner({ model: within.model, tools: [risky, peek] }), peek] });
      const first = await world.open(helper());
      const thread = await first.threads.open("c", { agent: "helper" });
      const { waiting_for } = await thread.send("Go");
      await first.close();

      const { threads, requests } = await world.open(helper());
      await requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" });

      expect(await (await threads.get(thread.id)).wait()).toMatchObject({ final_content: "Done." });
      expect(within.asked).toHaveLength(1);
      expect(await listed(await threads.get(thread.id), { maxDepth: 5 })).toEqual([
        ...["user: Go", "assistant:  [summarize] [peek]", "assistant:  [risky] [peek]"],
        ...["success risky: dared", "success peek: seen", expect.stringMatching(/^success summarize: /)],
        ...["success peek: seen", "assistant: Done."],
      ]);
    });
  });
});
