// Promise: an agent that was given a form for its last words ends with a value of that form, or says that it could not:
// after one repair, whatever happens in between.
import { expect, it } from "vitest";
import { z } from "zod";
import type { Model, ModelOptions } from "../src/models/model.ts";
import { calls, callsTool, type ScriptedAnswer, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { type Agent, type AgentDefinition, agent } from "../src/threads/agent.ts";
import type { StandardSchema } from "../src/threads/schemas/tool-schema.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, type World } from "./databases.ts";
import { heldModel, inShort } from "./held.ts";
import { openMortal } from "./mortal-runtime.ts";

const refund = z.object({ order: z.int(), cents: z.int().positive() });
const RIGHT = '{"order": 7, "cents": 1200}';
const WRONG = '{"order": "seven", "cents": 1200}';
const value = { order: 7, cents: 1_200 };

const jsonSchema = {
  type: "object",
  title: "Refund",
  properties: { order: { type: "integer" }, cents: { type: "integer", minimum: 1 } },
  required: ["order", "cents"],
};

/** Of a library that does not tell how its schemas look in JSON. */
const standard: StandardSchema = {
  "~standard": { version: 1, vendor: "somebody", validate: (given) => refund["~standard"].validate(given) as never },
};

const script = (...answers: readonly ScriptedAnswer[]) => scriptedModel(answers) as Model;

function clerk(model: Model, more: Partial<AgentDefinition> = {}): Agent {
  return agent({ slug: "clerk", model, output: refund, ...more });
}

async function open(world: World, made: Agent): Promise<ThreadHandle> {
  const { threads } = await world.open(made);
  return await threads.open("t", { agent: "clerk" });
}

const history = async (thread: ThreadHandle) => inShort((await thread.messages()).map(({ message }) => message));
const isRepair = (line: string) => line.startsWith("user: Your answer is not what was asked for:");

eachDatabase((newWorld) => {
  it.each<[string, AgentDefinition["output"], object]>([
    ["zod", refund, { name: "answer", schema: { type: "object", required: ["order", "cents"] } }],
    ["JSON Schema", jsonSchema, { name: "Refund", schema: jsonSchema }],
    ["another library", standard, { name: "answer" }],
  ])("ends with a value by a schema of %s, of which the model was told", async (_title, output, told) => {
    const asked: ModelOptions["output"][] = [];
    const model: Model = (_messages, _context, options) => {
      asked.push(options.output);
      return says(RIGHT);
    };
    const thread = await open(await newWorld(), clerk(model, { output: output ?? {} }));

    expect(await thread.send("Refund order 7.")).toMatchObject({
      ...{ status: "completed", completed: true, final_content: RIGHT, structured_output: value, turn_count: 1 },
    });

    expect(asked).toMatchObject([told]);
  });

  it("takes JSON out of its fence, and leaves the words as they were said", async () => {
    const fenced = `\`\`\`json\n${RIGHT}\n\`\`\``;
    const thread = await open(await newWorld(), clerk(script(says(fenced))));
    expect(await thread.send("Refund.")).toMatchObject({ structured_output: value, final_content: fenced });
  });

  it("uses its tools first, and says what it likes meanwhile", async () => {
    const peek = tool({ name: "shop/peek", description: "Looks.", execute: () => "seen" });
    const model = script(calls(says("Let me look."), callsTool("shop/peek")), says(RIGHT));
    const thread = await open(await newWorld(), clerk(model, { tools: [peek] }));

    expect(await thread.send("Refund.")).toMatchObject({ status: "completed", structured_output: value });
    expect((await history(thread)).filter(isRepair)).toEqual([]);
  });

  it("is told once what is wrong, and has the value when it gets it right then", async () => {
    const thread = await open(await newWorld(), clerk(script(says(WRONG), says(RIGHT))));

    expect(await thread.send("Refund.")).toMatchObject({
      ...{ status: "completed", final_content: RIGHT, structured_output: value, turn_count: 2 },
    });

    const lines = await history(thread);
    expect(lines).toHaveLength(4);
    expect(lines[2]).toMatch(
      /^user: Your answer is not what was asked for: order: .+ Answer again, with the corrected/,
    );
  });

  it("fails when it gets it wrong a second time, and begins anew with the next message", async () => {
    const thread = await open(await newWorld(), clerk(script(says(WRONG), says("No."), says("Sorry."), says(RIGHT))));

    const failed = await thread.send("Refund.");
    expect(failed).toMatchObject({
      ...{ status: "failed", completed: false, final_content: "No.", turn_count: 2 },
      failure: { code: "structured_output_mismatch", message: expect.stringContaining("it is no JSON") },
    });
    expect(failed).not.toHaveProperty("structured_output");

    expect(await thread.send("Again.")).toMatchObject({ status: "completed", structured_output: value });
    expect((await history(thread)).filter(isRepair)).toHaveLength(2);
  });

  it.each<[string, ScriptedAnswer, object]>([
    ["gets it right then", says(RIGHT), { status: "completed", structured_output: value }],
    ["gets it wrong again", says("No."), { status: "failed" }],
  ])("is told once wherever its process dies, and %s", async (_title, second, outcome) => {
    const world = await newWorld();
    const agents = [clerk(script(says(WRONG), second))];
    for (let place = 0; ; place++) {
      let left = place;
      const key = `t${place}`;
      const doomed = await openMortal(world, agents, (point) => / (commit|effect) /.test(point) && left-- === 0);
      const sent = doomed.threads.open(key, { agent: "clerk" }).then((thread) => thread.send("Refund.", { key: "m" }));
      const isDead = await Promise.race([doomed.died.then(() => true), sent.then(() => false)]);
      if (!isDead) {
        await doomed.close();
        // Two answers, each with a commit before and after it.
        expect(place).toBeGreaterThan(8);
        return;
      }
      const next = await openMortal(world, agents);
      const thread = await next.threads.open(key, { agent: "clerk" });
      expect(await thread.wait()).toMatchObject(outcome);
      expect((await history(thread)).filter(isRepair)).toHaveLength(1);
      expect(await thread.status()).toMatchObject({ steps: 2 });
      await next.close();
    }
  });

  it("can be stopped before it has answered again, and the next run is told once more", async () => {
    const { model, next: asked } = heldModel();
    const thread = await open(await newWorld(), clerk(model));

    const sent = thread.send("Refund.");
    (await asked()).answer(says(WRONG));
    expect((await asked()).shown.at(-1)).toSatisfy(isRepair);
    await thread.stop();
    expect(await sent).toMatchObject({ status: "interrupted", completed: false });

    const again = thread.send("Go on.");
    (await asked()).answer(says("No."));
    (await asked()).answer(says(RIGHT));
    expect(await again).toMatchObject({ status: "completed", structured_output: value });
  });

  it("can be stopped while its schema thinks about the words", async () => {
    const thinking = Promise.withResolvers<void>();
    const slow: StandardSchema = {
      "~standard": {
        ...{ version: 1, vendor: "somebody" },
        validate: () => {
          thinking.resolve();
          return new Promise<never>(() => {});
        },
      },
    };
    const thread = await open(await newWorld(), clerk(script(says(RIGHT)), { output: slow }));

    const sent = thread.send("Refund.");
    await thinking.promise;
    await thread.stop();

    expect(await sent).toMatchObject({ status: "interrupted" });
  });

  it("waits no longer for its schema than the time of the run lasts", async () => {
    const never: StandardSchema = {
      "~standard": { version: 1, vendor: "somebody", validate: () => new Promise<never>(() => {}) },
    };
    const made = clerk(script(says(RIGHT)), { output: never, limits: { seconds: 1 } });
    const thread = await open(await newWorld(), made);

    const outcome = await thread.send("Refund.");

    expect(outcome).toMatchObject({ status: "budget_exceeded", budget: "wall_clock_seconds" });
    expect(outcome).not.toHaveProperty("structured_output");
  });

  it("does not take a value on the model's word", async () => {
    const peek = tool({ name: "shop/peek", description: "Looks.", execute: () => "seen" });
    const structured_output = { parsed: { order: "seven" } };
    const model: Model = () => ({ ...callsTool("shop/peek"), structured_output });
    const made = clerk(model, { tools: [peek], limits: { steps: 1 } });
    const thread = await open(await newWorld(), made);

    const outcome = await thread.send("Refund.");

    expect(outcome).toMatchObject({ status: "budget_exceeded", turn_count: 1 });
    expect(outcome).not.toHaveProperty("structured_output");
  });

  it("spends a step on the repair, and does without when there is none left", async () => {
    const thread = await open(await newWorld(), clerk(script(says(WRONG), says(RIGHT)), { limits: { steps: 1 } }));
    const outcome = await thread.send("Refund.");
    expect(outcome).toMatchObject({ status: "budget_exceeded", budget: "turns", final_content: WRONG });
    expect(outcome).not.toHaveProperty("structured_output");
  });

  it("is not told to repair what only a ceiling has cut off", async () => {
    const model: Model = () => ({ ...says('{"order": 7, "ce'), request_metadata: { finish_reason: "length" } });
    const thread = await open(await newWorld(), clerk(model, { limits: { tokens: 1_000 } }));

    expect(await thread.send("Refund.")).toMatchObject({ status: "budget_exceeded", budget: "tokens", turn_count: 1 });
    expect((await history(thread)).filter(isRepair)).toEqual([]);
  });

  it("has its value for whoever asks in another process", async () => {
    const world = await newWorld();
    const before = await world.open(clerk(script(says(RIGHT))));
    await (await before.threads.open("t", { agent: "clerk" })).send("Refund.");
    await before.close();

    const thread = await open(world, clerk(script()));

    expect(await thread.wait()).toMatchObject({ status: "completed", structured_output: value });
    expect((await thread.runs())[0]?.outcome).toMatchObject({ structured_output: value });
  });
});
