// Models of real provider packages, asked over real HTTP: what they are sent, what they answer, and everything that can
// go wrong in between.
import { describe, expect, it, onTestFinished } from "vitest";
import { type Message, text, toolCall, toolResult } from "../src/contracts/conversation/message.ts";
import * as declaration from "../src/contracts/tools/declaration.ts";
import { type AiSdkSettings, aiSdkModel } from "../src/models/ai-sdk/ai-sdk-model.ts";
import type { ModelAnswer, ModelDelta, ModelOptions } from "../src/models/model.ts";
import type { AiSdkModel } from "../src/models/model-choice.ts";
import type { ModelFailure } from "../src/models/model-failure.ts";
import { type AgentDefinition, agent } from "../src/threads/agent.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, type World } from "./databases.ts";
import { inShort } from "./held.ts";
import { heldTimeouts } from "./held-timeouts.ts";
import { type ProviderServer, startProviderServer } from "./provider-server.ts";
import { anthropic, apiKey, olderOpenai, openai, type Provider } from "./provider-server-models.ts";
import type { Reply } from "./provider-server-reply.ts";

async function serverFor(...script: readonly Reply[]): Promise<ProviderServer> {
  const server = await startProviderServer({ script });
  onTestFinished(() => server.close());
  return server;
}

const peekDeclaration = declaration.normalizeForServer({
  name: "shop/peek",
  source: "shop",
  description: "Looks.",
  parameters: { type: "object", properties: { shelf: { type: "integer" } } },
});
const tools = { "shop/peek": peekDeclaration };

const whole: Reply = {
  reasoning: "Where is it?",
  text: "Let me look.",
  calls: [
    { id: "call_a", name: "shop__peek", input: { shelf: 3 } },
    { id: "call_b", name: "shop__peek", input: { shelf: 4 } },
  ],
  usage: { input: 20, output: 9, cached: 8 },
};

async function ask(
  model: AiSdkModel,
  options: Partial<ModelOptions> & { readonly messages?: Message[] } = {},
  settings: AiSdkSettings = {},
): Promise<ModelAnswer> {
  const { messages = [text("user", "Where is it?")], ...more } = options;
  return (await aiSdkModel(model, settings)(messages, {}, { tools, ...more })) as ModelAnswer;
}

/** A length that no other timer has. */
const STALL_MS = 54_321;

async function failing(asking: Promise<unknown>): Promise<ModelFailure> {
  return await asking.then(
    () => expect.fail("It answered."),
    (thrown) => thrown as ModelFailure,
  );
}

