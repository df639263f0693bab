// What tools, programs and endpoints are given of a thread: what they write is stored with what they came to, or not at all.
import { expect, it } from "vitest";
import type { Json } from "../../src/contracts/json.ts";
import { callsTool, says, scriptedModel } from "../../src/models/scripted/scripted-model.ts";
import { effect } from "../../src/threads/definitions/effect.ts";
import { endpoint } from "../../src/threads/definitions/endpoint.ts";
import { model as named } from "../../src/threads/definitions/model.ts";
import type { ThreadState } from "../../src/threads/state/thread-state.ts";
import { type ToolDefinition, tool } from "../../src/threads/tool.ts";
import { eachDatabase } from "../databases.ts";
import { committed } from "../following.ts";
import { openMortal } from "../mortal-runtime.ts";
import { listed, stored } from "./listed.ts";
import { helperOf, openHelper } from "./open-agents.ts";
import { talker } from "./talker.ts";

const code = (expected: string) => expect.objectContaining({ code: expected });
const calling = (...names: readonly string[]) => ({
  content: "",
  tool_calls: names.map((name) => ({ name, parameters: {} })),
});

/** A tool that does something with the thread. */
function acting(name: string, act: (state: ThreadState) => unknown, more: Partial<ToolDefinition> = {}) {
  return tool({ name, description: "Acts.", execute: (_input, { state }) => act(state), ...more });
}

/** Writes a little of everything. */
async function writeAll(state: ThreadState): Promise<void> {
  await state.setValue("mood", "fine");
  await state.setUserValue("color", "blue");
  await state.writeFile("/notes.txt", "written");
  await state.setEnv("TOKEN", "sesame");
  await state.queueMessage("queued");
  await state.injectMessage({ content: "injected" });
  await state.queueTool("look");
  state.emit("written", { all: true });
}

/** What of that is there. */
async function written(state: ThreadState) {
  return {
    mood: await state.getValue("mood"),
    color: await state.getUserValue("color"),
    file: (await state.readFile("/notes.txt"))?.length,
    token: await state.env("TOKEN").catch(({ code: thrown }) => thrown),
    messages: (await state.getMessages()).messages
      .filter(({ content }) => /ed$/.test(content))
      .map(({ content }) => content),
  };
}

const nothing = { mood: undefined, color: undefined, file: undefined, token: "variable_missing", messages: [] };
const everything = { mood: "fine", color: "blue", file: 7, token: "sesame", messages: ["queued", "injected"] };

const look = tool({ name: "look", description: "Looks.", execute: () => "seen" });

