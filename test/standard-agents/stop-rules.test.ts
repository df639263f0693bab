// What ends a turn, a session and a run of an agent with sides, and who acts next.
import { describe, expect, it } from "vitest";
import { calls, callsTool, says } from "../../src/models/scripted/scripted-model.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase } from "../databases.ts";
import { listed, stored } from "./listed.ts";
import { openHelper, openPair, pairOf } from "./open-agents.ts";
import { talker } from "./talker.ts";

const peek = tool({ name: "peek", description: "Looks.", execute: () => "seen" });
const finish = tool({ name: "finish", description: "Ends.", execute: () => "finished" });
const giveUp = tool({ name: "give_up", description: "Fails.", execute: () => "given up" });

eachDatabase((newWorld) => {
  describe("of a side", () => {
    it("11 [STOP-7, STOP-8] ends the run with words without a call, after one answer", async () => {
      const { model, asked } = talker("Hello.");
      const thread = await openHelper(await newWorld(), { model });

      expect(await thread.send("Hi")).toMatchObject({
        ...{ stop_code: "stop_on_response", completed: true, status: "completed", final_content: "Hello." },
      });
      expect(asked).toHaveLength(1);
      expect(await thread.status()).toMatchObject({ status: "idle" });
    });

    it("12 [STOP-7] goes on after words that come with a call", async () => {
      const { model, asked } = talker(calls(says("Let me look."), callsTool("peek")), "Seen.");
      const thread = await openHelper(await newWorld(), { model, tools: [peek] });

      expect(await thread.send("Hi")).toMatchObject({ final_content: "Seen.", stop_code: "stop_on_response" });
      expect(asked).toHaveLength(2);
      expect(await listed(thread)).toEqual([
        ...["user: Hi", "assistant: Let me look. [peek]", "success peek: seen", "assistant: Seen."],
      ]);
    });

    it("13 [STOP-5, STOP-6] ends with the stop tool, and says what its argument says", async () => {
      const { model, asked } = talker(callsTool("finish", { answer: "42" }));
      const rules = { stopTool: "finish", stopToolResponseProperty: "answer" };
      const thread = await openHelper(await newWorld(), { model, tools: [finish], rules });

      expect(await thread.send("What?")).toMatchObject({
        stop_code: "stop_tool",
        completed: true,
        final_content: "42",
      });
      expect(asked).toHaveLength(1);
      expect(await listed(thread)).toEqual(["user: What?", "assistant: 42 [finish]", "success finish: finished"]);
    });

    it("13 [STOP-6] keeps its words when the argument is no text or is not given", async () => {
      const answers = [callsTool("finish", { answer: 42 }), callsTool("finish")].map((call) =>
        calls(says("Well."), call),
      );
      const { model } = talker(...answers);
      const rules = { stopTool: "finish", stopToolResponseProperty: "answer" };
      const thread = await openHelper(await newWorld(), { model, tools: [finish], rules });

      await thread.send("One");
      await thread.send("Two");

      expect((await listed(thread)).filter((line) => line.startsWith("assistant"))).toEqual([
        ...["assistant: Well. [finish]", "assistant: Well. [finish]"],
      ]);
    });

    it("[STOP-5] ends with the stop tool even when its call fails", async () => {
      const { model, asked } = talker(callsTool("finish", { count: "many" }));
      const strict = tool({
        name: "finish",
        description: "Ends.",
        inputSchema: { type: "object", properties: { count: { type: "integer" } } },
        execute: () => "finished",
      });
      const thread = await openHelper(await newWorld(), { model, tools: [strict], rules: { stopTool: "finish" } });

      expect(await thread.send("Go")).toMatchObject({ stop_code: "stop_tool" });
      expect(asked).toHaveLength(1);
      expect((await stored(thread)).at(-1)).toMatchObject({ tool_status: "error" });
    });

    it("14 [STOP-2, STOP-3] ends the session only once the bound tool succeeds, and with nothing else in between", async () => {
      let times = 0;
      const moody = tool({
        name: "finish",
        description: "Ends.",
        execute: () => {
          if (++times === 1) throw new Error("Not yet");
          return "at last";
        },
      });
      const { model, asked } = talker(calls(callsTool("leave"), callsTool("finish")), callsTool("finish"));
      const leave = tool({ name: "leave", description: "Ends the turn.", execute: () => "left" });
      const thread = await openHelper(await newWorld(), {
        ...{ model, tools: [moody, leave] },
        rules: { stopTool: "leave", sessionStop: "finish" },
      });

      expect(await thread.send("Go")).toMatchObject({
        ...{ stop_code: "session_stop", completed: true },
        session: { status: "success", text: "at last", attachments: [] },
      });
      expect(asked).toHaveLength(2);
      expect(times).toBe(2);
    });

    it("15 [STOP-1] ends as a failure when both bound tools were called, in whichever order", async () => {
      const both = [calls(callsTool("finish"), callsTool("give_up")), calls(callsTool("give_up"), callsTool("finish"))];
      const { model } = talker(...both);
      const thread = await openHelper(await newWorld(), {
        ...{ model, tools: [finish, giveUp] },
        rules: { sessionStop: "finish", sessionFail: "give_up" },
      });

      for (const words of ["One", "Two"]) {
        expect(await thread.send(words)).toMatchObject({
          ...{ stop_code: "session_fail", status: "failed", completed: false },
          session: { status: "failure", text: "given up" },
        });
      }
      const results = (await listed(thread)).filter((line) => line.startsWith("success"));
      expect(results).toHaveLength(4);
    });

    it("16 [STOP-11] ends after two answers of a side that may take two steps, and begins anew with the next run", async () => {
      const { model, asked } = talker(callsTool("peek"));
      const thread = await openHelper(await newWorld(), { model, tools: [peek], rules: { maxSteps: 2 } });

      expect(await thread.send("Go")).toMatchObject({ stop_code: "max_side_steps", status: "limit_reached" });
      expect(asked).toHaveLength(2);
      expect(await thread.send("Again")).toMatchObject({ stop_code: "max_side_steps" });
      expect(asked).toHaveLength(4);
    });

    it("16 [D13] lets a tool that ends the session win in the last step that is allowed", async () => {
      const { model } = talker(callsTool("peek"), callsTool("finish"));
      const rules = { maxSteps: 2, sessionStop: "finish" };
      const thread = await openHelper(await newWorld(), { model, tools: [peek, finish], rules });

      expect(await thread.send("Go")).toMatchObject({ stop_code: "session_stop", completed: true });
    });

    it("18 [D5] takes the older names of the bindings, and the new ones where both are set", async () => {
      const { model } = talker(callsTool("done"), callsTool("failed"), callsTool("done"), callsTool("finish"));
      const done = tool({ name: "done", description: "Ends.", execute: () => "done" });
      const failed = tool({ name: "failed", description: "Fails.", execute: () => "failed" });
      const world = await newWorld();
      const old = { endSessionTool: "done", failSessionTool: { name: "failed", messageProperty: "why" } };
      const thread = await openHelper(world, { model, tools: [done, failed, finish], rules: old });

      expect(await thread.send("One")).toMatchObject({ stop_code: "session_stop", session: { text: "done" } });
      expect(await thread.send("Two")).toMatchObject({ stop_code: "session_fail", session: { text: "failed" } });
    });

    it("18 [D5] goes by the new name of a binding where both are set", async () => {
      const { model } = talker(callsTool("done"), callsTool("finish"));
      const done = tool({ name: "done", description: "Ends.", execute: () => "done" });
      const rules = { endSessionTool: "done", sessionStop: "finish" };
      const thread = await openHelper(await newWorld(), { model, tools: [done, finish], rules });

      expect(await thread.send("Go")).toMatchObject({ stop_code: "session_stop", session: { text: "finished" } });
    });
  });

  describe("of two models", () => {
    it("[STOP-9, RUN-6, RUN-7] lets the other side act when a turn ends, and writes down who said what", async () => {
      const a = talker("a1", "a2");
      const b = talker("b1", callsTool("finish"));
      const thread = await openPair(
        ...([
          await newWorld(),
          { model: a.model },
          { model: b.model, tools: [finish], rules: { sessionStop: "finish" } },
        ] as const),
      );

      expect(await thread.send("Begin")).toMatchObject({ stop_code: "session_stop", session: { text: "finished" } });
      expect(await listed(thread)).toEqual([
        ...["user: Begin", "assistant: a1", "user: b1", "assistant: a2", "user:  [finish]", "success finish: finished"],
      ]);
    });

    it("[STOP-4] does not let a side end the session with the other one's tool", async () => {
      const a = talker(callsTool("finish"), "a1");
      const b = talker("b1", callsTool("finish"));
      const thread = await openPair(
        await newWorld(),
        { model: a.model, tools: [finish] },
        { model: b.model, tools: [finish], rules: { sessionStop: "finish" } },
        { maxSessionTurns: 3 },
      );

      expect(await thread.send("Begin")).toMatchObject({ stop_code: "session_stop" });
      expect(a.asked).toHaveLength(3);
      expect(b.asked).toHaveLength(2);
    });

    it("[RUN-7] begins with side B when side A is said to have spoken", async () => {
      const [a, b] = [talker("a1"), talker("b1", "b2")];
      const thread = await openPair(await newWorld(), { model: a.model }, { model: b.model }, { maxSessionTurns: 1 });

      await thread.queueMessage({ role: "assistant", content: "I have begun" });

      expect(await thread.wait()).toMatchObject({ stop_code: "max_session_turns" });
      expect((await listed(thread)).slice(0, 2)).toEqual(["assistant: I have begun", "user: b1"]);
    });

    it("17 [STOP-12, STOP-13] ends the session after two exchanges, and the next one begins at nothing", async () => {
      const [a, b] = [talker("a"), talker("b")];
      const thread = await openPair(await newWorld(), { model: a.model }, { model: b.model }, { maxSessionTurns: 2 });

      expect(await thread.send("Begin")).toMatchObject({ stop_code: "max_session_turns", status: "limit_reached" });
      expect(await listed(thread)).toEqual(["user: Begin", "assistant: a", "user: b", "assistant: a", "user: b"]);
      expect(await thread.status()).toMatchObject({ status: "idle" });

      expect(await thread.send("Again")).toMatchObject({ stop_code: "max_session_turns" });
      expect([a.asked.length, b.asked.length]).toEqual([4, 4]);
    });

    it("[STOP-13] counts turns across runs and restarts, until the session ends", async () => {
      const world = await newWorld();
      const pause = tool({
        name: "pause",
        description: "Stops for now.",
        execute: (_input, { state }) => {
          state.execution?.stop();
          return "paused";
        },
      });
      const a = talker("a1", callsTool("pause"), "a2", "a3");
      const b = talker("b");
      const pair = () => pairOf({ model: a.model, tools: [pause] }, { model: b.model }, { maxSessionTurns: 2 });
      const first = await world.open(pair());
      const thread = await first.threads.open("c", { agent: "pair" });
      expect(await thread.send("Begin")).toMatchObject({ stop_code: "execution_stop" });
      await first.close();

      const second = await world.open(pair());
      const again = await second.threads.get(thread.id);
      expect(await again.send("Go on")).toMatchObject({ stop_code: "max_session_turns" });

      expect([a.asked.length, b.asked.length]).toEqual([3, 2]);
    });

    it("[STOP-10] lets sides without a rule take turns step by step", async () => {
      const a = talker(callsTool("peek"), "a2");
      const b = talker(callsTool("peek"), "b2");
      const rules = { stopOnResponse: false };
      const thread = await openPair(
        ...([
          await newWorld(),
          { model: a.model, tools: [peek], rules },
          { model: b.model, tools: [peek], rules },
        ] as const),
        { maxSessionTurns: 2 },
      );

      await thread.send("Begin");

      expect(await listed(thread)).toEqual([
        ...["user: Begin", "assistant:  [peek]", "success peek: seen", "user:  [peek]", "success peek: seen"],
        ...["assistant: a2", "user: b2"],
      ]);
    });

    it("[STOP-6, CTX-20] treats the tools of side B like those of side A", async () => {
      const a = talker("a1", "a2");
      const b = talker(callsTool("peek"), callsTool("finish", { answer: "Good enough" }), "never");
      const thread = await openPair(
        ...([await newWorld(), { model: a.model }] as const),
        { model: b.model, tools: [peek, finish], rules: { stopTool: "finish", stopToolResponseProperty: "answer" } },
        { maxSessionTurns: 1 },
      );

      await thread.send("Begin");

      expect(await listed(thread)).toEqual([
        ...["user: Begin", "assistant: a1", "user:  [peek]", "success peek: seen"],
        ...["user: Good enough [finish]", "success finish: finished"],
      ]);
      expect(b.asked[1]?.lines).toEqual([...["assistant: Begin", "user: a1", "call peek", 'result peek: "seen"']]);
    });

    it("[STOP-11] counts the steps of each side by itself", async () => {
      const a = talker(callsTool("peek"), "a1");
      const b = talker(callsTool("peek"));
      const thread = await openPair(
        await newWorld(),
        { model: a.model, tools: [peek], rules: { maxSteps: 3 } },
        { model: b.model, tools: [peek], rules: { maxSteps: 2 } },
      );

      expect(await thread.send("Begin")).toMatchObject({ stop_code: "max_side_steps" });
      expect([a.asked.length, b.asked.length]).toEqual([2, 2]);
    });
  });
});