describe.each([openai, olderOpenai, anthropic])("$title", ({ protocol, model }) => {
  it("streams an answer with thoughts, words, calls and their cost", async () => {
    const server = await serverFor(whole);
    const told: ModelDelta[] = [];

    const answer = await ask(model(server), { onDelta: (delta) => told.push(delta) });

    expect(answer).toMatchObject({
      content: "Let me look.",
      tool_calls: [
        { id: "call_a", name: "shop/peek", parameters: { shelf: 3 } },
        { id: "call_b", name: "shop/peek", parameters: { shelf: 4 } },
      ],
      usage: { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29, cached_tokens: 8 },
      request_metadata: { model_id: "test-model", finish_reason: "tool-calls" },
      message_metadata: { reasoning: [{ text: "Where is it?" }] },
    });
    const joined = (type: string) => told.flatMap((delta) => (delta.type === type ? [delta.text] : [])).join("");
    expect([joined("reasoning"), joined("text"), joined("tool_input")]).toEqual([
      "Where is it?",
      "Let me look.",
      '{"shelf":3}{"shelf":4}',
    ]);
  });

  it("is told its instructions, the tools and how long the answer may be, with the key", async () => {
    const server = await serverFor(whole);

    await ask(model(server), { instructions: "Be brief.", maxOutputTokens: 70 }, { temperature: 0.5 });

    const { body, headers } = server.requests[0] ?? {};
    const { name, description, input_schema } =
      protocol === "anthropic"
        ? body.tools[0]
        : { ...body.tools[0].function, input_schema: peekDeclaration.parameters };
    expect({ name, description, input_schema }).toEqual({
      name: "shop__peek",
      description: "Looks.",
      input_schema: peekDeclaration.parameters,
    });
    expect(body).toMatchObject({ max_tokens: 70, temperature: 0.5, stream: true });
    expect(JSON.stringify(protocol === "anthropic" ? body.system : body.messages[0])).toContain("Be brief.");
    expect(headers?.authorization ?? headers?.["x-api-key"]).toContain(apiKey);
  });

  it("is told to call a tool, and only one", async () => {
    const server = await serverFor(whole);

    await ask(model(server), { toolChoice: "required", parallelToolCalls: false });

    const { tool_choice, parallel_tool_calls } = server.requests[0]?.body ?? {};
    expect({ tool_choice, parallel_tool_calls }).toEqual(
      protocol === "anthropic"
        ? { tool_choice: { type: "any", disable_parallel_tool_use: true } }
        : { tool_choice: "required", parallel_tool_calls: false },
    );
  });

  it("is told what form its last words are to have, in words if not otherwise", async () => {
    const server = await serverFor({ text: '{"shelf":3}' });
    const schema = { type: "object", properties: { shelf: { type: "integer" } }, required: ["shelf"] };

    const { content } = await ask(model(server), { output: { name: "place", schema } });

    expect(content).toBe('{"shelf":3}');
    const { body } = server.requests[0] ?? {};
    expect(body.response_format ?? body.output_config.format).toMatchObject({ type: expect.stringMatching("json") });
    expect(protocol === "anthropic" ? body.system[0].text : body.messages[0].content).toContain(JSON.stringify(schema));
  });

  it("is shown a thread that another provider began, in a form that it accepts", async () => {
    const server = await serverFor({ text: "It is there." });
    const id = "functions.peek:0";
    const messages = [
      text("system", "Earlier conversation summary:\n\nThey met."),
      text("user", "Look at these"),
      text("assistant", "I look.", { reasoning: [{ text: "Hm.", provider_id: "other.chat" }] }),
      toolCall({ tool_name: "shop/peek", parameters: { shelf: 3 }, turn: 1, metadata: { tool_call_id: id } }),
      toolResult({
        content: '"gone"',
        tool_name: "shop/peek",
        payload: { success: true },
        metadata: { tool_call_id: id },
      }),
      text("system", "The run was stopped."),
      text("assistant", "Still there?"),
    ];

    await ask(model(server), { messages, instructions: "Be brief." });

    const { body } = server.requests[0] ?? {};
    const roles = body.messages.map(({ role }: { role: string }) => role);
    const sent = JSON.stringify(body);
    expect(sent).toContain("They met.");
    expect(sent).toContain("The run was stopped.");
    expect(sent).not.toContain("Hm.");
    expect(sent).not.toContain(id);
    expect(roles).toEqual(
      protocol === "anthropic"
        ? ["user", "assistant", "user", "assistant", "user"]
        : ["system", "user", "assistant", "tool", "user", "assistant", "user"],
    );
  });

  it.each([
    ["with the seconds to wait", { "retry-after": "7" }, 7],
    ["with the milliseconds to wait", { "retry-after-ms": "250" }, 0.25],
  ])("says when it wants to be asked again: 429 %s", async (_what, headers, retryAfter) => {
    const server = await serverFor({ fault: { status: 429, message: `Slow down, ${apiKey}`, headers } });

    const failure = await failing(ask(model(server)));

    expect(failure).toMatchObject({ code: "model_unavailable", status: 429, retryAfter, hasSpoken: false });
    expect(failure.detail).toContain("Slow down, [redacted]");
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [500, "model_unavailable"],
    [529, "model_unavailable"],
    [401, "model_refused"],
    [404, "model_refused"],
  ])("answers with status %i, and is not asked again by anybody but the run", async (status, code) => {
    const server = await serverFor({ fault: { status, message: "Sorry." } }, whole);

    expect(await failing(ask(model(server)))).toMatchObject({ code, status, hasSpoken: false });
    expect(server.requests).toHaveLength(1);
  });

  it("hangs up without a word, or cannot be reached", async () => {
    const server = await serverFor({ fault: { hangsUp: true } });
    const asked = model(server);

    expect(await failing(ask(asked))).toMatchObject({ code: "model_unavailable", hasSpoken: false });
    await server.close();
    expect(await failing(ask(asked))).toMatchObject({ code: "model_unavailable", hasSpoken: false });
  });

  it.each([
    ["breaks off", { cutAfterBytes: 700 }, true],
    ["breaks off before it begins", { cutAfterBytes: 0 }, false],
    ["ends too early", { endsAfterBytes: 700 }, true],
    ["is empty", { endsAfterBytes: 0 }, false],
    ["begins with something malformed", { malformedAfter: 0 }, false],
    ["holds something malformed", { malformedAfter: 4 }, true],
    ["holds an error", { errorAfter: 4 }, true],
  ])("gives no answer when the stream %s", async (_what, fault, hasSpoken) => {
    const server = await serverFor({ ...whole, fault });

    expect(await failing(ask(model(server)))).toMatchObject({ code: "model_answer_broken", hasSpoken });
  });

  it("hands on a call with invalid JSON as it came", async () => {
    const input = '{"shelf": 3, "why": ';
    const server = await serverFor({ calls: [{ id: "call_a", name: "shop__peek", input }] });

    const { tool_calls } = await ask(model(server));

    expect(tool_calls).toEqual([{ id: "call_a", name: "shop/peek", parameters: {}, invalid_input: input }]);
  });

  it.each([
    ["before the first word", 0, false],
    ["in the middle", 5, true],
  ])("stalls %s, and the connection is given up", async (_where, stallsAfter, hasSpoken) => {
    const server = await serverFor({ ...whole, fault: { stallsAfter } });

    const silence = heldTimeouts(STALL_MS);
    const spoken = Promise.withResolvers<void>();

    const failure = failing(ask(model(server), { onDelta: () => spoken.resolve() }, { stallMs: STALL_MS }));
    await (hasSpoken ? spoken.promise : server.request(0));
    silence.goOff();

    expect(await failure).toMatchObject({ code: "model_stalled", hasSpoken });
    expect(await server.requests[0]?.ended).toBe(false);
  });

  it("does not stall as long as it gives signs of life", async () => {
    const answering = heldTimeouts(STALL_MS);
    await ask(model(await serverFor(whole)), {}, { stallMs: STALL_MS });
    const signs = answering.count();
    const server = await serverFor({ ...whole, fault: { pingsAfter: 2, pings: 40 } });

    expect(await ask(model(server), {}, { stallMs: STALL_MS })).toMatchObject({ content: "Let me look." });

    // Each of them puts off the time at which it would be given up.
    expect(answering.count()).toBeGreaterThanOrEqual(2 * signs + 40);
  });

  it("is cut off in the middle by its caller, and the connection with it", async () => {
    const server = await serverFor({ ...whole, fault: { stallsAfter: 7 } });
    const abort = new AbortController();
    const reason = new Error("enough");

    const thrown = await failing(ask(model(server), { signal: abort.signal, onDelta: () => abort.abort(reason) }));

    expect(thrown).toBe(reason);
    expect(await server.requests[0]?.ended).toBe(false);
  });

  it("is cut off before it has answered at all", async () => {
    const server = await serverFor({ fault: { stallsAfter: 0 } });
    const abort = new AbortController();
    const asking = failing(ask(model(server), { signal: abort.signal }));

    const request = await server.request(0);
    abort.abort("enough");

    expect(await asking).toBe("enough");
    expect(await request.ended).toBe(false);
  });

  it("gives an answer that ran out of tokens, and says so", async () => {
    const finish = protocol === "anthropic" ? "max_tokens" : "length";
    const server = await serverFor({ text: "Once upon", finish });

    expect(await ask(model(server))).toMatchObject({
      content: "Once upon",
      request_metadata: { finish_reason: "length" },
    });
  });
});

