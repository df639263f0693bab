// Pipelines as the dispatcher runs them: which jobs an event leads to, and what each of them is shown.
import { describe, expect, it } from "vitest";
import { api, eventPayload, inShort, openGateway, permanently, plugin, silentPlugin } from "./gateway-world.ts";

const fail = (message: string) => () => {
  throw permanently(message);
};
const on = (type: string, ...steps: readonly object[]) => ({ name: type, on: type, steps });
const emits =
  (...types: readonly string[]) =>
  () => ({ events: types.map((type) => ({ type, payload: { type } })) });

describe("an event", () => {
  it("starts every pipeline that listens for its type, and is not missed where none does", async () => {
    const [one, two] = [plugin("one"), plugin("two")];
    const { gateway, untilIdle } = await openGateway({
      plugins: [one, two],
      config: { pipelines: [on("mail", { uses: "one" }), { ...on("mail", { uses: "two" }), name: "second" }] },
    });
    expect((await gateway.emit({ type: "mail", payload: { n: 1 } }, api)).job_ids).toHaveLength(2);
    expect(await gateway.emit({ type: "post", payload: {} }, api)).toEqual({ job_ids: [], duplicates: [] });
    await untilIdle();
    expect([one, two].map(({ requests }) => eventPayload(requests[0]))).toEqual([{ n: 1 }, { n: 1 }]);
  });

  it("reaches the next step as the step before emitted it, with where it comes from", async () => {
    const [first, second] = [
      plugin("first", () => ({ result: "Read.", events: [{ type: "page", payload: { n: 1 } }] })),
      plugin("second"),
    ];
    const { gateway, untilIdle } = await openGateway({
      plugins: [first, second],
      config: { pipelines: [on("mail", { id: "a", uses: "first" }, { id: "b", uses: "second" })] },
    });
    await gateway.emit({ type: "mail", payload: {} }, api);
    await untilIdle();
    const [request] = second.requests;
    expect(request?.event).toMatchObject({ type: "page", source: "first" });
    expect(eventPayload(request)).toEqual({
      ...{ n: 1, result: "Read.", ductile_upstream_plugin: "first" },
      ...{ ductile_upstream_pipeline: "mail", ductile_upstream_step_id: "a" },
    });
    expect(request?.context).toMatchObject({
      ...{ ductile_plugin: "second", ductile_pipeline: "mail", ductile_step_id: "b", ductile_route_depth: 1 },
    });
  });

  it("of a plugin that was called directly is routed as well", async () => {
    const [source, listener] = [plugin("source", emits("mail")), plugin("listener")];
    const config = { pipelines: [on("mail", { uses: "listener" })] };
    const { gateway, endedTree } = await openGateway({ plugins: [source, listener], config });
    const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["source succeeded", "listener succeeded"]);
    expect(source.requests[0]?.event).toMatchObject({ type: "api.trigger", source: "api" });
  });

  it("goes on in its own instance and starts another one, where both apply", async () => {
    const [first, second, other] = [plugin("first", emits("page")), plugin("second"), plugin("other")];
    const { gateway, endedTree } = await openGateway({
      plugins: [first, second, other],
      config: { pipelines: [on("mail", { uses: "first" }, { uses: "second" }), on("page", { uses: "other" })] },
    });
    const { job_ids } = await gateway.emit({ type: "mail", payload: {} }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["first succeeded", "second succeeded", "other succeeded"]);
  });

  it("runs the steps behind it once for each of several events, in their order", async () => {
    const [first, second] = [plugin("first", emits("a", "b", "c")), plugin("second")];
    const config = { pipelines: [on("mail", { uses: "first" }, { uses: "second" })] };
    const { gateway, untilIdle } = await openGateway({ plugins: [first, second], config });
    await gateway.emit({ type: "mail", payload: {} }, api);
    await untilIdle();
    expect(second.requests.map((request) => eventPayload(request).type)).toEqual(["a", "b", "c"]);
  });

  it("that goes to two steps of one plugin is two jobs", async () => {
    const tool = plugin("tool");
    const config = {
      pipelines: [
        on("mail", {
          split: [
            { id: "a", uses: "tool" },
            { id: "b", uses: "tool" },
          ],
        }),
      ],
    };
    const { gateway, untilIdle } = await openGateway({ plugins: [tool], config });
    await gateway.emit({ type: "mail", payload: {}, dedupe_key: "mail-1" }, api);
    await untilIdle();
    expect(tool.requests.map(({ context }) => context?.ductile_step_id)).toEqual(["a", "b"]);
  });

  it("starts a pipeline only where its trigger says so", async () => {
    const [source, other, tool] = [plugin("source", emits("page")), plugin("other", emits("page")), plugin("tool")];
    const { gateway, untilIdle } = await openGateway({
      plugins: [source, other, tool],
      config: {
        pipelines: [
          { ...on("page", { id: "from", uses: "tool" }), from_plugin: "source" },
          { ...on("page", { id: "if", uses: "tool" }), name: "if", if: { path: "payload.size", op: "eq", value: 4 } },
        ],
      },
    });
    for (const name of ["source", "other"]) await gateway.call(name, "handle", { payload: {} }, api);
    await gateway.emit({ type: "page", payload: { size: 4 } }, api);
    await untilIdle();
    expect(tool.requests.map(({ context }) => context?.ductile_step_id).toSorted()).toEqual(["from", "if"]);
  });
});

