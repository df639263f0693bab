// What a tool returns, in the forms that it may have, and what is stored of it; what its code may use.
import { expect, it } from "vitest";
import { calls, callsTool } from "../../src/models/scripted/scripted-model.ts";
import { type Tool, type ToolDefinition, tool } from "../../src/threads/tool.ts";
import { eachDatabase, type World } from "../databases.ts";
import { listed, stored } from "./listed.ts";
import { openHelper, openPair } from "./open-agents.ts";
import { talker } from "./talker.ts";

const text = (data: string) => Buffer.from(data).toString("base64");

function made(name: string, execute: NonNullable<ToolDefinition["execute"]>, more: Partial<ToolDefinition> = {}): Tool {
  return tool({ name, description: "Does something.", ...more, execute } as ToolDefinition);
}

/** The results of one call to each of the tools, in their order. */
async function resultsOf(world: World, tools: readonly Tool[]) {
  const answer = calls(...tools.map(({ name }) => callsTool(name.replace("standard/", ""))));
  const { model, asked } = talker(answer, "Done.");
  const thread = await openHelper(world, { model, tools });
  expect(await thread.send("Go")).toMatchObject({ final_content: "Done." });
  const results = (await stored(thread)).filter(({ role }) => role === "tool");
  return { thread, results, asked };
}