it("takes back thoughts with the signature they came with, before the words and calls of the same answer", async () => {
  const server = await serverFor(whole, { text: "Shelf 3." });
  const model = anthropic.model(server);
  const { message_metadata = {}, tool_calls } = await ask(model);
  const called = tool_calls.flatMap(({ id = "", name, parameters }) => {
    const metadata = { tool_call_id: id };
    return [
      toolCall({ tool_name: name, parameters: parameters as Record<string, never>, turn: 1, metadata }),
      toolResult({ content: '"seen"', tool_name: name, payload: { success: true }, metadata }),
    ];
  });

  await ask(model, {
    messages: [text("user", "Where is it?"), text("assistant", "Let me look.", message_metadata), ...called],
  });

  expect(server.requests[1]?.body.messages).toMatchObject([
    { role: "user" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Where is it?", signature: "signed-by-the-provider" },
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: "call_a", name: "shop__peek", input: { shelf: 3 } },
        { type: "tool_use", id: "call_b", name: "shop__peek", input: { shelf: 4 } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "call_a", content: '"seen"' },
        { type: "tool_result", tool_use_id: "call_b", content: '"seen"' },
      ],
    },
  ]);
});

it("takes a first word that is an error for a refusal, although the status was 200", async () => {
  const server = await serverFor({ fault: { errorAfter: 0 } });

  expect(await failing(ask(anthropic.model(server)))).toMatchObject({
    code: "model_unavailable",
    status: 529,
    hasSpoken: false,
  });
});