describe("a step", () => {
  it("with a condition is left out where it does not hold, and the pipeline goes on with the same event", async () => {
    const [big, last] = [
      plugin("big", () => ({ events: [{ type: "enlarged", payload: { size: 99 } }] })),
      plugin("last"),
    ];
    const { gateway, endedTree } = await openGateway({
      plugins: [big, last],
      config: {
        pipelines: [
          on("mail", { id: "big", uses: "big", if: { path: "payload.size", op: "gt", value: 3 } }, { uses: "last" }),
        ],
      },
    });
    const small = await gateway.emit({ type: "mail", payload: { size: 1 } }, api);
    const large = await gateway.emit({ type: "mail", payload: { size: 5 } }, api);
    expect(inShort(await endedTree(small.job_ids[0]))).toEqual(["core.switch succeeded", "last succeeded"]);
    expect(inShort(await endedTree(large.job_ids[0]))).toEqual([
      ...["core.switch succeeded", "big succeeded", "last succeeded"],
    ]);
    expect(last.requests.map((request) => eventPayload(request).size)).toEqual([1, 99]);
  });

  it("with a condition on values of the wrong type fails, and nothing behind it runs", async () => {
    const tool = plugin("tool");
    const step = { uses: "tool", if: { path: "payload.size", op: "gt", value: 3 } };
    const { gateway, endedTree } = await openGateway({ plugins: [tool], config: { pipelines: [on("mail", step)] } });
    const { job_ids } = await gateway.emit({ type: "mail", payload: { size: "large" } }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["core.switch failed preflight"]);
    expect(tool.requests).toEqual([]);
  });

  it("may read the configuration of its plugin in its condition", async () => {
    const tool = plugin("tool");
    const step = { uses: "tool", if: { path: "config.mode", op: "eq", value: "on" } };
    const config = { plugins: { tool: { config: { mode: "on" } } }, pipelines: [on("mail", step)] };
    const { gateway, endedTree } = await openGateway({ plugins: [tool], config });
    const { job_ids } = await gateway.emit({ type: "mail", payload: {} }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["core.switch succeeded", "tool succeeded"]);
  });

  it("that splits runs each branch, and what follows once for each of them", async () => {
    const [left, right, last] = [plugin("left"), plugin("right"), plugin("last")];
    const split = [{ uses: "left" }, [{ uses: "right" }, { id: "more", uses: "right" }]];
    const config = { pipelines: [on("mail", { split }, { uses: "last" })] };
    const { gateway, endedTree } = await openGateway({ plugins: [left, right, last], config });
    const { job_ids } = await gateway.emit({ type: "mail", payload: {} }, api);
    const trees = await Promise.all(job_ids.map(endedTree));
    expect(trees.flatMap(inShort).toSorted()).toEqual([
      ...["last succeeded", "last succeeded", "left succeeded", "right succeeded", "right succeeded"],
    ]);
  });

  it("that calls a pipeline goes on when that has ended, with what was carried along", async () => {
    const [first, inner, last] = [plugin("first"), plugin("inner", emits("from inside")), plugin("last")];
    const { gateway, endedTree } = await openGateway({
      plugins: [first, inner, last],
      config: {
        pipelines: [
          on("mail", { uses: "first", baggage: { who: "payload.who" } }, { id: "c", call: "callee" }, { uses: "last" }),
          { name: "callee", on: "never", steps: [{ id: "i", uses: "inner" }] },
        ],
      },
    });
    const { job_ids } = await gateway.emit({ type: "mail", payload: { who: "Ada" } }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["first succeeded", "inner succeeded", "last succeeded"]);
    expect([inner, last].map(({ requests }) => requests[0]?.context?.who)).toEqual(["Ada", "Ada"]);
    expect(last.requests[0]?.event?.type).toBe("from inside");
  });

  it("carries along what it claims, for every later step of its instance and for no other", async () => {
    const [first, second, other] = [plugin("first", emits("page")), plugin("second"), plugin("other")];
    const { gateway, untilIdle } = await openGateway({
      plugins: [first, second, other],
      config: {
        pipelines: [
          on("mail", { uses: "first", baggage: { "who.name": "payload.name" } }, { uses: "second" }),
          on("page", { uses: "other" }),
        ],
      },
    });
    await gateway.emit({ type: "mail", payload: { name: "Ada" } }, api);
    await untilIdle();
    expect(second.requests[0]?.context).toMatchObject({ who: { name: "Ada" } });
    expect(eventPayload(second.requests[0])).toMatchObject({ who: { name: "Ada" } });
    expect(other.requests[0]?.context).not.toHaveProperty("who");
  });

  it("gets the payload that its `with` makes", async () => {
    const tool = plugin("tool");
    const step = { uses: "tool", with: { text: "Dear {payload.name}!", size: "{payload.size}" } };
    const { gateway, untilIdle } = await openGateway({ plugins: [tool], config: { pipelines: [on("mail", step)] } });
    await gateway.emit({ type: "mail", payload: { name: "Ada", size: 3 } }, api);
    await untilIdle();
    expect(eventPayload(tool.requests[0])).toEqual({ name: "Ada", size: 3, text: "Dear Ada!" });
  });

  it("runs the command that it names, with the payload of its event", async () => {
    const tool = plugin("tool", () => "ok", { commands: ["handle", "measure"] });
    const config = { pipelines: [on("mail", { uses: "tool", command: "measure" })] };
    const { gateway, untilIdle } = await openGateway({ plugins: [tool], config });
    await gateway.emit({ type: "mail", payload: { size: 3 } }, api);
    await untilIdle();
    expect(tool.requests).toMatchObject([{ command: "measure", payload: { size: 3 } }]);
    expect(tool.requests[0]).not.toHaveProperty("event");
  });

  it("has a timeout and retries of its own, before those of its plugin", async () => {
    const tool = silentPlugin("tool");
    const step = { uses: "tool", timeout: "5ms", retry: { max_attempts: 2, backoff: "1ms" } };
    const { gateway, endedTree } = await openGateway({ plugins: [tool], config: { pipelines: [on("mail", step)] } });
    const { job_ids } = await gateway.emit({ type: "mail", payload: {} }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["tool timed_out timeout #2"]);
    expect(tool.requests).toHaveLength(2);
  });

  it("that fails hands nothing on", async () => {
    const [first, second] = [plugin("first", fail("no")), plugin("second")];
    const config = { pipelines: [on("mail", { uses: "first" }, { uses: "second" })] };
    const { gateway, endedTree } = await openGateway({ plugins: [first, second], config });
    const { job_ids } = await gateway.emit({ type: "mail", payload: {} }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["first failed plugin_retry_false"]);
  });
});

