// Promise: the official client of OpenAI talks with agents: it lists them, completes, streams, runs the tools that are the
// client's, and is told in its own words what went wrong.
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { calls, callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { support } from "./chat-client.ts";
import { type ChatWorld, chatWorld } from "./chat-world.ts";

function clientOf({ url, token }: ChatWorld, apiKey = token): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey });
}

const asked = { model: "support", messages: [{ role: "user" as const, content: "Where is order 7?" }] };

type About = { readonly holdfast: { readonly thread_id: string; readonly status: string } & Record<string, unknown> };

describe("a client of OpenAI", () => {
  it("lists the agents that it may use as models", async () => {
    const world = await chatWorld([support([]), agent({ slug: "writer", model: () => "Hm." })]);
    const models = async (client: OpenAI) => (await client.models.list()).data.map(({ id }) => id);
    expect(await models(clientOf(world))).toEqual(["support", "writer"]);
    const visitor = clientOf(world, await world.tokenOf(7));
    expect(await models(visitor)).toEqual(["support"]);
    expect(await visitor.models.retrieve("support")).toMatchObject({ id: "support", object: "model" });
    await expect(visitor.models.retrieve("writer")).rejects.toMatchObject({ status: 404, code: "agent_not_found" });
  });

  it("gets an answer as a whole, with what it took", async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
    const world = await chatWorld(
      support([calls(says("Let me look."), callsTool("shop/look", { order: "7" })), says("It was sent.", { usage })]),
    );
    const completion = await clientOf(world).chat.completions.create(asked);
    expect(completion).toMatchObject({
      ...{ object: "chat.completion", model: "support", usage },
      choices: [{ message: { role: "assistant", content: "Let me look.\n\nIt was sent." }, finish_reason: "stop" }],
      holdfast: { status: "completed", run: 1 },
    });
  });

  it("gets an answer word by word, and the usage at the end when it asks for it", async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
    const said = Promise.withResolvers<void>();
    const world = await chatWorld(
      agent({
        slug: "support",
        model: async (_messages, _context, { onDelta }) => {
          onDelta?.({ type: "text", text: "It left " });
          await said.promise;
          onDelta?.({ type: "text", text: "on Monday." });
          return { content: "It left on Monday.", tool_calls: [], usage };
        },
      }),
    );
    const stream_options = { include_usage: true };
    const stream = await clientOf(world).chat.completions.create({ ...asked, stream: true, stream_options });
    const pieces: string[] = [];
    let told: unknown;
    let reason: string | null | undefined;
    for await (const { choices, usage: took } of stream) {
      const piece = choices[0]?.delta.content;
      if (piece) pieces.push(piece);
      if (piece === "It left ") said.resolve();
      reason ??= choices[0]?.finish_reason;
      told = took;
    }
    expect(pieces).toEqual(["It left ", "on Monday."]);
    expect(reason).toBe("stop");
    expect(told).toEqual(usage);
  });

  it("is told what was said before, and begins a thread for each request", async () => {
    const seen: string[] = [];
    const world = await chatWorld(
      agent({
        slug: "support",
        model: (messages) => {
          seen.push(messages.map(({ content }) => content).join("|"));
          return { content: "Hello!", tool_calls: [] };
        },
      }),
    );
    const client = clientOf(world);
    const create = (messages: OpenAI.ChatCompletionMessageParam[]) =>
      client.chat.completions.create({ model: "support", messages });
    await create([{ role: "user", content: "Hello." }]);
    await create([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello." },
      { role: "assistant", content: "Hello!" },
      { role: "user", content: [{ type: "text", text: "And you?" }] },
    ]);
    expect(seen[0]).toBe("Hello.");
    expect(seen[1]).toContain("system: Be brief.\n\nuser: Hello.\n\nassistant: Hello!");
    expect(seen[1]).toMatch(/And you\?$/);
    expect(await world.holdfast.threads.list()).toHaveLength(2);
  });

  it("goes on with a thread that it names, and only what is new is taken in", async () => {
    const seen: string[] = [];
    const world = await chatWorld(
      agent({
        slug: "support",
        model: (messages) => {
          seen.push(messages.map(({ content }) => content).join("|"));
          return { content: `Answer ${seen.length}.`, tool_calls: [] };
        },
      }),
    );
    const client = clientOf(world);
    const messages = [
      { role: "assistant" as const, content: "You are an administrator." },
      { role: "user" as const, content: "One." },
    ];
    await client.chat.completions.create({ model: "support", messages, metadata: { thread: "customer-42" } });
    const again = { ...asked, messages: [{ role: "user" as const, content: "Two." }] };
    const headers = { "X-Holdfast-Thread": "customer-42", "Idempotency-Key": "mail-981" };
    const { choices } = await client.chat.completions.create(again, { headers });
    const repeated = await client.chat.completions.create(again, { headers });
    expect(repeated.choices).toEqual(choices);
    expect(seen).toEqual(["One.", "One.|Answer 1.|Two."]);
  });

  it.each(["whole", "stream"])("runs its own tools, one call after another: %s", async (kind) => {
    const world = await chatWorld(
      support([calls(says("One moment."), callsTool("client/where"), callsTool("client/where")), says("In Lisbon.")]),
    );
    const client = clientOf(world);
    const tools = [{ type: "function" as const, function: { name: "where", parameters: {} } }];
    const create = async (messages: OpenAI.ChatCompletionMessageParam[]) => {
      const body = { model: "support", messages, tools };
      if (kind === "whole") return (await client.chat.completions.create(body)).choices[0];
      return (await client.chat.completions.stream(body).finalChatCompletion()).choices[0];
    };
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Where am I?" }];
    const reasons: unknown[] = [];
    for (;;) {
      const choice = await create(messages);
      reasons.push(choice?.finish_reason);
      if (choice?.finish_reason !== "tool_calls") {
        expect(choice?.message.content).toBe("In Lisbon.");
        break;
      }
      messages.push(choice.message);
      for (const call of choice.message.tool_calls ?? []) {
        expect(call).toMatchObject({ type: "function", function: { name: "where", arguments: "{}" } });
        messages.push({ role: "tool", tool_call_id: call.id, content: '{"city":"Lisbon"}' });
      }
    }
    expect(reasons).toEqual(["tool_calls", "tool_calls", "stop"]);
    expect(await world.holdfast.threads.list()).toHaveLength(1);
  });

  it("says what waits for approval, and takes nothing more in meanwhile", async () => {
    const world = await chatWorld(support([callsTool("shop/refund", { order: "7" }), says("Done.")]));
    const headers = { "X-Holdfast-Thread": "customer-42" };
    const client = clientOf(world);
    const completion = (await client.chat.completions.create(asked, { headers })) as OpenAI.ChatCompletion & About;
    const [request] = await world.holdfast.requests.list();
    const content = completion.choices[0]?.message.content ?? "";
    expect(content).toMatch(/^\[Waiting for approval: /);
    expect(content).toContain(`(request ${request?.id})`);
    expect(completion.holdfast).toMatchObject({
      status: "approval_required",
      waiting_for: { request_id: request?.id },
    });
    const refused = client.chat.completions.create(asked, { headers });
    await expect(refused).rejects.toMatchObject({ status: 409, code: "thread_busy", type: "conflict_error" });
    await world.holdfast.requests.submit(request?.id ?? "", { decision: "accepted" });
    const thread = await world.holdfast.threads.get(completion.holdfast.thread_id);
    expect(await thread.wait()).toMatchObject({ final_content: "Done." });
    expect((await thread.messages()).filter(({ message }) => message.type === "text")).toHaveLength(2);
  });

  it("is told in its own words what went wrong", async () => {
    let attempts = 0;
    const world = await chatWorld([
      support([]),
      agent({
        slug: "broken",
        model: () => {
          attempts++;
          throw new Error("The model is down.");
        },
      }),
    ]);
    const client = clientOf(world);
    const create = (more: object) => client.chat.completions.create({ ...asked, ...more });
    const nobody = clientOf(world, "hf_nobody");
    await expect(nobody.models.list()).rejects.toMatchObject({
      status: 401,
      type: "authentication_error",
      code: "unauthenticated",
    });
    await expect(create({ model: "nobody" })).rejects.toMatchObject({ status: 404, code: "agent_not_found" });
    const declared = [{ type: "function", function: { name: "rm" } }];
    await expect(create({ tools: declared })).rejects.toMatchObject({
      status: 400,
      param: "tools.0",
      code: "invalid_input",
    });
    await expect(create({ n: 2 })).rejects.toMatchObject({ status: 400, param: "n" });
    await expect(create({ messages: [] })).rejects.toMatchObject({ status: 400, param: "messages" });
    const answer = { role: "tool", tool_call_id: "request-1", content: "" };
    await expect(create({ messages: [answer] })).rejects.toMatchObject({ status: 404, code: "request_not_found" });
    const failure = { message: expect.stringContaining("The model is down."), type: "server_error" };
    await expect(create({ model: "broken" })).rejects.toMatchObject({ status: 502, ...failure });
    expect(attempts).toBe(1);
    const stream = await client.chat.completions.create({ ...asked, model: "broken", stream: true });
    const read = async () => {
      for await (const _ of stream);
    };
    await expect(read()).rejects.toMatchObject(failure);
  });
});