const peek = tool({
  name: "shop/peek",
  description: "Looks.",
  inputSchema: { type: "object", properties: { shelf: { type: "integer" } } },
  execute: ({ shelf = null }) => ({ shelf, item: "a lamp" }),
});

type Threaded = Partial<AgentDefinition> & AiSdkSettings;

/** A thread of an agent that asks this provider. */
async function threadOn(world: World, provider: Provider, server: ProviderServer, options: Threaded = {}) {
  const { stallMs, ...definition } = options;
  const model = aiSdkModel(provider.model(server), stallMs === undefined ? {} : { stallMs });
  const retry = { attempts: 3, backoffMs: 1 };
  const holdfast = await world.open(
    agent({ slug: "clerk", instructions: "Be brief.", model, tools: [peek], retry, ...definition }),
  );
  return { holdfast, thread: await holdfast.threads.open("c", { agent: "clerk" }) };
}

/** Until a piece of an answer was told. */
async function untilSpoken(thread: ThreadHandle): Promise<void> {
  for await (const { type } of thread.stream()) if (type.endsWith(".delta")) return;
}

async function history(thread: ThreadHandle): Promise<readonly string[]> {
  return inShort((await thread.messages()).map(({ message }) => message));
}

const looked = [
  "user: Where is it?",
  "assistant: Let me look.",
  "call shop/peek",
  'result shop/peek: {"shelf":3,"item":"a lamp"}',
  "call shop/peek",
  'result shop/peek: {"shelf":4,"item":"a lamp"}',
  "assistant: On shelf 3.",
];