describe("scenario 41: a path that is missing", () => {
  it("in `with` fails the job before it is executed", async () => {
    const tool = plugin("tool");
    const step = { uses: "tool", with: { m: "{payload.missing}" } };
    const { gateway, endedTree } = await openGateway({ plugins: [tool], config: { pipelines: [on("mail", step)] } });
    const { job_ids } = await gateway.emit({ type: "mail", payload: {} }, api);
    const [job] = await endedTree(job_ids[0]);
    expect(job).toMatchObject({ status: "failed", reason: "preflight", attempt: 1 });
    expect(job?.last_error).toContain("payload.missing");
    expect(tool.requests).toEqual([]);
  });

  it("in `baggage` fails the job that emitted the event, and nothing of its answer takes effect", async () => {
    const states: unknown[] = [];
    const source = plugin("source", ({ state }) => {
      states.push(state);
      return { events: [{ type: "mail", payload: {} }], state_updates: { counted: true } };
    });
    const tool = plugin("tool");
    const step = { uses: "tool", baggage: { who: "payload.missing" } };
    const { gateway, endedTree } = await openGateway({
      plugins: [source, tool],
      config: { pipelines: [on("mail", step)] },
    });
    for (let count = 0; count < 2; count++) {
      const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
      const tree = await endedTree(job_ids[0]);
      expect(inShort(tree)).toEqual(["source failed apply_failed"]);
      expect(tree[0]?.last_error).toContain("payload.missing");
    }
    expect(states).toEqual([{}, {}]);
    expect(tool.requests).toEqual([]);
  });

  it("in `baggage` refuses an event from outside", async () => {
    const step = { uses: "tool", baggage: { who: "payload.missing" } };
    const { gateway } = await openGateway({ plugins: [plugin("tool")], config: { pipelines: [on("mail", step)] } });
    await expect(gateway.emit({ type: "mail", payload: {} }, api)).rejects.toMatchObject({ code: "invalid_event" });
  });
});

