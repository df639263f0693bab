// Promise: whoever traces sees every run, step, call to a model and tool in one trace, also when a run goes on in another
// process; nobody sees what was said; and nothing that a tracer does changes a run.
import { readFileSync } from "node:fs";
import { context, SpanKind, type Tracer, type TracerProvider, trace } from "@opentelemetry/api";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace-base";
import { Hono } from "hono";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { createHoldfast } from "../src/holdfast.ts";
import type { Model } from "../src/models/model.ts";
import { ModelFailure } from "../src/models/model-failure.ts";
import { calls, callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { tracing } from "../src/server/tracing.ts";
import { type Agent, type AgentDefinition, agent } from "../src/threads/agent.ts";
import { attribute, carried, carriedByEvent, event } from "../src/threads/telemetry/names.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, type World } from "./databases.ts";
import { contextManager, everythingTold, recordSpans, stopTracing } from "./recorded-spans.ts";
import { actor, creates, finishes, lead, staying, worker } from "./standard-agents/team.ts";

const usage = { prompt_tokens: 100, cached_tokens: 40, completion_tokens: 10, reasoning_tokens: 3, total_tokens: 110 };
const busy = () => new ModelFailure("model_unavailable", "Busy with the password of Ada.", { status: 503 });

const peek = tool({ name: "shop/peek", description: "Looks.", execute: () => "seen" });

const clerk = (model: NonNullable<AgentDefinition["model"]>, parts: Partial<AgentDefinition> = {}): Agent =>
  agent({ slug: "clerk", model, retry: { backoffMs: 1 }, tools: [peek], ...parts });

/** Nothing is told under a name that the table does not list. */
function expectKnownNames(spans: readonly ReadableSpan[]): void {
  for (const { name, attributes, events } of spans) {
    const may = carried[name.split(" ")[0] as keyof typeof carried];
    expect(Object.keys(attributes).filter((key) => !may.includes(key as never))).toEqual([]);
    for (const each of events) {
      const mayTell = carriedByEvent[each.name as keyof typeof carriedByEvent];
      expect(Object.keys(each.attributes ?? {}).filter((key) => !mayTell.includes(key as never))).toEqual([]);
    }
  }
}

const named = (model: Model, name = "openai/gpt-5") => ({ model, name });

/** Sends a message to a thread of an agent and closes the runtime, so that every span has ended. */
async function played(world: World, made: Agent | readonly Agent[], slug = "clerk") {
  const holdfast = await world.open(made);
  const thread = await holdfast.threads.open("t", { agent: slug });
  const outcome = await thread.send("The password of Ada is hunter2.");
  await holdfast.close();
  return { threadId: thread.id, outcome };
}

/** The attributes of a span by the names that the code has for them, without those that all have in common. */
function attributesOf({ attributes }: ReadableSpan): Record<string, unknown> {
  const { conversation: _conversation, thread: _thread, ...names } = attribute;
  const found = Object.entries(names).map(([name, key]) => [name, attributes[key]]);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

eachDatabase((newWorld) => {
  it("tells of a run, its steps, its calls to the model and its tools", async () => {
    const spans = recordSpans();
    const script = scriptedModel([
      callsTool("shop/peek", { at: "hunter2" }, { id: "call-1" }),
      says("Hello.", { usage }),
    ]);
    const { threadId } = await played(await newWorld(), clerk(named(script)));

    expect(spans.tree()).toEqual([
      "invoke_agent clerk = completed",
      "· step",
      "· · chat gpt-5 = answered",
      "· · execute_tool shop/peek = returned",
      "· step",
      "· · chat gpt-5 = answered",
    ]);
    const [run, first, , ran, , last] = spans.ended() as [ReadableSpan, ...ReadableSpan[]];
    expect(run.attributes).toEqual({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.conversation.id": threadId,
      "gen_ai.agent.name": "clerk",
      "gen_ai.provider.name": "openai",
      "holdfast.thread.id": threadId,
      "holdfast.run": 1,
      "holdfast.outcome": "completed",
    });
    const shared = { agent: "clerk", run: 1 };
    expect(attributesOf(first as ReadableSpan)).toEqual({ ...shared, step: 1 });
    expect(attributesOf(ran as ReadableSpan)).toEqual({
      ...{ ...shared, step: 1, operation: "execute_tool", outcome: "returned" },
      ...{ toolName: "shop/peek", toolCallId: "call-1", toolType: "function" },
    });
    expect(attributesOf(last as ReadableSpan)).toEqual({
      ...{ ...shared, step: 2, operation: "chat", outcome: "answered", attempt: 1, purpose: "answer" },
      ...{ provider: "openai", requestModel: "gpt-5", requestStream: true, timeToFirstChunk: expect.any(Number) },
      ...{ inputTokens: 100, cachedTokens: 40, outputTokens: 10, reasoningTokens: 3 },
    });
    expect(last?.events.map(({ name }) => name)).toEqual([event.firstToken]);
    expect([run.kind, last?.kind]).toEqual([SpanKind.INTERNAL, SpanKind.CLIENT]);
    expectKnownNames(spans.ended());
    expect(everythingTold(spans.ended())).not.toContain("hunter2");
  });

  it("tells of every attempt, whose model it was, and why it failed", async () => {
    const spans = recordSpans();
    let asked = 0;
    const first: Model = () => {
      asked++;
      throw busy();
    };
    const second: Model = () => ({
      ...says("Here I am."),
      request_metadata: { provider_id: "anthropic", model_id: "claude-sonnet-5-1", finish_reason: "stop" },
    });
    const models = [named(first), named(second, "anthropic.messages/claude-sonnet-5")];
    await played(await newWorld(), clerk(models, { retry: { backoffMs: 1, attempts: 2 } }));

    expect(asked).toBe(2);
    // The thread is laid down between two attempts; whoever takes it up goes on below the first.
    expect(spans.tree().filter((line) => line.includes("chat"))).toEqual([
      expect.stringMatching(/chat gpt-5 = failed ! model_unavailable$/),
      expect.stringMatching(/chat gpt-5 = failed ! model_unavailable$/),
      expect.stringMatching(/chat claude-sonnet-5 = answered$/),
    ]);
    const attempts = spans.ended().filter(({ name }) => name.startsWith("chat"));
    expect(attempts.map((span) => attributesOf(span).attempt)).toEqual([1, 2, 1]);
    expect(attributesOf(attempts[2] as ReadableSpan)).toMatchObject({
      ...{ provider: "anthropic", responseModel: "claude-sonnet-5-1", finishReasons: ["stop"] },
    });
    expect(new Set(spans.ended().map((span) => span.spanContext().traceId)).size).toBe(1);
    expectKnownNames(spans.ended());
    expect(everythingTold(spans.ended())).not.toContain("Ada");
  });

  it("goes on in the same trace when a run waits, and another process takes it up", async () => {
    const spans = recordSpans();
    const world = await newWorld();
    const refund = tool({
      ...{ name: "shop/refund", description: "Refunds.", actionPolicy: "preview", sensitive: ["card"] },
      inputSchema: z.object({ card: z.string() }),
      execute: () => "refunded",
    });
    const script = () => scriptedModel([callsTool("shop/refund", { card: "4111-1111" }), says("Done.")]);
    const { outcome } = await played(world, clerk(script(), { tools: [refund] }));
    const requestId = String(outcome.waiting_for?.request_id);

    const next = await world.open(clerk(script(), { tools: [refund] }));
    await next.requests.submit(requestId, { decision: "accepted" });
    await (await next.threads.open("t", { agent: "clerk" })).wait();
    await next.close();

    expect(spans.tree()).toEqual([
      "invoke_agent clerk = approval_required (holdfast.waiting)",
      "· step",
      "· · chat a function = answered",
      "· invoke_agent clerk = completed (holdfast.resumed)",
      "· · step",
      "· · · execute_tool shop/refund = returned",
      "· · step",
      "· · · chat a function = answered",
    ]);
    const [waited, resumed] = spans.named("invoke_agent clerk");
    expect(waited?.events[0]?.attributes).toEqual({
      "holdfast.request.id": requestId,
      "holdfast.request.kind": "approval",
      "gen_ai.tool.name": "shop/refund",
    });
    expect(resumed?.events[0]?.attributes).toEqual({
      "holdfast.request.id": requestId,
      "holdfast.outcome": "answered",
    });
    expectKnownNames(spans.ended());
    expect(everythingTold(spans.ended())).not.toContain("4111-1111");
  });

  it("tells of a subagent below the tool that asked for it, and of the parent's wait as an event", async () => {
    const spans = recordSpans();
    const team = [
      lead(actor(creates(), "Done.").model, [staying("worker")]),
      worker(actor(finishes("I know hunter2.")).model),
    ];
    await played(await newWorld(), team, "lead");

    expect(spans.tree()).toEqual([
      "invoke_agent lead = runtime_tool_pending (holdfast.waiting)",
      "· step",
      "· · chat a function = answered",
      "· · execute_tool standard/subagent_create = waiting",
      "· · · invoke_agent worker = completed",
      "· · · · step",
      "· · · · · chat a function = answered",
      "· · · · · execute_tool standard/finish = returned",
      "· invoke_agent lead = completed (holdfast.resumed)",
      "· · step",
      "· · · chat a function = answered",
    ]);
    expect(everythingTold(spans.ended())).not.toContain("hunter2");
  });

  it("tells of tools that fail by their code alone, and that the run fails by its own", async () => {
    const spans = recordSpans();
    const breaks = tool({
      ...{ name: "shop/break", description: "Breaks." },
      execute() {
        throw new Error("hunter2 is wrong");
      },
    });
    const refuses = tool({
      ...{ name: "shop/refuse", description: "Refuses." },
      execute: () => ({ success: false, error: "no hunter2 left", metadata: { error_type: "out_of_stock" } }),
    });
    const leaks = tool({
      ...{ name: "shop/leak", description: "Leaks.", sensitive: ["card"], inputSchema: z.object({ card: z.string() }) },
      execute: ({ card }) => ({ success: false, error: "no", metadata: { error_type: card } }),
    });
    const script = [
      calls(callsTool("shop/break"), callsTool("shop/refuse"), callsTool("shop/leak", { card: "4111-1111" })),
    ];
    const { outcome } = await played(
      await newWorld(),
      clerk(scriptedModel(script), { tools: [breaks, refuses, leaks], retry: { attempts: 1 } }),
    );

    expect(outcome.status).toBe("failed");
    expect(spans.tree()).toEqual([
      "invoke_agent clerk = failed ! script_ended",
      "· step",
      "· · chat a function = answered",
      "· · execute_tool shop/break = failed ! executor_exception",
      "· · execute_tool shop/refuse = failed ! out_of_stock",
      "· · execute_tool shop/leak = failed ! _OTHER",
      "· step",
      "· · chat a function = failed ! script_ended",
    ]);
    const told = everythingTold(spans.ended());
    for (const secret of ["hunter2", "4111-1111"]) expect(told).not.toContain(secret);
  });

  it("tells of tools that are queued, that the client runs, and that code runs", async () => {
    const spans = recordSpans();
    const world = await newWorld();
    const look = tool({ name: "look", description: "Looks.", execute: () => ({ status: "success", result: "seen" }) });
    const think = tool({
      ...{ name: "think", description: "Has another tool run." },
      execute: async (_, { state }) => await state.invokeTool("look", {}),
    });
    const ask = tool({ name: "client/ask", description: "Asks the client." });
    const model = scriptedModel([callsTool("client/ask", {}), says("Done.")]);
    const holdfast = await world.open(clerk(model, { tools: [look, think, ask] }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    await thread.queueTool("standard/think", {});
    const outcome = await thread.wait();
    await holdfast.requests.submit(String(outcome?.waiting_for?.request_id), { result: "yes" });
    await thread.wait();
    await holdfast.close();

    expect(spans.tree()).toEqual([
      "invoke_agent clerk = runtime_tool_pending (holdfast.waiting)",
      "· step",
      "· · execute_tool standard/think = returned",
      "· · · execute_tool standard/look = returned",
      "· step",
      "· · chat a function = answered",
      "· · execute_tool client/ask = waiting",
      "· invoke_agent clerk = completed (holdfast.resumed)",
      "· · step",
      "· · · chat a function = answered",
    ]);
  });

  it("hangs a run below whoever sent the message, and what tools trace below the tool", async () => {
    const spans = recordSpans();
    const traces = tool({
      ...{ name: "shop/trace", description: "Traces." },
      execute: () => trace.getTracer("shop").startSpan("select").end(),
    });
    const model = scriptedModel([callsTool("shop/trace", {}), says("Done.")]);
    const holdfast = await (await newWorld()).open(clerk(model, { tools: [traces] }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    const app = new Hono<never>();
    app.use(tracing as never);
    app.post("/", async (request) => {
      await thread.send("Go.");
      return request.text("ok");
    });
    const caller = spans.tracer.startSpan("caller");
    const { traceId, spanId } = caller.spanContext();
    caller.end();
    const answer = await app.request("/", {
      method: "POST",
      headers: { traceparent: `00-${traceId}-${spanId}-01` },
    });
    expect(await answer.text()).toBe("ok");
    await holdfast.close();

    expect(spans.tree()).toEqual([
      "caller",
      "· invoke_agent clerk = completed",
      "· · step",
      "· · · chat a function = answered",
      "· · · execute_tool shop/trace = returned",
      "· · · · select",
      "· · step",
      "· · · chat a function = answered",
    ]);
  });
});

describe("whatever a tracer does", () => {
  const again = () => {
    throw new Error("tracer");
  };
  const rejects = async () => again();

  /** A tracer whose spans do whatever is asked of them in this way. */
  const spansThat = (act: () => unknown): Tracer => {
    const real = { traceId: "1".repeat(32), spanId: "2".repeat(16), traceFlags: 1 };
    const span = new Proxy({}, { get: (_, name) => (name === "spanContext" ? () => real : act) });
    return { startSpan: () => span } as never;
  };
  const asContext = (manager: object) => ({ ...contextManager(), ...manager }) as never;
  const providing = (tracer: Tracer): TracerProvider => ({ getTracer: () => tracer });
  const exporting = (exporter: Partial<SpanExporter>) => () =>
    void recordSpans({ exporter: { shutdown: async () => undefined, export: () => undefined, ...exporter } });

  const registering: Readonly<Record<string, () => void>> = {
    "does what it should": () => void recordSpans(),
    "gives no tracer": () => trace.setGlobalTracerProvider({ getTracer: again }),
    "begins no span": () => trace.setGlobalTracerProvider(providing({ startSpan: again } as never)),
    "promises spans and breaks it": () => trace.setGlobalTracerProvider(providing({ startSpan: rejects } as never)),
    "has spans that are nothing": () => trace.setGlobalTracerProvider(providing({ startSpan: () => null } as never)),
    "has spans that throw": () => trace.setGlobalTracerProvider(providing(spansThat(again))),
    "has spans that reject": () => trace.setGlobalTracerProvider(providing(spansThat(rejects))),
    "has spans that never come back": () =>
      trace.setGlobalTracerProvider(providing(spansThat(() => new Promise(() => undefined)))),
    "exports to somebody who throws": exporting({ export: again }),
    "exports to somebody who hangs": exporting({}),
    "loses the context before": () => {
      recordSpans();
      context.disable();
      context.setGlobalContextManager(asContext({ with: again, active: again }));
    },
    "loses the context behind": () => {
      recordSpans();
      context.disable();
      context.setGlobalContextManager(asContext({ with: (_: unknown, work: () => unknown) => [work(), again()] }));
    },
    "does everything twice": () => {
      recordSpans();
      context.disable();
      context.setGlobalContextManager(asContext({ with: (_: unknown, work: () => unknown) => [work(), work()] }));
    },
  };

  const unreadable = Object.defineProperty({}, "success", { get: again, enumerable: true });

  /** A run with tools, a call that fails, and an attempt that does; and all that is to be read of it. */
  async function story() {
    let ran = 0;
    let asked = 0;
    const counts = tool({ name: "shop/count", description: "Counts.", execute: () => ++ran });
    const odd = tool({ name: "shop/odd", description: "Returns what cannot be looked at.", execute: () => unreadable });
    const both = calls(callsTool("shop/count", {}), callsTool("shop/odd", {}));
    const script = scriptedModel([both, callsTool("shop/none", {}), says("Done.")]);
    const model: Model = (messages, about, options) => {
      if (asked++ === 0) throw busy();
      return script(messages, about, options);
    };
    const driver = sqlite(":memory:");
    const holdfast = await createHoldfast({ backend: driver, agents: [clerk(model, { tools: [counts, odd] })] });
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    const { status, final_content, turn_count, usage: used } = await thread.send("Go.");
    const messages = (await thread.messages()).map(({ message: { role, type, content } }) => ({ role, type, content }));
    await holdfast.close();
    return { status, final_content, turn_count, used, messages, ran, asked };
  }

  it.each(Object.keys(registering))("the run is the one that nobody traces, also when it %s", async (how) => {
    const untraced = await story();
    expect(untraced).toMatchObject({ status: "completed", ran: 1, asked: 4 });
    registering[how]?.();
    onTestFinished(stopTracing);

    expect(await story()).toEqual(untraced);
  });
});

describe("the page about it", () => {
  const page = readFileSync(new URL("../docs/concepts/telemetry.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `(\w+\.\S+)` \| (.+) \|$/gm)].map(([, name = "", cells = ""]) => [
    name,
    cells.split(" | ").flatMap((cell) => [...cell.matchAll(/`([\w.]+)`/g)].map(([, each = ""]) => each)),
  ]);
  const table = new Map(rows as [string, string[]][]);

  it("names every attribute with the spans and events that carry it", () => {
    const carriers = { ...carried, ...carriedByEvent };
    const expected = Object.values(attribute).map((name) => [
      name,
      Object.entries(carriers).flatMap(([carrier, names]) => (names.includes(name) ? [carrier] : [])),
    ]);
    expect([...table]).toEqual(expected);
  });
});
