// Promise: what a run of a workflow works with is read by who may read the run, and stands in no table, list, event or finding: what
// it was started with, what steps take, return and throw, events, and what people are asked and answer.
import { expect, it } from "vitest";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";
import { createScene } from "./secrets/scene.ts";

const WORKED_WITH = ["input", "spec", "output", "error", "item", "event", "metadata", "match", "undo"] as const;
const PLACES = [...WORKED_WITH, "brought", "config"] as const;
type Place = (typeof PLACES)[number];

const accepted = { decision: "accepted" } as const;

eachDatabase((newWorld) => {
  it("keeps inputs, arguments, outputs, errors, events and answers sealed", async () => {
    const scene = createScene(await newWorld());
    const secret = Object.fromEntries(PLACES.map((place) => [place, scene.plant(place)])) as Record<Place, string>;
    const got: unknown[] = [];
    const stepFunctions = {
      takes: (input: unknown) => {
        got.push(input);
        return { nested: [{ kept: secret.output }], echo: input as string };
      },
      undoes: () => ({ undone: secret.undo }),
      fails: () => {
        throw new Error(`Refused ${secret.error}.`, { cause: new Error(`It was ${secret.input}.`) });
      },
    };
    const holdfast = await scene.open([], { stepFunctions, env: { SHOP_API_KEY: secret.config } });
    const run = await holdfast.workflows.start(
      {
        id: "all",
        inputs: { word: { type: "string" } },
        steps: [
          {
            ...{ id: "takes", type: "function", function: "takes", undo: { type: "function", function: "undoes" } },
            input: { own: secret.spec, given: "$" + "{inputs.word}", config: secret.config },
          },
          {
            ...{ id: "each", type: "foreach", items: [secret.item] },
            steps: [{ id: "item", type: "function", function: "takes", input: "$" + "{vars.item}" }],
          },
          { id: "paid", type: "wait", event: "paid", match: { word: secret.match } },
          {
            ...{ id: "agree", type: "wait" },
            approval: { summary: `Pay with ${secret.config}?`, preview: { token: secret.spec, note: secret.config } },
          },
          { id: "ask", type: "wait", request: { question: `Is it ${secret.config}?`, password: secret.input } },
          { id: "fails", type: "function", function: "fails" },
        ],
      },
      { word: secret.input },
      { metadata: { note: secret.metadata } },
    );
    const look = async () => {
      await scene.look();
      scene.hear("explained", await holdfast.workflows.diagnose(run.id));
      scene.hear("found", await holdfast.diagnose());
      scene.hear("metrics", await holdfast.metrics());
      scene.hear("events of the run", await run.events());
      scene.hear("summary", await run.summary());
    };
    const until = async (reason: string) => {
      while ((await run.summary()).reason !== reason) await new Promise(setImmediate);
      await look();
    };
    await until("waiting_for_event");
    await run.send("paid", { word: secret.match, more: secret.event });
    await until("waiting_for_approval");
    const [approval] = await holdfast.requests.list({ thread: run.id, status: "pending" });
    expect(approval?.shown).toMatchObject({ summary: "Pay with [redacted]?", preview: { token: "[redacted]" } });
    scene.hear("approvals while they wait", await holdfast.approvals.list());
    await holdfast.requests.submit(approval?.id ?? "", { ...accepted, reason: `Because of ${secret.config}.` });
    await until("waiting_for_request");
    const [asked] = await holdfast.requests.list({ thread: run.id, status: "pending" });
    expect(asked?.shown).toMatchObject({ question: "Is it [redacted]?", password: "[redacted]" });
    await holdfast.requests.submit(asked?.id ?? "", { result: { api_key: secret.brought } });
    const record = await run.result();
    await look();

    expect(record).toMatchObject({ status: "failed", error: { message: `Refused ${secret.error}.` } });
    expect(got).toEqual([{ own: secret.spec, given: secret.input, config: secret.config }, secret.item]);
    const again = await run.rerun({ inputs: { word: secret.input } });
    await again.requestCancel(`Not with ${secret.config}`);
    await again.result();
    expect(await scene.leaks(holdfast)).toEqual({});
  });

  it("shows a tool that a person decides about without the secrets of its arguments", async () => {
    const scene = createScene(await newWorld());
    const [token, marked, config] = [scene.plant("token"), scene.plant("marked"), scene.plant("config")];
    const got: unknown[] = [];
    const pay = tool({
      ...{ name: "shop/pay", description: "Pays.", actionPolicy: "preview" },
      inputSchema: {
        type: "object",
        properties: { pin: { type: "string", sensitive: true }, token: { type: "string" }, note: { type: "string" } },
      } as never,
      execute: (input) => {
        got.push(input);
        throw new Error(`Refused ${String((input as { token: string }).token)}.`);
      },
    });
    const holdfast = await scene.open([], { tools: [pay], env: { SHOP_API_KEY: config } });
    const args = { token, pin: marked, note: `for ${config}` };
    const run = await holdfast.workflows.start({
      id: "pays",
      steps: [{ id: "pay", type: "ability", ability: "shop/pay", args }],
    });
    while ((await run.summary()).reason !== "waiting_for_approval") await new Promise(setImmediate);
    const [request] = await holdfast.requests.list({ thread: run.id });
    expect(request?.shown).toMatchObject({
      parameters: { token: "[redacted]", pin: "[redacted]", note: "for [redacted]" },
    });
    await scene.look();
    await holdfast.requests.submit(request?.id ?? "", accepted);
    expect(await run.result()).toMatchObject({ status: "failed" });
    expect(got).toEqual([args]);
    expect(await scene.leaks(holdfast)).toEqual({});
  });

  it("tells a nested run and an agent no more than they are asked, and their parents' tables nothing", async () => {
    const scene = createScene(await newWorld());
    const [given, made] = [scene.plant("given"), scene.plant("made")];
    const helper = agent({ slug: "helper", model: scene.speaking("Done." as never) });
    const stepFunctions = { makes: () => ({ made }) };
    const holdfast = await scene.open(helper, {
      stepFunctions,
      workflows: [{ id: "inner", steps: [{ id: "makes", type: "function", function: "makes" }] }],
    });
    const run = await holdfast.workflows.start({
      id: "outer",
      steps: [
        { id: "nest", type: "workflow", workflow: "inner", inputs: { word: given } },
        { id: "ask", type: "agent", agent: "helper", message: "Help." },
      ],
    });
    expect(await run.result()).toMatchObject({ output: { steps: { nest: { last: { made } } } } });
    expect(await scene.leaks(holdfast)).toEqual({});
  });
});