describe("routing is refused, and fails the job with its state", () => {
  it("where a pipeline goes deeper than its max_depth; the event stream says so", async () => {
    const [first, second] = [plugin("first"), plugin("second")];
    const steps = [{ uses: "first" }, { uses: "second" }, { uses: "first" }];
    const ends: unknown[] = [];
    for (const max_depth of [1, 2, 0]) {
      const config = { pipelines: [{ ...on("mail", ...steps), max_depth }] };
      const { gateway, endedTree, stream } = await openGateway({ plugins: [first, second], config });
      const { job_ids } = await gateway.emit({ type: "mail", payload: {} }, api);
      const last = inShort(await endedTree(job_ids[0])).at(-1);
      ends.push([last, (await stream()).filter(({ type }) => type === "router.depth_exceeded").length]);
    }
    expect(ends).toEqual([
      ["second failed apply_failed", 1],
      ["first succeeded", 0],
      ["first succeeded", 0],
    ]);
  });

  it("where baggage would change what is carried along already", async () => {
    const [first, second] = [
      plugin("first", () => ({ events: [{ type: "x", payload: { who: "Bob" } }] })),
      plugin("second"),
    ];
    const steps = [
      { uses: "first", baggage: { who: "payload.who" } },
      { uses: "second", baggage: { who: "payload.who" } },
    ];
    const { gateway, endedTree } = await openGateway({
      ...{ plugins: [first, second], config: { pipelines: [{ name: "mail", on: "mail", steps }] } },
    });
    const { job_ids } = await gateway.emit({ type: "mail", payload: { who: "Ada" } }, api);
    const [job] = await endedTree(job_ids[0]);
    expect(job).toMatchObject({ status: "failed", reason: "apply_failed" });
    expect(job?.last_error).toContain("who");
  });

  it("where a run would start another run: the tool fails, and its own run hears of it", async () => {
    const tool = plugin("tool", () => ({ events: [{ type: "agentic.start", payload: { goal: "Another one." } }] }));
    const { run, gateway } = await openGateway({
      ...{ plugins: [tool], tools: ["tool"], script: [{ tool: "tool" }] },
      config: { pipelines: [on("agentic.start", { uses: "agentic-loop" })] },
    });
    const { run: ended, tree } = await run();
    expect(inShort(tree)).toEqual(["agentic-loop succeeded", "tool failed apply_failed", "agentic-loop succeeded"]);
    expect(ended).toMatchObject({ status: "escalated", reason: "tool_error" });
    expect(await gateway.runs.list()).toHaveLength(1);
  });
});

