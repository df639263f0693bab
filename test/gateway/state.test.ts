// What a plugin stores: one map per plugin, written with the commit of the job that changes it and not without it.
import { describe, expect, it } from "vitest";
import type { PluginRequest } from "../../src/contracts/gateway/protocol/request.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import { createSealedJson } from "../../src/gateway/dispatch/commit/sealed-json.ts";
import type { BuiltInPlugin } from "../../src/gateway/plugins/resolve-plugins.ts";
import { createSealing } from "../../src/threads/secrets/sealing.ts";
import { eachDatabase, secretKey, type World } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { api, heldPlugin, inShort, openGateway, plugin } from "./gateway-world.ts";

/** Stores what its payload says under `updates`, and keeps the state that it is shown. */
function store(name: string) {
  const states: JsonMap[] = [];
  const remember = ({ state, payload, event }: PluginRequest) => {
    states.push(state);
    const { updates } = event?.payload ?? payload ?? {};
    return updates === undefined ? "ok" : { state_updates: updates as JsonMap };
  };
  return { ...plugin(name, remember, { commands: ["handle", "poll", "health", "init"] }), states };
}

eachDatabase((newWorld) => {
  it("scenario 40: updates replace what is at the top, and one that is too large fails its job and changes nothing", async () => {
    const tool = store("tool");
    const { gateway, endedTree } = await openGateway({ world: await newWorld(), plugins: [tool] });
    const call = async (updates: JsonMap) => {
      const { job_ids } = await gateway.call("tool", "handle", { payload: { updates } }, api);
      return inShort(await endedTree(job_ids[0]));
    };
    await call({ a: { x: 1 }, b: 2 });
    await call({ a: { y: 1 } });
    expect(await call({ blob: "x".repeat(1_153_434) })).toEqual(["tool failed apply_failed"]);
    await call({});
    expect(tool.states).toEqual([{}, { a: { x: 1 }, b: 2 }, { a: { y: 1 }, b: 2 }, { a: { y: 1 }, b: 2 }]);
  });

  it("scenario 40: an answer whose state is too large leads to no jobs either", async () => {
    const blob = "x".repeat(1_153_434);
    const source = plugin("source", () => ({ events: [{ type: "mail", payload: {} }], state_updates: { blob } }));
    const { gateway, endedTree } = await openGateway({
      ...{ world: await newWorld(), plugins: [source, plugin("tool")] },
      config: { pipelines: [{ name: "mail", on: "mail", steps: [{ uses: "tool" }] }] },
    });
    const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["source failed apply_failed"]);
  });

  it("two jobs of a plugin at once both change it: the later one is merged into what the other has left", async () => {
    const tool = heldPlugin("tool");
    const { gateway, untilIdle } = await openGateway({
      ...{ world: await newWorld(), plugins: [tool] },
      config: { service: { max_workers: 2 }, plugins: { tool: { parallelism: 2 } } },
    });
    for (const n of [1, 2]) await gateway.call("tool", "handle", { payload: { n } }, api);
    const both = [await tool.next(), await tool.next()];
    for (const [index, each] of both.entries()) each.answer({ state_updates: { [`job ${index}`]: true } });
    await untilIdle();
    await gateway.call("tool", "handle", { payload: {} }, api);
    const { request, answer } = await tool.next();
    answer("ok");
    await untilIdle();
    expect(request.state).toEqual({ "job 0": true, "job 1": true });
  });

  it("every rule for a command records a fact, in their order, and one of them with a mirror replaces the state", async () => {
    const world = await newWorld();
    const tool = withFacts(store("tool"), [
      { command: "handle", fact_type: "heard", mirrors: false },
      { command: "poll", fact_type: "seen", mirrors: false },
      { command: "handle", fact_type: "kept", mirrors: true },
    ]);
    const { gateway, untilIdle } = await openGateway({ world, plugins: [tool] });
    for (const updates of [{ a: 1 }, { b: 2 }, undefined]) {
      await gateway.call("tool", "handle", { payload: updates ? { updates } : {} }, api);
      await untilIdle();
    }
    expect(tool.states).toEqual([{}, { a: 1 }, { b: 2 }]);
    expect(await factsOf(world)).toEqual([
      [1, "heard", { a: 1 }],
      [2, "kept", { a: 1 }],
      [3, "heard", { b: 2 }],
      [4, "kept", { b: 2 }],
    ]);
  });

  it("facts are recorded in order, and with a mirror replace the whole state", async () => {
    const world = await newWorld();
    const tool = withFacts(store("tool"), [
      { command: "poll", fact_type: "seen", mirrors: true },
      { command: "handle", fact_type: "heard", mirrors: false },
    ]);
    const { gateway, untilIdle } = await openGateway({ world, plugins: [tool] });
    for (const [command, updates] of [
      ["handle", { a: 1 }],
      ["poll", { b: 2 }],
      ["handle", { c: 3 }],
      ["poll", {}],
      ["handle", undefined],
    ] as const) {
      await gateway.call("tool", command, { payload: updates ? { updates } : {} }, api);
      await untilIdle();
    }
    expect(tool.states).toEqual([{}, { a: 1 }, { b: 2 }, { b: 2, c: 3 }, {}]);
    expect(await factsOf(world)).toEqual([
      [1, "heard", { a: 1 }],
      [2, "seen", { b: 2 }],
      [3, "heard", { c: 3 }],
      [4, "seen", {}],
    ]);
  });
});