eachDatabase((newWorld) => {
  it("[DEF-11] stores words as words, lists of text parts line by line, and anything else as JSON", async () => {
    const { results } = await resultsOf(await newWorld(), [
      made("words", () => ({ status: "success", result: "fine" })),
      made("parts", () => ({
        status: "success",
        content: [
          { type: "text", text: "one" },
          { type: "text", text: "two" },
        ],
      })),
      made("number", () => ({ status: "success", result: 42 })),
      made("map", () => ({ status: "success", result: { b: [1], a: null } })),
      made("plain", () => ({ temperature: 20 })),
      made("list", () => ["a", "b"]),
    ]);

    expect(results.map(({ content }) => content)).toEqual([
      ...["fine", "one\ntwo", "42", '{"b":[1],"a":null}', '{"temperature":20}', '["a","b"]'],
    ]);
    expect(results.every(({ tool_status }) => tool_status === "success")).toBe(true);
  });

  it("[TOOL-6] stores a fixed text for a success without words", async () => {
    const { results } = await resultsOf(await newWorld(), [
      made("nothing", () => undefined),
      made("empty", () => ({ status: "success" })),
      made("blank", () => ({ status: "success", result: "" })),
    ]);

    expect(new Set(results.map(({ content }) => content)).size).toBe(1);
    expect(results[0]?.content).toMatch(/succe/i);
  });

  it("[DEF-12] tells of an error by its words, or by those of its result", async () => {
    const { results } = await resultsOf(await newWorld(), [
      made("error", () => ({ status: "error", error: "No paper" })),
      made("result", () => ({ status: "error", result: "Out of ink" })),
      made("neither", () => ({ status: "error" })),
    ]);

    expect(results.map(({ tool_status }) => tool_status)).toEqual(["error", "error", "error"]);
    expect(results[0]?.content).toContain("No paper");
    expect(results[1]?.content).toContain("Out of ink");
    expect(results[2]?.content).not.toBe("");
  });

  it("[DEF-13, TOOL-7] takes new files and files of the thread, and lists their paths with the result", async () => {
    const { results, thread } = await resultsOf(await newWorld(), [
      made("fresh", () => ({
        status: "success",
        result: "made",
        attachments: [{ name: "a.txt", mimeType: "text/plain", data: text("new") }],
      })),
      made("known", async (_input, { state }) => {
        await state.writeFile("/reports/b.txt", "old");
        return { status: "success", result: "found", attachments: [{ path: "/reports/b.txt" }] };
      }),
      made("missing", () => ({ status: "success", result: "lost", attachments: [{ path: "/reports/none.txt" }] })),
    ]);

    const [fresh, known, missing] = results;
    const path = fresh?.attachments[0]?.path ?? "";
    expect(fresh?.content).toContain(path);
    const state = await thread.state();
    expect(Buffer.from((await state.readFile(path)) ?? []).toString()).toBe("new");
    expect(known).toMatchObject({ tool_status: "success", attachments: [{ path: "/reports/b.txt" }] });
    expect(missing).toMatchObject({ tool_status: "error", content: expect.stringContaining("/reports/none.txt") });
  });

  it("[TOOL-7] lists no paths with the result of a tool that ends the session", async () => {
    const finish = made("finish", () => ({
      status: "success",
      result: "finished",
      attachments: [{ name: "a.txt", mimeType: "text/plain", data: text("new") }],
    }));
    const { model } = talker(callsTool("finish"));
    const thread = await openHelper(await newWorld(), { model, tools: [finish], rules: { sessionStop: "finish" } });

    await thread.send("Go");

    expect((await stored(thread)).at(-1)).toMatchObject({ content: "finished", attachments: [{ name: "a.txt" }] });
  });

  it("[DEF-14] lets code use only the tools that its own lists", async () => {
    const ran: string[] = [];
    const note = (name: string) => made(name, () => void ran.push(name));
    const tried: unknown[] = [];
    const limited = made(
      "limited",
      async (_input, { state }) => {
        tried.push(await state.invokeTool("listed"), await state.invokeTool("other"));
        await state.queueTool("other").catch((thrown: { code: string }) => tried.push(thrown.code));
        await state.queueTool("listed");
        return "tried";
      },
      { uses: ["listed"] },
    );
    const { model } = talker(callsTool("limited"), "Done.");
    const thread = await openHelper(await newWorld(), { model, tools: [limited, note("listed"), note("other")] });

    await thread.send("Go");

    expect(tried).toMatchObject([{ status: "success" }, { status: "error" }, "tool_not_allowed"]);
    expect(ran).toEqual(["listed", "listed"]);
    expect((await listed(thread)).slice(2, 4)).toEqual([
      ...["success limited: tried", expect.stringMatching(/^success listed: /)],
    ]);
  });

  it("[TOOL-8] lets code use tools that no model is offered", async () => {
    const ran: string[] = [];
    const note = (name: string) => made(name, () => void ran.push(name));
    const free = made("free", async (_input, { state }) => {
      await state.invokeTool("invoked");
      await state.queueTool("queued");
      return "used";
    });
    const { model, asked } = talker(callsTool("free"), "Done.");
    const options = { tools: [note("invoked"), note("queued")] };
    const thread = await openHelper(await newWorld(), { model, tools: [free] }, { options });

    await thread.send("Go");

    expect(Object.keys(asked[1]?.options.tools ?? {})).toEqual(["standard/free"]);
    expect(ran).toEqual(["invoked", "queued"]);
  });

  it("hands the settings of its entry to the tool", async () => {
    const seen: unknown[] = [];
    const fetch = made("fetch", async (_input, context) => {
      seen.push(context.options, await context.state.env("REGION"));
      return "fetched";
    });
    const { model } = talker(callsTool("fetch"), "Done.");
    const entry = { tool: fetch, env: { REGION: "north" }, options: { limit: 3 } };
    const thread = await openHelper(await newWorld(), { model, tools: [entry] });

    await thread.send("Go");

    expect(seen).toEqual([{ limit: 3 }, "north"]);
  });

  it("stores the calls and results of side B as B's, in the form that they have for side A", async () => {
    const a = talker("a1");
    const b = talker(callsTool("parts"), "b1");
    const parts = made("parts", () => ({ status: "success", content: [{ type: "text", text: "one" }] }));
    const thread = await openPair(
      ...([await newWorld(), { model: a.model }, { model: b.model, tools: [parts] }, { maxSessionTurns: 1 }] as const),
    );

    await thread.send("Begin");

    expect((await listed(thread)).slice(2)).toEqual(["user:  [parts]", "success parts: one", "user: b1"]);
    expect((await stored(thread))[2]).toMatchObject({ status: "completed", metadata: { side: "b" } });
  });
});
