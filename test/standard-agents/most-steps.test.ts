// The last resort against models that never come to an end.
import { expect, it } from "vitest";
import { callsTool } from "../../src/models/scripted/scripted-model.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase } from "../databases.ts";
import { openHelper, openPair } from "./open-agents.ts";
import { talker } from "./talker.ts";

const peek = tool({ name: "peek", description: "Looks.", execute: () => "seen" });

/** Comparing state and records after every commit of a run this long would take most of the time. */
const options = { verifies: false };

eachDatabase((newWorld) => {
  it("19 [STOP-14] ends a run after 250 steps when nothing else ends it", async () => {
    const { model, asked } = talker(callsTool("peek"));
    const thread = await openHelper(await newWorld(), { model, tools: [peek] }, { options });

    expect(await thread.send("Go")).toMatchObject({ stop_code: "max_total_steps", status: "limit_reached" });
    expect(asked).toHaveLength(250);
    expect(await thread.status()).toMatchObject({ status: "idle" });
  });

  it("19 [STOP-14] counts the steps of both sides together", async () => {
    const [a, b] = [talker("a"), talker("b")];
    const thread = await openPair(await newWorld(), { model: a.model }, { model: b.model }, { options });

    expect(await thread.send("Go")).toMatchObject({ stop_code: "max_total_steps" });
    expect([a.asked.length, b.asked.length]).toEqual([125, 125]);
  });

  it("19 [STOP-14] lets a side take as many steps as it may, also when that is more", async () => {
    const { model, asked } = talker(callsTool("peek"));
    const about = { model, tools: [peek], rules: { maxSteps: 260 } };
    const thread = await openHelper(await newWorld(), about, { options });

    expect(await thread.send("Go")).toMatchObject({ stop_code: "max_side_steps" });
    expect(asked).toHaveLength(260);
  });
});
