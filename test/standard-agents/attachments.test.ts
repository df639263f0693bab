// Files that pass between a parent and its children: copied before anybody is told of them, all of them or none.
import { describe, expect, it } from "vitest";
import type { Attachment } from "../../src/contracts/standard/standard-message.ts";
import type { Holdfast } from "../../src/holdfast.ts";
import { calls, callsTool, type ScriptedAnswer } from "../../src/models/scripted/scripted-model.ts";
import { prompt } from "../../src/threads/definitions/define-prompt.ts";
import type { ToolEntryInput } from "../../src/threads/definitions/tool-entry.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase, type World } from "../databases.ts";
import { heldModel } from "../held.ts";
import {
  actor,
  creates,
  finishes,
  givesUp,
  history,
  lead,
  onlyChild,
  results,
  type Shown,
  staying,
  worker,
  writesTo,
} from "./team.ts";

const bytes = Uint8Array.from({ length: 4_096 }, (_, index) => (index * 7) % 256);

/** Writes a file of the thread that it runs on. */
const draw = tool({
  name: "draw",
  description: "Draws.",
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
  execute: async ({ path }, { state }) => {
    await state.writeFile(String(path), bytes, { mimeType: "image/x-drawing" });
    return "drawn";
  },
});
const draws = (path: string) => callsTool("draw", { path });

async function files(thread: ThreadHandle): Promise<readonly string[]> {
  return (await (await thread.state()).findFiles("/**")).filter((file) => !file.isDirectory).map(({ path }) => path);
}

async function read(thread: ThreadHandle, path: string | undefined): Promise<Uint8Array | null> {
  return await (await thread.state()).readFile(path ?? "/nowhere");
}

const attachedTo = async (thread: ThreadHandle): Promise<readonly Attachment[]> =>
  (await history(thread)).flatMap(({ attachments }) => attachments);

/** A parent that has `/attachments/plan.txt`, with one child that stays. */
async function withPlan(world: World, boss: readonly (ScriptedAnswer | string)[], child: ReturnType<typeof actor>) {
  const parts = [staying("worker"), draw] satisfies ToolEntryInput[];
  const model = actor(...boss);
  const holdfast = await world.open([lead(model.model, parts), worker(child.model, { tools: [draw] })]);
  const thread = await holdfast.threads.open("t", { agent: "lead" });
  await (await thread.state()).writeFile("/attachments/plan.txt", bytes, { mimeType: "text/x-plan" });
  return { holdfast, thread, shown: model.shown };
}