describe("pipelines of dead letters", () => {
  it("start with every job that ends without success, and say what it was and with which event", async () => {
    const [tool, morgue] = [plugin("tool", fail("It is broken.")), plugin("morgue")];
    const { gateway, endedTree } = await openGateway({
      plugins: [tool, morgue],
      config: { pipelines: [on("mail", { id: "t", uses: "tool" }), on("dead_letter", { uses: "morgue" })] },
    });
    const { job_ids } = await gateway.emit({ type: "mail", payload: { n: 1 } }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["tool failed plugin_retry_false", "morgue succeeded"]);
    expect(eventPayload(morgue.requests[0])).toMatchObject({
      ...{ job_id: job_ids[0], plugin: "tool", command: "handle", pipeline: "mail", step_id: "t", status: "failed" },
      ...{ error: "It is broken.", reason: "plugin_retry_false", event: { type: "mail", payload: { n: 1 } } },
    });
  });

  it("start with none of their own jobs", async () => {
    const [tool, morgue] = [plugin("tool", fail("It is broken.")), plugin("morgue", fail("So is this."))];
    const { gateway, endedTree } = await openGateway({
      plugins: [tool, morgue],
      config: { pipelines: [on("mail", { uses: "tool" }), on("dead_letter", { uses: "morgue" })] },
    });
    const { job_ids } = await gateway.emit({ type: "mail", payload: {} }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual([
      ...["tool failed plugin_retry_false", "morgue failed plugin_retry_false"],
    ]);
  });

  it("start once a job has used up its attempts, and not before", async () => {
    const tool = plugin("tool", () => {
      throw new Error("Not yet.");
    });
    const morgue = plugin("morgue");
    const { gateway, endedTree } = await openGateway({
      plugins: [tool, morgue],
      config: {
        plugins: { tool: { retry: { max_attempts: 3, backoff_base: "1ms" } } },
        pipelines: [on("dead_letter", { uses: "morgue" })],
      },
    });
    const { job_ids } = await gateway.call("tool", "handle", { payload: {} }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["tool failed plugin_error #3", "morgue succeeded"]);
  });
});

describe("lifecycle hooks", () => {
  const pipelines = [
    { name: "completed", "on-hook": "job.completed", steps: [{ uses: "watcher" }] },
    { name: "failed", "on-hook": "job.failed", steps: [{ uses: "watcher" }] },
    { name: "timed out", on_hook: "job.timed_out", steps: [{ uses: "watcher" }] },
  ];
  const notifying = { notify_on_complete: true };

  it("start for jobs from outside whose plugin wants them, as trees of their own below the job", async () => {
    const watcher = plugin("watcher");
    const { gateway, untilIdle } = await openGateway({
      plugins: [plugin("good", () => "Well."), plugin("bad", fail("Ill.")), silentPlugin("slow"), watcher],
      config: {
        pipelines,
        plugins: {
          ...{ good: notifying, bad: notifying },
          slow: { ...notifying, timeouts: { handle: "5ms" }, retry: { max_attempts: 1 } },
        },
      },
    });
    const ids: (string | undefined)[] = [];
    for (const name of ["good", "bad", "slow"]) {
      ids.push((await gateway.call(name, "handle", { payload: {} }, api)).job_ids[0]);
    }
    await untilIdle();
    expect(watcher.requests.map(eventPayload)).toMatchObject([
      { job_id: ids[0], plugin: "good", command: "handle", status: "succeeded", result: "Well." },
      { job_id: ids[1], plugin: "bad", status: "failed", error: "Ill.", reason: "plugin_retry_false" },
      { job_id: ids[2], plugin: "slow", status: "timed_out", reason: "timeout" },
    ]);
    const hooks = await gateway.jobs.list({ plugin: "watcher", limit: 9 });
    expect(hooks.map(({ parent_job_id }) => parent_job_id).toSorted()).toEqual(ids.toSorted());
    expect(hooks.every(({ id, root_job_id, submitted_by }) => id === root_job_id && submitted_by === "hook")).toBe(
      true,
    );
    expect(await gateway.jobs.tree(ids[0] ?? "")).toHaveLength(1);
  });

  it("follow from one another, at most hook_max_depth of them; the stream says where the chain ends", async () => {
    const chain = async (service: object) => {
      const watcher = plugin("watcher");
      const { gateway, untilIdle, stream, logs } = await openGateway({
        plugins: [plugin("good"), watcher],
        config: { service, pipelines, plugins: { good: notifying, watcher: notifying } },
      });
      await gateway.call("good", "handle", { payload: {} }, api);
      await untilIdle();
      const hooks = await gateway.jobs.list({ plugin: "watcher", limit: 20 });
      expect(hooks.every(({ id, root_job_id }) => id === root_job_id)).toBe(true);
      const refused = (await stream()).filter(({ type }) => type === "router.depth_exceeded");
      const warned = logs.filter(({ message }) => message.includes("starts nothing"));
      return { about: watcher.requests.map((each) => eventPayload(each).plugin), refused, warned: warned.length };
    };
    const [watchers, end] = [Array.from({ length: 3 }, () => "watcher"), { type: "router.depth_exceeded" }];
    expect(await chain({})).toMatchObject({
      about: ["good", ...watchers],
      refused: [{ ...end, data: { plugin: "watcher", hook: "job.completed" } }],
      warned: 1,
    });
    expect(await chain({ hook_max_depth: 1 })).toMatchObject({ about: ["good"], refused: [end] });
    expect(await chain({ hook_max_depth: 0 })).toMatchObject({ about: [], refused: [{ data: { plugin: "good" } }] });
  });

  it("start for no step of a pipeline, also one that a hook has begun, and for no plugin that has not asked", async () => {
    const watcher = plugin("watcher");
    const { gateway, untilIdle } = await openGateway({
      plugins: [plugin("step"), plugin("quiet"), watcher],
      config: {
        pipelines: [
          { name: "completed", "on-hook": "job.completed", steps: [{ uses: "quiet" }, { uses: "watcher" }] },
          on("mail", { uses: "step" }),
        ],
        plugins: { step: notifying, watcher: notifying },
      },
    });
    await gateway.emit({ type: "mail", payload: {} }, api);
    await gateway.call("quiet", "handle", { payload: {} }, api);
    await untilIdle();
    expect(watcher.requests).toEqual([]);
    await gateway.call("step", "handle", { payload: {} }, api);
    await untilIdle();
    expect(watcher.requests).toHaveLength(1);
  });
});

describe("routes", () => {
  it("of the older form are pipelines with one step, for events of one plugin", async () => {
    const [source, other, target] = [plugin("source", emits("page")), plugin("other", emits("page")), plugin("target")];
    const { gateway, untilIdle } = await openGateway({
      plugins: [source, other, target],
      config: { routes: [{ from: "source", event_type: "page", to: "target" }] },
    });
    expect(gateway.warnings().map(({ message }) => message)).toContainEqual(expect.stringContaining("older form"));
    for (const name of ["source", "other"]) await gateway.call(name, "handle", { payload: {} }, api);
    await untilIdle();
    expect(target.requests.map(({ event }) => event?.source)).toEqual(["source"]);
  });
});

describe("events from outside", () => {
  it.each([
    ...["agentic.tool_result", "agentic.tool_request.tool", "agent.completed", "dead_letter", "ductile.step.succeeded"],
    ...["job.completed", " Agentic.Tool_Result "],
  ])("cannot be of the reserved type %j", async (type) => {
    const tool = plugin("tool");
    const { gateway, untilIdle } = await openGateway({
      plugins: [tool],
      config: { pipelines: [on(type.trim(), { uses: "tool" })] },
    });
    await expect(gateway.emit({ type, payload: {} }, api)).rejects.toMatchObject({ code: "event_reserved" });
    await expect(gateway.runPipeline(type.trim(), { payload: {} }, api)).rejects.toMatchObject({
      code: "event_reserved",
    });
    await untilIdle();
    expect(tool.requests).toEqual([]);
  });
});