eachDatabase((newWorld) => {
  it("lets a tool read what it has written, and stores it with its result", async () => {
    const world = await newWorld();
    const seen: unknown[] = [];
    const within = acting("within", async (state) => {
      await writeAll(state);
      seen.push(await written(state));
    });
    const { model, asked } = talker(calling("within"), "Done.");
    const { threads } = await world.open(helperOf({ model, tools: [within, look] }));
    const thread = await threads.open("c", { agent: "helper", user: "u" });

    await thread.send("Go");

    expect(seen).toEqual([everything]);
    expect(await written(await thread.state())).toEqual(everything);
    expect(asked[1]?.lines).toEqual([
      ...["user: Go", "call within", 'result within: "The tool succeeded."', "user: queued", "user: injected"],
      ...["call look", 'result look: "seen"'],
    ]);
  });

  it("leaves nothing of what a tool wrote that failed", async () => {
    const world = await newWorld();
    const fails = acting("fails", async (state) => {
      await writeAll(state);
      throw new Error("No.");
    });
    const { model, asked } = talker(calling("fails"), "Done.");
    const { threads } = await world.open(helperOf({ model, tools: [fails, look] }));
    const thread = await threads.open("c", { agent: "helper", user: "u" });

    await thread.send("Go");

    expect(await written(await thread.state())).toEqual(nothing);
    expect(asked).toHaveLength(2);
    expect(eventsIn(await committed(thread))).toEqual([]);
    expect(await world.everything()).not.toContain("injected");
  });

  for (const point of ["after effect run_tool", "before commit", "after commit"]) {
    it(`writes what an idempotent tool writes once when the process dies ${point} of it`, async () => {
      const world = await newWorld();
      let ran = 0;
      let isAlive = true;
      const counts = acting(
        "counts",
        async (state) => {
          ran++;
          await state.setValue("count", (((await state.getValue("count")) as number | undefined) ?? 0) + 1);
          await state.queueMessage("queued");
          state.emit("counted");
        },
        { idempotent: true },
      );
      const model = scriptedModel([callsTool("counts"), says("Done.")]);
      const helper = helperOf({ model, tools: [counts] });
      const first = await openMortal(world, [helper], (reached) => {
        const isIt = isAlive && ran === 1 && reached.startsWith(point);
        if (isIt) isAlive = false;
        return isIt;
      });
      await (await first.threads.open("c", { agent: "helper" })).queueMessage("Go");
      await first.died;

      const thread = await openHelper(world, { model, tools: [counts] });

      expect(await thread.wait()).toMatchObject({ status: "completed" });
      expect(ran).toBe(point === "after commit" ? 1 : 2);
      expect(await (await thread.state()).getValue("count")).toBe(1);
      expect((await listed(thread)).filter((line) => line === "user: queued")).toHaveLength(1);
      expect(eventsIn(await committed(thread)).filter(({ event }) => event === "counted")).toHaveLength(1);
    });
  }

  it("[TS-6] keeps values as JSON over a restart, deletes them, and refuses what is none", async () => {
    const world = await newWorld();
    const { model } = talker("Hi.");
    const first = await world.open(helperOf({ model }));
    const thread = await first.threads.open("c", { agent: "helper" });
    const state = await thread.state();
    await state.setValue("deep", { list: [1, null, "ü"] });
    await state.setValue("gone", 1);
    await state.setValue("gone", null);
    await expect(state.setValue("", 1)).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(state.setValue("odd", (() => 1) as unknown as Json)).rejects.toEqual(code("not_json"));
    await expect(state.setValue("odd", Number.NaN)).rejects.toEqual(code("not_json"));
    await first.close();

    const again = await (await openHelper(world, { model })).state();

    expect([await again.getValue("deep"), await again.getValue("gone"), await again.getValue("odd")]).toEqual([
      ...[{ list: [1, null, "ü"] }, undefined, undefined],
    ]);
  });

  it("shares values of a user between the user's threads, and with nobody else", async () => {
    const world = await newWorld();
    const remembers = acting("remembers", (state) => state.setUserValue("color", "blue"));
    const { model } = talker(calling("remembers"), "Done.");
    const { threads } = await world.open(helperOf({ model, tools: [remembers] }));
    const open = async (key: string, user?: string) =>
      await threads.open(key, { agent: "helper", ...(user && { user }) });
    const one = await open("one", "ann");
    await one.send("Remember");
    const [two, other, nobodys] = [await open("two", "ann"), await open("three", "bob"), await open("four")];

    const colors = [];
    for (const each of [two, other, nobodys]) colors.push(await (await each.state()).getUserValue("color"));

    expect(colors).toEqual(["blue", undefined, undefined]);
    expect(await (await two.state()).listUserValues()).toEqual({ color: "blue" });
    await expect((await nobodys.state()).setUserValue("color", "red")).rejects.toEqual(code("invalid_argument"));
  });

  it("opens a thread that is a user's for nobody else", async () => {
    const world = await newWorld();
    const { threads } = await world.open(helperOf({ model: talker("Hi.").model }));
    const mine = await threads.open("c", { agent: "helper", user: "ann" });
    await threads.open("of nobody", { agent: "helper" });

    await expect(threads.open("c", { agent: "helper", user: "bob" })).rejects.toEqual(code("thread_key_taken"));
    await expect(threads.open("of nobody", { agent: "helper", user: "bob" })).rejects.toEqual(code("thread_key_taken"));

    expect((await threads.open("c", { agent: "helper", user: "ann" })).id).toBe(mine.id);
    expect((await threads.open("c", { agent: "helper" })).id).toBe(mine.id);
    expect(await threads.list()).toHaveLength(2);
  });

  it("[TS-1, TS-2, TS-3] pages through messages, the newest unless asked otherwise, without silent ones", async () => {
    const world = await newWorld();
    const thread = await openHelper(world, { model: talker("Hi.").model });
    const state = await thread.state();
    for (const content of ["1", "2", "3"]) await state.injectMessage({ content });
    await state.injectMessage({ content: "hidden", silent: true });
    await state.injectMessage({ role: "assistant", content: "4" });
    expect([await thread.wait(), (await thread.status()).run]).toEqual([undefined, 0]);
    const contents = async (query: Parameters<ThreadState["getMessages"]>[0]) => {
      const { messages, total, hasMore } = await state.getMessages(query);
      return [messages.map(({ content }) => content).join(""), total, hasMore];
    };

    expect(await contents({})).toEqual(["1234", 4, false]);
    expect(await contents({ limit: 2 })).toEqual(["34", 4, true]);
    expect(await contents({ limit: 2, offset: 1 })).toEqual(["23", 4, true]);
    expect(await contents({ limit: 2, order: "asc" })).toEqual(["12", 4, true]);
    expect(await contents({ limit: 2, order: "desc" })).toEqual(["43", 4, true]);
    expect(await contents({ includeSilent: true })).toEqual(["123hidden4", 5, false]);
  });

  it("[TS-3] puts what a tool injects behind its result, and starts nothing with it", async () => {
    const world = await newWorld();
    const injects = acting("injects", async (state) => {
      await state.injectMessage({ role: "system", content: "Mind the gap." });
    });
    const { model, asked } = talker(calling("injects", "look"), "Done.");
    const thread = await openHelper(world, { model, tools: [injects, look] });

    expect(await thread.send("Go")).toMatchObject({ run: 1 });
    await thread.wait();

    expect(asked[1]?.lines.filter((line) => line === "system: Mind the gap.")).toHaveLength(1);
    expect(asked[1]?.lines.indexOf('result look: "seen"')).toBe(4);
    expect(await thread.runs()).toHaveLength(1);
  });

  it("[D12, TS-7] changes and deletes messages, those with calls along with their results and files", async () => {
    const world = await newWorld();
    const paints = acting("paints", () => ({
      status: "success",
      result: "painted",
      attachments: [{ name: "a.txt", mimeType: "text/plain", data: "YQ==" }],
    }));
    const { model, asked } = talker(calling("paints"), "Done.", "Again.");
    const thread = await openHelper(world, { model, tools: [paints] });
    await thread.send("Go");
    const state = await thread.state();
    const [question, call] = await stored(thread);
    expect(await state.getFileStats()).toMatchObject({ files: 1 });

    expect(await state.updateMessage(question?.id ?? "", { content: "Went" })).toBe(true);
    expect(await state.deleteMessage(call?.id ?? "")).toBe(true);
    expect([await state.deleteMessage("nowhere"), await state.updateMessage("nowhere", {})]).toEqual([false, false]);

    expect(await listed(thread)).toEqual(["user: Went", "assistant: Done."]);
    expect(await state.getFileStats()).toMatchObject({ files: 0 });
    await thread.send("And?");
    expect(asked[2]?.lines).toEqual(["user: Went", "assistant: Done.", "user: And?"]);
  });

  it("[TS-4, TS-5] knows no parent of a root, and no child that is another's", async () => {
    const world = await newWorld();
    const { threads } = await world.open(helperOf({ model: talker("Hi.").model }));
    const state = await (await threads.open("c", { agent: "helper" })).state();
    const other = await threads.open("other", { agent: "helper" });

    expect([await state.getParentThread(), await state.getChildThread(other.id)]).toEqual([null, null]);
    expect(await state.getChildThread("nowhere")).toBeNull();
  });

  it("[TS-8, TS-9, TS-10] keeps files of a thread to itself, moves directories whole, and searches what is text", async () => {
    const world = await newWorld();
    const { threads } = await world.open(helperOf({ model: talker("Hi.").model }));
    const state = await (await threads.open("c", { agent: "helper" })).state();
    const other = await (await threads.open("other", { agent: "helper" })).state();
    await state.writeFile("/a/one.txt", "needle in hay\nhay");
    await state.writeFile("/a/b/../two.bin", Uint8Array.from([0, 255, 110]), { mimeType: "application/octet-stream" });

    expect((await state.findFiles("/a/**")).map(({ path }) => path).toSorted()).toEqual(["/a/one.txt", "/a/two.bin"]);
    await expect(state.writeFile("/../out.txt", "x")).rejects.toEqual(code("invalid_file_path"));
    expect(await other.readFile("/a/one.txt")).toBeNull();
    expect((await state.grepFiles("needle")).map(({ path }) => path)).toEqual(["/a/one.txt"]);
    await expect(state.moveFile("/a", "/a/b")).rejects.toMatchObject({ code: expect.any(String) });
    await state.moveFile("/a", "/z");
    expect([await state.statFile("/a/one.txt"), (await state.statFile("/z/one.txt"))?.path]).toEqual([
      null,
      "/z/one.txt",
    ]);
    await expect(state.rmdirFile("/z")).rejects.toMatchObject({ code: expect.any(String) });
  });

  it("[TS-11, TOOL-11] ends the run after a tool that says stop, and gives the calls behind it results", async () => {
    const world = await newWorld();
    const stops = acting("stops", (state) => state.execution?.stop());
    const { model, asked } = talker(calling("stops", "look"), "Going on.");
    const thread = await openHelper(world, { model, tools: [stops, look] });

    await thread.send("Go");

    expect(asked).toHaveLength(1);
    const results = (await stored(thread)).filter(({ role }) => role === "tool");
    expect(results.map(({ name, tool_status }) => [name, tool_status])).toEqual([
      ["stops", "success"],
      ["look", "error"],
    ]);
    // Code has ended the run, nobody has stopped the thread.
    expect((await thread.status()).status).toBe("idle");
    expect(await thread.send("And?")).toMatchObject({ final_content: "Going on." });
  });

  it("shows a tool the run that it is part of, and nobody else one", async () => {
    const world = await newWorld();
    const seen: unknown[] = [];
    const looks = acting("looks", ({ execution, threadId, agentId, terminated, context }) => {
      context.set("times", Number(context.get("times") ?? 0) + 1);
      const { flowId, currentSide, stepCount, sideAStepCount, promptPath, stopped } = execution ?? {};
      seen.push({ flowId, currentSide, stepCount, sideAStepCount, promptPath, stopped, times: context.get("times") });
      seen.push({ threadId, agentId, terminated });
    });
    const { model } = talker(calling("looks"), calling("looks"), "Done.");
    const thread = await openHelper(world, { model, tools: [looks] });

    await thread.send("Go");

    const about = { threadId: thread.id, agentId: "helper", terminated: null };
    const run = { flowId: `${thread.id}:1`, currentSide: "a", promptPath: ["speaker"], stopped: false };
    expect(seen).toEqual([
      { ...run, stepCount: 1, sideAStepCount: 1, times: 1 },
      about,
      { ...run, stepCount: 2, sideAStepCount: 2, times: 2 },
      about,
    ]);
    expect((await thread.state()).execution).toBeNull();
  });

  it("[TOOL-10, DEF-14] runs a tool for another one at once, keeps both to what the first may use, and stores one result", async () => {
    const world = await newWorld();
    const seen: unknown[] = [];
    const keeps = acting("keeps", (state) => state.setValue("kept", true));
    const outer = acting(
      "outer",
      async (state) => {
        seen.push(await state.invokeTool("look"), await state.invokeTool("keeps"));
        seen.push(await state.invokeTool("other"));
        await state.queueTool("other").catch(({ code: thrown }) => seen.push(thrown));
        await state.queueTool("look");
        return "done";
      },
      { uses: ["look", "keeps"] },
    );
    const other = tool({ name: "other", description: "Is not used.", execute: () => seen.push("ran") });
    const { model } = talker(calling("outer"), "Done.");
    const thread = await openHelper(world, { model, tools: [outer, look, keeps, other] });

    await thread.send("Go");

    expect(seen).toEqual([
      { status: "success", result: "seen" },
      { status: "success", result: null },
      { status: "error", error: expect.stringContaining("may not use") },
      "tool_not_allowed",
    ]);
    expect(await (await thread.state()).getValue("kept")).toBe(true);
    expect((await stored(thread)).filter(({ role }) => role === "tool").map(({ name }) => name)).toEqual([
      ...["outer", "look"],
    ]);
  });

  it("[TS-13] runs a tool for the program outside of a run, and a silent message tells that it ran", async () => {
    const world = await newWorld();
    const { model, asked } = talker("Hi.");
    const keeps = tool({
      name: "keeps",
      description: "Keeps.",
      async execute({ what }: { what?: string }, { state }) {
        await state.setValue("kept", what ?? null);
        return `kept ${what}`;
      },
    });
    const thread = await openHelper(world, { model, tools: [keeps] });
    const state = await thread.state();

    expect(await state.invokeTool("keeps", { what: "it" })).toEqual({ status: "success", result: "kept it" });

    expect(await state.getValue("kept")).toBe("it");
    expect(await thread.wait()).toBeUndefined();
    expect([asked.length, await listed(thread)]).toEqual([0, []]);
    expect(await stored(thread, { includeSilent: true })).toMatchObject([
      { role: "system", silent: true, metadata: { status_kind: "runtime_tool_invocation" } },
    ]);
  });

  it("[TS-13, EFF-4] runs a tool for an effect, under the same key when the effect is begun again", async () => {
    const world = await newWorld();
    const keys: string[] = [];
    const keeps = tool({
      name: "keeps",
      description: "Keeps.",
      async execute(_input, { state, idempotencyKey }) {
        keys.push(idempotencyKey);
        await state.setValue("kept", keys.length);
        return "kept";
      },
    });
    const outcomes: unknown[] = [];
    const invoking = (then: () => unknown) =>
      effect({
        name: "invoke",
        description: "Runs a tool, twice.",
        async handler(state) {
          outcomes.push(await state.invokeTool("keeps"), await state.invokeTool("keeps"));
          await then();
        },
      });
    const entered = Promise.withResolvers<void>();
    const hangs = invoking(() => {
      entered.resolve();
      return new Promise(() => undefined);
    });
    const { model, asked } = talker("Hi.");
    const helper = () => helperOf({ model, tools: [keeps] });
    const first = await world.open(helper(), { effects: [hangs], drainMs: 1 });
    const opened = await first.threads.open("c", { agent: "helper" });
    await (await opened.state()).scheduleEffect("invoke");
    await entered.promise;
    await first.close();

    const { threads } = await world.open(helper(), { effects: [invoking(() => undefined)] });
    const thread = await threads.get(opened.id);
    while ((await thread.effects.list({ status: "completed" })).length === 0) await new Promise(setImmediate);
    await thread.wait();

    expect(outcomes).toEqual(Array.from({ length: 4 }, () => ({ status: "success", result: "kept" })));
    expect(keys.slice(2)).toEqual(keys.slice(0, 2));
    expect(new Set(keys).size).toBe(2);
    expect(await (await thread.state()).getValue("kept")).toBe(4);
    const row = { role: "system", silent: true, metadata: { status_kind: "runtime_tool_invocation" } };
    expect([asked.length, await stored(thread, { includeSilent: true })]).toMatchObject([0, [row, row]]);
  });

  it("[TOOL-10] gives a tool that another one runs the same key in every attempt at the call", async () => {
    const world = await newWorld();
    const keys: string[] = [];
    const inner = tool({
      name: "inner",
      description: "Is run.",
      execute: (_input, { idempotencyKey }) => void keys.push(idempotencyKey),
    });
    const outer = acting(
      "outer",
      async (state) => {
        await state.invokeTool("inner");
        await state.invokeTool("inner");
        if (keys.length === 2) throw new Error("Once more.");
        return "done";
      },
      { retry: { attempts: 2, backoffMs: 1 } },
    );
    const { model } = talker(calling("outer"), calling("outer"), "Done.");
    const thread = await openHelper(world, { model, tools: [outer, inner] });

    await thread.send("Go");

    const [first, second, ...rest] = keys;
    expect(rest.slice(0, 2)).toEqual([first, second]);
    expect([keys.length, new Set(keys).size]).toEqual([6, 4]);
  });

  it("tells whoever follows the thread what a tool emits, with the commit of its result", async () => {
    const world = await newWorld();
    const emits = acting("emits", (state) => {
      state.emit("progress", { percent: 50 });
      state.emit("progress", { percent: 100 });
    });
    const { model } = talker(calling("emits"), "Done.");
    const thread = await openHelper(world, { model, tools: [emits] });

    await thread.send("Go");

    expect(eventsIn(await committed(thread))).toEqual([
      { event: "progress", data: { percent: 50 } },
      { event: "progress", data: { percent: 100 } },
    ]);
  });

  it("[OBS-1, OBS-6] logs every model call and tool with model, prompt, tokens, cost and times", async () => {
    const world = await newWorld();
    const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100, cached_tokens: 400 };
    const { model } = talker({ ...calling("look"), usage }, { content: "Done.", tool_calls: [], usage });
    const main = named({ name: "main", model, inputPrice: 10, outputPrice: 20, cachedPrice: 1 });
    const thread = await openHelper(world, { model: "main", tools: [look] }, { options: { models: [main] } });

    await thread.send("Go");

    // 600 at 10, 400 at 1 and 100 at 20, for a million each.
    const cost = (600 * 10 + 400 * 1 + 100 * 20) / 1_000_000;
    const asked = {
      ...{ kind: null, model: "main", prompt_name: "speaker", side: "a", input_tokens: 1_000, output_tokens: 100 },
      ...{ cached_tokens: 400, total_tokens: 1_100, cost_total: cost, is_complete: true, error: null },
    };
    const logs = await thread.logs({ order: "asc" });
    expect(logs).toMatchObject([
      { ...asked, tools_called: ["standard/look"] },
      { kind: "tool_execution", tools_called: ["standard/look"], parent_log_id: logs[0]?.id, is_complete: true },
      asked,
    ]);
    for (const { created_at, latency_ms } of logs) {
      expect(created_at).toBeGreaterThan(0);
      expect(latency_ms).toBeGreaterThanOrEqual(0);
    }
    expect(await (await thread.state()).getLogs({ limit: 1 })).toEqual(logs.slice(-1));
    expect(await thread.cost()).toMatchObject({
      own: { calls: 2, usd: 2 * cost, models: { main: { calls: 2, input_tokens: 2_000 } } },
      subtree: { usd: 2 * cost },
    });
  });

  it("[EP-1, EP-4, EP-5, EP-6] answers endpoints of a thread at rest and at work, with its state", async () => {
    const world = await newWorld();
    const { model } = talker("Hi.");
    const endpoints = [
      endpoint({
        path: "notes/[name]",
        method: "POST",
        async handler(request, state, { name = "" }) {
          await state.setValue(name, (await request.json()) as Json);
          await state.queueMessage(`There is a note: ${name}`);
          state.emit("noted", { name });
          return Response.json({ execution: state.execution, by: state.threadId });
        },
      }),
      endpoint({ path: "notes/index", handler: () => new Response("static") }),
      endpoint({
        path: "notes/[name]",
        handler: async (_request, state, { name = "" }) => Response.json(await state.getValue(name)),
      }),
      endpoint({ path: "broken", handler: () => Promise.reject(new Error("secret detail")) }),
    ];
    const holdfast = await world.open(helperOf({ model }), { endpoints });
    const thread = await holdfast.threads.open("c", { agent: "helper" });
    const told: unknown[] = [];
    const call = async (method: string, path: string, body?: Json, threadId = thread.id) =>
      await holdfast.endpoints.call({
        ...{ threadId, path, onEvent: (_id, event, data) => told.push([event, data]) },
        request: new Request(`http://localhost/${path}`, {
          method,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      });

    const posted = await call("POST", "notes/tea", { sugar: 2 });
    expect([posted.status, await posted.json()]).toEqual([200, { execution: null, by: thread.id }]);
    expect(told).toContainEqual(["noted", { name: "tea" }]);
    expect(await (await call("GET", "notes/tea")).json()).toEqual({ sugar: 2 });
    expect(await thread.wait()).toMatchObject({ status: "completed" });
    expect(await listed(thread)).toEqual(["user: There is a note: tea", "assistant: Hi."]);
    expect((await call("GET", "nowhere")).status).toBe(404);
    expect((await call("GET", "notes/tea", undefined, "no-thread")).status).toBe(404);
    const broken = await call("GET", "broken");
    expect([broken.status, await broken.text()]).toEqual([500, expect.not.stringContaining("secret detail")]);
    expect(world.takeErrors()).toHaveLength(1);
  });
});

function eventsIn(events: Awaited<ReturnType<typeof committed>>): readonly { event?: unknown; data?: unknown }[] {
  return events.flatMap((event) =>
    event.type === "note" && event.note.type === "thread_event" ? [event.note.metadata as object] : [],
  );
}