describe("a plugin's state", () => {
  it("is its own under each alias", async () => {
    const tool = store("tool");
    const { gateway, untilIdle } = await openGateway({
      plugins: [tool],
      config: { plugins: { alias: { uses: "tool", config: { mode: "other" } } } },
    });
    for (const [name, updates] of [
      ["tool", { a: 1 }],
      ["alias", { b: 2 }],
      ["tool", {}],
      ["alias", {}],
    ] as const) {
      await gateway.call(name, "handle", { payload: { updates } }, api);
    }
    await untilIdle();
    expect(tool.states).toEqual([{}, {}, { a: 1 }, { b: 2 }]);
    expect(tool.requests.map(({ config }) => config)).toEqual([{}, { mode: "other" }, {}, { mode: "other" }]);
  });

  it("is not changed by health and init", async () => {
    const tool = store("tool");
    const { gateway, untilIdle } = await openGateway({ plugins: [tool] });
    for (const command of ["health", "init", "handle"]) {
      await gateway.call("tool", command, { payload: { updates: { [command]: true } } }, api);
    }
    await untilIdle();
    await gateway.call("tool", "handle", { payload: {} }, api);
    await untilIdle();
    expect(tool.states.at(-1)).toEqual({ handle: true });
  });
});

it("setting a plugin up is never tried again: neither when it is called, nor as a step, nor as a schedule", async () => {
  const broken = (name: string) => plugin(name, fail, { commands: ["init"] });
  const names = ["called", "step", "scheduled"];
  const { gateway, untilIdle } = await openGateway({
    plugins: names.map(broken),
    config: {
      plugins: { scheduled: { schedules: [{ every: "1h", command: "init" }] } },
      pipelines: [{ name: "p", on: "x", steps: [{ uses: "step", command: "init", retry: { max_attempts: 3 } }] }],
    },
  });
  await gateway.call("called", "init", { payload: {} }, api);
  await gateway.emit({ type: "x", payload: {} }, api);
  await eventually(async () => expect(await gateway.jobs.list({ limit: 9 })).toHaveLength(3));
  await untilIdle();
  const ended = inShort(await gateway.jobs.list({ limit: 9 }));
  expect(ended.toSorted()).toEqual(names.map((name) => `${name}.init failed plugin_error`).toSorted());
});

/** What was recorded of the plugin `tool`. */
async function factsOf(world: World) {
  const { gateway: stores } = await world.stores();
  const sealed = createSealedJson(createSealing(Buffer.from(secretKey, "hex")));
  const facts = await stores.pluginState.facts({ plugin: "tool", limit: 9 });
  return facts.map(({ seq, fact_type, sealed_value }) => [seq, fact_type, sealed.open("fact", "tool", sealed_value)]);
}

function fail(): never {
  throw new Error("No.");
}

function withFacts<Plugin extends BuiltInPlugin>(
  base: Plugin,
  fact_outputs: Plugin["manifest"]["fact_outputs"],
): Plugin {
  return { ...base, manifest: { ...base.manifest, fact_outputs } };
}