eachDatabase((newWorld) => {
  describe.each([openai, anthropic])("a thread that asks $title", (provider) => {
    it("runs the tools that the model calls, and shows it what came of them", async () => {
      const world = await newWorld();
      const server = await serverFor(whole, { text: "On shelf 3.", usage: { input: 40, output: 4 } });
      const { thread } = await threadOn(world, provider, server);

      const outcome = await thread.send("Where is it?");

      expect(outcome).toMatchObject({
        status: "completed",
        final_content: "On shelf 3.",
        usage: { prompt_tokens: 60, completion_tokens: 13, total_tokens: 73 },
      });
      expect(await history(thread)).toEqual(looked);
      const { messages } = server.requests[1]?.body ?? {};
      const answers = messages.filter(({ role }: { role: string }) => role === "assistant");
      expect(answers).toHaveLength(1);
      if (provider === openai) {
        expect(answers[0].tool_calls.map(({ id }: { id: string }) => id)).toEqual(["call_a", "call_b"]);
        expect(messages.slice(-2)).toEqual([
          { role: "tool", tool_call_id: "call_a", content: '{"shelf":3,"item":"a lamp"}' },
          { role: "tool", tool_call_id: "call_b", content: '{"shelf":4,"item":"a lamp"}' },
        ]);
      } else {
        expect(answers[0].content.map(({ type }: { type: string }) => type)).toEqual([
          ...["thinking", "text", "tool_use", "tool_use"],
        ]);
      }
    });

    it.each<[string, Reply]>([
      ["429", { fault: { status: 429, headers: { "retry-after-ms": "20" } } }],
      ["500", { fault: { status: 500 } }],
      ["hanging up", { fault: { hangsUp: true } }],
      ["breaking off", { ...whole, fault: { cutAfterBytes: 900 } }],
      ["ending too early", { ...whole, fault: { endsAfterBytes: 900 } }],
      ["a malformed chunk", { ...whole, fault: { malformedAfter: 6 } }],
      ["an error in the stream", { ...whole, fault: { errorAfter: 6 } }],
      ["stalling", { ...whole, fault: { stallsAfter: 6 } }],
    ])("asks again after %s, and half an answer is no part of the thread", async (_what, fault) => {
      const world = await newWorld();
      const server = await serverFor(fault, whole, { text: "On shelf 3." });
      const stalls = fault.fault !== undefined && "stallsAfter" in fault.fault;
      const silence = heldTimeouts(STALL_MS);
      const { thread } = await threadOn(world, provider, server, { stallMs: STALL_MS });

      const sent = thread.send("Where is it?");
      if (stalls) {
        await untilSpoken(thread);
        silence.goOff();
      }
      expect(await sent).toMatchObject({ status: "completed", final_content: "On shelf 3." });
      expect(await history(thread)).toEqual(looked);
      expect(server.requests).toHaveLength(3);
    });

    it("records the failure once every attempt is used up, and goes on when it is asked again", async () => {
      const world = await newWorld();
      const busy: Reply = { fault: { status: 503, message: `Busy: ${apiKey}` } };
      const server = await serverFor(busy, busy, { ...whole, fault: { cutAfterBytes: 900 } }, { text: "Hello." });
      const { thread } = await threadOn(world, provider, server);

      const outcome = await thread.send("Where is it?");

      expect(outcome).toMatchObject({ status: "failed", completed: false, failure: { code: "model_answer_broken" } });
      expect(await history(thread)).toEqual(["user: Where is it?"]);
      expect(await thread.send("Hello?")).toMatchObject({ status: "completed", final_content: "Hello." });
      expect(await world.everything()).not.toContain(apiKey);
    });

    it("asks a provider that refuses only once", async () => {
      const world = await newWorld();
      const server = await serverFor({ fault: { status: 401, message: "Wrong key." } });
      const { thread } = await threadOn(world, provider, server);

      const { status, failure } = await thread.send("Where is it?");

      expect({ status, code: failure?.code }).toEqual({ status: "failed", code: "model_refused" });
      expect(String(failure?.message)).toContain("Wrong key.");
      expect(server.requests).toHaveLength(1);
    });

    it("answers a call with invalid JSON with an error, and the model makes it again", async () => {
      const world = await newWorld();
      const call = (input: string) => ({ calls: [{ name: "shop__peek", input }] });
      const server = await serverFor(call('{"shelf": '), call('{"shelf": 3}'), { text: "On shelf 3." });
      const { thread } = await threadOn(world, provider, server);

      expect(await thread.send("Where is it?")).toMatchObject({ status: "completed" });
      expect(await history(thread)).toEqual([
        "user: Where is it?",
        "call shop/peek",
        "result shop/peek: invalid_arguments",
        "call shop/peek",
        'result shop/peek: {"shelf":3,"item":"a lamp"}',
        "assistant: On shelf 3.",
      ]);
    });

    it("stops in the middle of an answer, keeps what was said, and hangs up", async () => {
      const world = await newWorld();
      const server = await serverFor({ text: "Once upon a time there was", fault: { stallsAfter: 5 } });
      const { thread } = await threadOn(world, provider, server);

      const sent = thread.send("Tell me a story");
      for await (const { type } of thread.stream()) if (type === "text.delta") break;
      await thread.stop({ reason: "Enough." });

      expect(await sent).toMatchObject({ status: "interrupted" });
      expect(await server.requests[0]?.ended).toBe(false);
      const [, said, notice] = await history(thread);
      expect("assistant: Once upon a time there was").toContain(said);
      expect(notice).toBe("system: Enough.");
    });
  });

  it.each([
    ["of a kind", { type: "file", media_type: "application/zip", filename: "all.zip", data: "AAAA" }, "all.zip"],
    ["at an address, of a kind", { type: "file", media_type: "audio/x-odd", url: "http://127.0.0.1/y" }, "audio/x-odd"],
  ])("goes on when a file is %s that the package does not know, and says so in words", async (_what, part, named) => {
    const world = await newWorld();
    const server = await serverFor({ text: "I cannot." }, { text: "Still here." });
    const { thread } = await threadOn(world, openai, server);

    const content = [{ type: "text", text: "Unpack it." }, part];
    expect(await thread.send({ content })).toMatchObject({ status: "completed", final_content: "I cannot." });
    expect(await thread.send("Still there?")).toMatchObject({ status: "completed", final_content: "Still here." });

    for (const { body } of server.requests) {
      const sent = JSON.stringify(body.messages);
      expect(sent).toContain("Unpack it.");
      expect(sent).toContain(`[A file that cannot be shown here: ${named}]`);
    }
    expect(server.requests).toHaveLength(2);
  });

  it("goes on with a provider that wants roles to alternate, after it was told to continue", async () => {
    const world = await newWorld();
    const server = await serverFor({ text: "One." }, { text: "Two." }, { text: "Three." });
    const { thread } = await threadOn(world, anthropic, server);

    await thread.send("Count.");
    expect(await thread.continue()).toMatchObject({ final_content: "Two." });
    expect(await thread.send("Go on.")).toMatchObject({ final_content: "Three." });

    const roles = server.requests.map(({ body }) => body.messages.map(({ role }: { role: string }) => role).join(" "));
    expect(roles).toEqual(["user", "user assistant user", "user assistant user assistant user"]);
  });

  it("lets a thread that was begun with one provider go on with another", async () => {
    const world = await newWorld();
    const first = await serverFor(whole, { text: "On shelf 3." });
    const second = await serverFor({ text: "Still there." });
    const { holdfast, thread } = await threadOn(world, openai, first);
    await thread.send("Where is it?");
    await holdfast.close();

    const { thread: same } = await threadOn(world, anthropic, second);

    expect(await same.send("And now?")).toMatchObject({ status: "completed", final_content: "Still there." });
    expect(second.requests[0]?.body.messages).toMatchObject([
      { role: "user", content: [{ type: "text", text: "Where is it?" }] },
      {
        role: "assistant",
        // What the other provider's model thought is not shown to this one.
        content: [{ type: "text", text: "Let me look." }, { type: "tool_use" }, { type: "tool_use" }],
      },
      { role: "user", content: [{ type: "tool_result" }, { type: "tool_result" }] },
      { role: "assistant", content: [{ type: "text", text: "On shelf 3." }] },
      { role: "user", content: [{ type: "text", text: "And now?" }] },
    ]);
  });
});
