// What code that runs within a step asks of the run: to end it, to end the session, to let a side act, to hand over.
import { expect, it } from "vitest";
import { calls, callsTool, says } from "../../src/models/scripted/scripted-model.ts";
import type { ThreadState } from "../../src/threads/state/thread-state.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase } from "../databases.ts";
import { listed, stored } from "./listed.ts";
import { openHelper, openPair } from "./open-agents.ts";
import { talker } from "./talker.ts";

const peek = tool({ name: "peek", description: "Looks.", execute: () => "seen" });
const finish = tool({ name: "finish", description: "Ends.", execute: () => "finished" });

/** A tool whose code does something with the thread. */
function acting(name: string, act: (state: ThreadState) => unknown) {
  return tool({
    name,
    description: "Acts.",
    execute: async (_input, { state }) => {
      await act(state);
      return "acted";
    },
  });
}

eachDatabase((newWorld) => {
  it("[TOOL-11, TS-11] ends the run after a tool that says so: the calls behind it do not run, and have a result", async () => {
    const stop = acting("stop", ({ execution }) => execution?.stop());
    const { model, asked } = talker(calls(callsTool("stop"), callsTool("peek"), callsTool("peek")), "Next.");
    const thread = await openHelper(await newWorld(), { model, tools: [stop, peek] });

    expect(await thread.send("Go")).toMatchObject({ stop_code: "execution_stop", completed: true });
    const results = (await stored(thread)).filter(({ role }) => role === "tool");
    expect(results.map(({ tool_status }) => tool_status)).toEqual(["success", "error", "error"]);
    expect(asked).toHaveLength(1);

    expect(await thread.send("And now?")).toMatchObject({ final_content: "Next." });
    expect(asked[1]?.messages.filter(({ type }) => type === "tool_result")).toHaveLength(3);
  });

  it("[TOOL-11] also drops what the tool itself had queued to run", async () => {
    const stop = acting("stop", async (state) => {
      await state.queueTool("peek");
      state.execution?.stop();
    });
    const { model, asked } = talker(callsTool("stop"), "Never.");
    const thread = await openHelper(await newWorld(), { model, tools: [stop, peek] });

    expect(await thread.send("Go")).toMatchObject({ stop_code: "execution_stop" });
    await thread.wait();
    const lines = await listed(thread);
    expect(lines.slice(0, 3)).toEqual(["user: Go", "assistant:  [stop]", "success stop: acted"]);
    expect(lines.filter((line) => line.startsWith("success peek"))).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it("[TOOL-11] runs the calls behind a tool that is bound to the end of the session, and ends it then", async () => {
    const { model, asked } = talker(calls(callsTool("finish"), callsTool("peek")));
    const rules = { sessionStop: "finish" };
    const thread = await openHelper(await newWorld(), { model, tools: [finish, peek], rules });

    expect(await thread.send("Go")).toMatchObject({ stop_code: "session_stop" });
    expect((await listed(thread)).slice(2)).toEqual(["success finish: finished", "success peek: seen"]);
    expect(asked).toHaveLength(1);
  });

  it("[STOP-17, TOOL-11] ends the session as what code says, and cuts the calls behind it off", async () => {
    const well = acting("well", (state) => state.stopSession({ result: "All good" }));
    const badly = acting("badly", (state) => state.stopSession({ result: "No good", status: "failure" }));
    const { model } = talker(calls(callsTool("well"), callsTool("peek")), callsTool("badly"));
    const thread = await openHelper(await newWorld(), { model, tools: [well, badly, peek] });

    expect(await thread.send("One")).toMatchObject({
      ...{ stop_code: "state_stop_session", completed: true },
      session: { status: "success", text: "All good", attachments: [] },
    });
    expect((await stored(thread)).at(-1)).toMatchObject({ role: "tool", name: "peek", tool_status: "error" });
    expect(await thread.send("Two")).toMatchObject({
      ...{ stop_code: "state_stop_session", completed: false, status: "failed" },
      session: { status: "failure", text: "No good" },
    });
  });

  it("[STOP-1, STOP-17] fails with the words of the tool that failed, whatever code says behind it", async () => {
    const well = acting("well", (state) => state.stopSession({ result: "All good" }));
    const { model } = talker(calls(callsTool("finish"), callsTool("well")));
    const thread = await openHelper(await newWorld(), {
      model,
      tools: [well, finish],
      rules: { sessionFail: "finish" },
    });

    expect(await thread.send("Go")).toMatchObject({
      ...{ stop_code: "session_fail", status: "failed" },
      session: { status: "failure", text: "finished" },
    });
  });

  it("does nothing of what a tool asked for that then failed", async () => {
    const torn = acting("torn", (state) => {
      state.stopSession({ result: "All good" });
      state.execution?.stop();
      throw new Error("After all not");
    });
    const { model } = talker(callsTool("torn"), "Still here.");
    const thread = await openHelper(await newWorld(), { model, tools: [torn] });

    const outcome = await thread.send("Go");

    expect(outcome).toMatchObject({ stop_code: "stop_on_response", final_content: "Still here." });
    expect(outcome.session).toBeUndefined();
  });

  it("[STOP-16] lets the side act again that code forces, after the last call of the answer", async () => {
    const again = acting("again", ({ execution }) => execution?.forceTurn("a"));
    const { model, asked } = talker(calls(callsTool("again"), callsTool("finish")), "Second.");
    const rules = { stopTool: "finish" };
    const thread = await openHelper(await newWorld(), { model, tools: [again, finish], rules });

    expect(await thread.send("Go")).toMatchObject({ stop_code: "stop_on_response", final_content: "Second." });
    expect((await listed(thread)).slice(2, 4)).toEqual(["success again: acted", "success finish: finished"]);
    expect(asked).toHaveLength(2);
  });

  it("[STOP-16] ends the run when the human's side is forced", async () => {
    const yours = acting("yours", ({ execution }) => execution?.forceTurn("b"));
    const { model, asked } = talker(callsTool("yours"), "Never.");
    const thread = await openHelper(await newWorld(), { model, tools: [yours] });

    expect(await thread.send("Go")).toMatchObject({ completed: true });
    expect(asked).toHaveLength(1);
    expect(await thread.status()).toMatchObject({ status: "idle" });
  });

  it("[STOP-16] gives the turn to the other model before its side has ended its own, and undoes a stop", async () => {
    const yours = acting("yours", ({ execution }) => {
      execution?.stop();
      execution?.forceTurn("b");
    });
    const a = talker(callsTool("yours"), "a2");
    const b = talker("b1", callsTool("finish"));
    const thread = await openPair(
      await newWorld(),
      { model: a.model, tools: [yours] },
      { model: b.model, tools: [finish], rules: { sessionStop: "finish" } },
    );

    expect(await thread.send("Go")).toMatchObject({ stop_code: "session_stop" });
    expect((await listed(thread)).slice(1)).toEqual([
      ...["assistant:  [yours]", "success yours: acted", "user: b1", "assistant: a2"],
      ...["user:  [finish]", "success finish: finished"],
    ]);
  });

  it("shows code which side acts, and how many steps each has taken", async () => {
    const seen: unknown[] = [];
    const look = acting("look", ({ execution }) => {
      const { currentSide, stepCount, sideAStepCount, sideBStepCount, promptPath, stopped } = execution ?? {};
      seen.push([currentSide, stepCount, sideAStepCount, sideBStepCount, promptPath, stopped]);
    });
    const a = talker(callsTool("look"), "a1");
    const b = talker(calls(says("b1"), callsTool("look")), callsTool("finish"));
    const thread = await openPair(
      await newWorld(),
      { model: a.model, tools: [look] },
      { model: b.model, tools: [look, finish], rules: { sessionStop: "finish" } },
    );

    await thread.send("Go");

    expect(seen).toEqual([
      ["a", 1, 1, 0, ["writer"], false],
      ["b", 3, 2, 1, ["critic"], false],
    ]);
    expect((await thread.state()).execution).toBeNull();
  });
});
