// What can be read of a thread is what was stored of it, in the shapes that others know: its runs and what they came to,
// and the session that it is for the Agents API.
import { expect, it } from "vitest";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";
import { heldModel } from "./held.ts";

eachDatabase((newWorld) => {
  it("tells of every run what it came to, or waits for", async () => {
    const world = await newWorld();
    const ask = tool({ name: "client/ask", description: "Asks." });
    const model = scriptedModel([says("Hi."), callsTool("client/ask", { question: "Which?" })]);
    const holdfast = await world.open(agent({ slug: "desk", model, tools: [ask] }));
    const thread = await holdfast.threads.open("t", { agent: "desk" });
    expect(await thread.runs()).toEqual([]);

    const { thread_id, run, ...first } = await thread.send("Hello.");
    const { thread_id: _same, run: next, ...second } = await thread.send("Ask.");

    expect({ thread_id, run, next }).toEqual({ thread_id: thread.id, run: 1, next: 2 });
    expect(await thread.runs()).toMatchObject([
      { run: 1, status: "completed", outcome: { final_content: "Hi.", completed: true } },
      { run: 2, status: "runtime_tool_pending", outcome: { waiting_for: { kind: "client_tool" } } },
    ]);
    expect((await thread.runs()).map(({ outcome }) => outcome)).toEqual([first, second]);
  });

  it("has nothing to tell yet of a run that is under way", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const holdfast = await world.open(agent({ slug: "desk", model }));
    const thread = await holdfast.threads.open("t", { agent: "desk" });
    const sent = thread.send("Hello.");
    const { answer } = await next();

    expect(await thread.runs()).toMatchObject([{ run: 1, status: "running", outcome: null }]);
    answer("Hi.");
    await sent;
  });

  it("is a session to the Agents API, with the transcript as it stands", async () => {
    const world = await newWorld();
    const holdfast = await world.open(agent({ slug: "desk", model: scriptedModel([says("Hi.")]) }));
    const thread = await holdfast.threads.open("customer 7", { agent: "desk" });
    await thread.send("Hello.");
    await thread.editMessage(0, "Good morning.");
    await thread.wait();

    const session = await thread.session();

    expect(session).toMatchObject({ session_id: thread.id, agent_slug: "desk", title: "customer 7", metadata: {} });
    expect(session.messages).toEqual((await thread.messages()).map(({ message }) => message));
    expect(session.messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      ...["user: Good morning.", "assistant: Hi."],
    ]);
    const { created_at, updated_at } = await thread.status();
    expect([session.created_at, session.updated_at].map((time) => Date.parse(time))).toEqual(
      [created_at, updated_at].map((time) => Math.floor(time / 1000)),
    );
    await thread.terminate();
    expect((await thread.session()).metadata).toEqual({ "holdfast/terminated": true });
  });
});