eachDatabase((newWorld) => {
  it("43 [COM-1, SUB-11, SUB-12] a child gets an equal copy at a path of its own, which it keeps", async () => {
    const attachments = ["/attachments/plan.txt", "/attachments/./plan.txt"];
    const child = actor(finishes("Read."));
    const create = creates({ message: "Read /attachments/plan.txt.", attachments });
    const { holdfast, thread } = await withPlan(await newWorld(), [create, "Done."], child);
    await thread.send("Go.");

    const only = await onlyChild(holdfast, thread);
    const [path, ...others] = await files(only.thread);
    expect(path).toMatch(/^\/attachments\/plan-[\w-]{8}\.txt$/);
    expect(others).toEqual([]);
    expect(await attachedTo(only.thread)).toMatchObject([
      { path, name: "plan.txt", mimeType: "text/x-plan", size: 4_096 },
    ]);
    const [note, message] = await history(only.thread);
    expect(note).toMatchObject({ silent: true, content: expect.stringContaining(path ?? "-") });
    expect(message).toMatchObject({ silent: false, content: `Read ${path}.`, attachments: [] });
    expect(child.shown[0]?.lines.join("\n")).not.toContain("/attachments/plan.txt");

    await (await thread.state()).unlinkFile("/attachments/plan.txt");
    expect(await read(only.thread, path)).toEqual(bytes);
    expect(await read(thread, "/attachments/plan.txt")).toBeNull();
  });

  it("44 [COM-2, SUB-13] a child's files are copied to the parent, which is told its own paths alone", async () => {
    const own = "/attachments/drawing.png";
    const child = actor(draws(own), finishes(`See ${own}.`, [own]));
    const { holdfast, thread, shown } = await withPlan(await newWorld(), [creates(), "Done."], child);
    await thread.send("Go.");

    const only = await onlyChild(holdfast, thread);
    expect(await files(only.thread)).toEqual([own]);
    const path = (await files(thread)).find((each) => each !== "/attachments/plan.txt");
    expect(path).toMatch(/^\/attachments\/drawing-[\w-]{8}\.png$/);
    expect(await read(thread, path)).toEqual(bytes);
    const [result] = await results(thread);
    expect(result).toMatchObject({ tool_status: "success", attachments: [{ path, name: "drawing.png" }] });
    expect(JSON.parse(result?.content ?? "")).toMatchObject({ text: `See ${path}.`, attachments: [path] });
    expect((await thread.messages()).map(({ message }) => JSON.stringify(message)).join()).not.toContain(own);
    expect(shown[1]?.lines.join("\n")).not.toContain(own);

    await (await only.thread.state()).unlinkFile(own);
    expect(await read(thread, path)).toEqual(bytes);
  });

  it("[COM-2, COM-7] so are those of a child that nobody waits for, with a result and with a failure", async () => {
    const world = await newWorld();
    const own = "/attachments/drawing.png";
    const boss = heldModel();
    const child = heldModel();
    const holdfast = await world.open([
      lead(boss.model, [staying("worker", { blocking: false })]),
      worker(child.model, { tools: [draw] }),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    const sent = thread.send("Go.");
    (await boss.next()).answer(creates());
    (await boss.next()).answer("Waiting.");
    await sent;
    (await child.next()).answer(draws(own));
    (await child.next()).answer(finishes("Look.", [own]));
    const told = await boss.next();
    const [path] = await files(thread);
    expect(told.shown.at(-1)).toContain(path);
    expect(told.shown.at(-1)).not.toContain(own);
    expect((await history(thread)).findLast(({ silent }) => silent)).toMatchObject({ attachments: [{ path }] });
    const { reference } = await onlyChild(holdfast, thread);
    told.answer(writesTo(reference));
    const again = await child.next();
    (await boss.next()).answer("Waiting again.");
    again.answer(callsTool("give_up", { text: "I cannot.", files: [own] }));
    const failed = await boss.next();
    expect(await files(thread)).toHaveLength(2);
    expect(failed.shown.at(-1)).toContain("I cannot.");
    failed.answer("Oh.");
    await thread.wait();
  });

  it.each([
    ["that does not exist", "/attachments/no.png"],
    ["that leads out of the thread", "/attachments/../../no.png"],
    ["that is a directory", "/attachments"],
    ["of its parent", "/attachments/plan.txt"],
  ])("45 [COM-6] to end with a path %s is an error, and the session goes on", async (_, path) => {
    const child = actor(finishes("Look.", [path]), finishes("Without.", []));
    const { holdfast, thread } = await withPlan(await newWorld(), [creates(), "Done."], child);
    await thread.send("Go.");

    const only = await onlyChild(holdfast, thread);
    const [refused, ended] = await results(only.thread);
    expect(refused).toMatchObject({ tool_status: "error", content: expect.stringContaining(path) });
    expect(ended).toMatchObject({ tool_status: "success" });
    expect(child.shown).toHaveLength(2);
    expect((await results(thread)).map(({ content }) => content).join()).toContain("Without.");
    expect(await files(thread)).toEqual(["/attachments/plan.txt"]);
  });

  it("[COM-2] a child may hand over what stands elsewhere among its files", async () => {
    const child = actor(draws("/notes/mine.txt"), finishes("Look.", ["notes/mine.txt"]));
    const { thread } = await withPlan(await newWorld(), [creates(), "Done."], child);
    await thread.send("Go.");
    expect((await results(thread))[0]).toMatchObject({ tool_status: "success", attachments: [{ name: "mine.txt" }] });
    expect((await files(thread)).filter((path) => /^\/attachments\/mine-[\w-]{8}\.txt$/.test(path))).toHaveLength(1);
  });

  it("[COM-6] to fail with a path that does not exist is an error too", async () => {
    const child = actor(callsTool("give_up", { text: "x", files: ["/attachments/no.png"] }), givesUp("Really."));
    const { thread } = await withPlan(await newWorld(), [creates(), "Done."], child);
    await thread.send("Go.");
    expect(child.shown).toHaveLength(2);
    expect((await results(thread))[0]?.content).toContain("Really.");
  });

  const wrong = ["/attachments/no.txt", "/attachments/../../../etc/passwd", "/notes/mine.txt", "/attachments"];
  it.each(wrong)(
    "45 [COM-3, SUB-29] to create with %s is an error that names it, and nothing is created",
    async (path) => {
      const create = creates({ attachments: ["/attachments/plan.txt", path] });
      const { holdfast, thread } = await withPlan(
        await newWorld(),
        [draws("/notes/mine.txt"), create, "Oh."],
        actor("x"),
      );
      await thread.send("Go.");
      expect((await results(thread))[1]).toMatchObject({
        tool_status: "error",
        content: expect.stringContaining(path),
      });
      expect(await holdfast.threads.list()).toHaveLength(1);
      expect(await everyFile(holdfast)).toHaveLength(2);
    },
  );

  it("45 [COM-3, SUB-29] to write with one is an error, and the child hears nothing", async () => {
    const world = await newWorld();
    const child = actor(finishes("Ready."));
    let reference = "";
    const boss = actor(
      creates(),
      ({ messages }: Shown) => {
        reference = String(messages.at(-1)?.metadata.subagent_id);
        return writesTo(reference, { attachments: ["/attachments/plan.txt", "/attachments/no.txt"] });
      },
      "Oh.",
    );
    const holdfast = await world.open([lead(boss.model, [staying("worker")]), worker(child.model)]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    await (await thread.state()).writeFile("/attachments/plan.txt", bytes);
    await thread.send("Go.");

    const only = await onlyChild(holdfast, thread);
    expect(reference).toBe(only.reference);
    const [, refused] = await results(thread);
    expect(refused).toMatchObject({ tool_status: "error", content: expect.stringContaining("/attachments/no.txt") });
    expect(refused?.content).not.toContain("plan.txt");
    expect(only.status).toBe("idle");
    expect(await only.thread.runs()).toHaveLength(1);
    expect(await files(only.thread)).toEqual([]);
  });

  it("45 [PT-4] to have a prompt speak with one is an error, and no model is asked", async () => {
    const world = await newWorld();
    const inner = actor("I speak.");
    const requiredSchema = { type: "object", properties: { task: { type: "string" }, files: { type: "array" } } };
    const speaks = prompt({
      name: "speaks",
      prompt: "Speak.",
      toolDescription: "Speaks.",
      model: inner.model,
      requiredSchema,
    });
    const init = { initUserMessageProperty: "task", initAttachmentsProperty: "files" };
    const boss = actor(callsTool("speaks", { task: "Say.", files: ["/attachments/no.txt"] }), "Oh.");
    const holdfast = await world.open(lead(boss.model, [{ prompt: speaks, ...init }]));
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    await thread.send("Go.");
    expect((await results(thread))[0]).toMatchObject({
      ...{ tool_status: "error", content: expect.stringContaining("/attachments/no.txt") },
    });
    expect(inner.shown).toEqual([]);
  });

  it("[SUB-28, SUB-29, SUB-30] a child under its own name gets files, words and name from its arguments", async () => {
    const world = await newWorld();
    const child = actor(finishes("Done."));
    const requiredSchema = { type: "object", properties: { task: {}, files: {}, who: { type: "string" } } };
    const init = { initUserMessageProperty: "task", initAttachmentsProperty: "files", initAgentNameProperty: "who" };
    const path = "/attachments/plan.txt";
    const boss = actor(
      calls(
        callsTool("worker", { task: "Sum up.", files: path, who: "Ada\n  Lovelace" }),
        callsTool("worker", { task: { deep: true }, files: [path, path] }),
        callsTool("worker", { files: ["/attachments/no.txt"], task: "Never." }),
      ),
      "Done.",
    );
    const holdfast = await world.open([
      lead(boss.model, [{ name: "worker", ...init }]),
      worker(child.model, { prompt: { requiredSchema } }),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    await (await thread.state()).writeFile(path, bytes);
    await thread.send("Go.");

    const [ada, other, ...more] = await thread.children();
    expect(more).toEqual([]);
    expect(ada).toMatchObject({ threadName: "Ada Lovelace", status: "terminated" });
    expect(await (await holdfast.threads.get(ada?.reference ?? "")).status()).toMatchObject({
      tags: ["name:Ada Lovelace"],
    });
    const of = await holdfast.threads.get(other?.reference ?? "");
    expect((await history(of)).map(({ content }) => content)).toContain('{"deep":true}');
    expect(await files(of)).toHaveLength(1);
    expect((await results(thread))[2]).toMatchObject({
      tool_status: "error",
      content: expect.stringContaining("no.txt"),
    });
  });

  it("[COM-3] strange names come to plain paths, and what was written in the same call can be handed over", async () => {
    const world = await newWorld();
    const name = `/attachments/${"ü".repeat(70)} & co?.tar.gz`;
    const child = actor(draws(name), finishes("Look.", [name]));
    const { thread } = await withPlan(world, [creates(), "Done."], child);
    await thread.send("Go.");
    const copied = (await files(thread)).find((path) => !path.includes("plan"));
    expect(copied).toMatch(/^\/attachments\/ü{64}-[\w-]{8}\.gz$/);
    expect(await read(thread, copied)).toEqual(bytes);
  });

  describe("a file of 100 MB", () => {
    const large = Buffer.alloc(100 * 1024 * 1024, 1);
    const upload = { name: "large.bin", mimeType: "application/octet-stream" };

    it("is refused where it is written, and nothing of it is stored", async () => {
      const world = await newWorld();
      const { thread } = await withPlan(world, ["Hello."], actor("x"));
      const state = await thread.state();
      await expect(state.writeFile("/attachments/large.bin", large)).rejects.toMatchObject({ code: "file_too_large" });
      const data = large.toString("base64");
      await expect(state.queueMessage({ content: "x", attachments: [{ ...upload, data }] })).rejects.toMatchObject({
        code: "file_too_large",
      });
      expect(await files(thread)).toEqual(["/attachments/plan.txt"]);
      expect(await thread.wait()).toBeUndefined();
    });

    it("is an error of the tool that returns or writes it, and the run goes on", async () => {
      const world = await newWorld();
      const returns = tool({
        name: "returns_much",
        description: "Returns much.",
        execute: () => ({
          status: "success",
          result: "there",
          attachments: [{ ...upload, data: large.toString("base64") }],
        }),
      });
      const writes = tool({
        name: "writes_much",
        description: "Writes much.",
        execute: async (_input, { state }) => await state.writeFile("/attachments/large.bin", large),
      });
      const boss = actor(calls(callsTool("returns_much"), callsTool("writes_much")), "Oh.");
      const holdfast = await world.open(lead(boss.model, [returns, writes]));
      const thread = await holdfast.threads.open("t", { agent: "lead" });
      expect(await thread.send("Go.")).toMatchObject({ status: "completed" });
      expect(await results(thread)).toMatchObject([
        { tool_status: "error", content: expect.stringContaining("large.bin") },
        { tool_status: "error", content: expect.stringContaining("large.bin") },
      ]);
      expect(await files(thread)).toEqual([]);
    });
  });
});

/** All the files of all threads. */
async function everyFile({ threads }: Holdfast): Promise<readonly string[]> {
  const all: string[] = [];
  for (const { id } of await threads.list()) all.push(...(await files(await threads.get(id))));
  return all;
}
