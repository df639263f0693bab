// A tool leaves a message and another tool for its own thread, and a client does the same from outside: what a tool
// queues is committed with its outcome, or not at all.
import { callsTool, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import type { World } from "../../../src/testing/scenario.ts";
import { agent } from "../../../src/threads/agent.ts";
import { tool } from "../../../src/threads/tool.ts";
import { act, ship } from "../effect-tools.ts";
import type { Scenario } from "../scenario.ts";

export const queuesFromTool: Scenario = {
  name: "queue",
  agents: (world) => [
    agent({
      slug: "planner",
      model: scriptedModel([callsTool("shop/plan"), says("Planned."), says("Seen."), says("Seen again.")]),
      tools: [plan(world), ship(world)],
    }),
  ],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "planner" });
    await thread.send("Plan it.", { key: "plan" });
    await thread.wait();
    await thread.queueTool("shop/ship", { order: "8" }, { key: "outside tool" });
    await thread.wait();
    await thread.queueMessage("From outside.", { key: "outside message" });
    await thread.wait();
  },
  endings: {
    main: {
      agent: "planner",
      status: "idle",
      transcript(lines) {
        const hasPlanned = lines.includes("result shop/plan: success");
        const wanted = [...(hasPlanned ? ["user: From inside."] : []), "user: Plan it.", "user: From outside."];
        const problems = wanted.flatMap((line) => {
          const count = lines.filter((each) => each === line).length;
          return count === 1 ? [] : [`"${line}" stands there ${count} times`];
        });
        const shipped = lines.filter((line) => line === "result shop/ship: success").length;
        if (shipped !== (hasPlanned ? 2 : 1)) problems.push(`shipped ${shipped} times`);
        return problems.length > 0 ? [...problems, lines.join(" | ")] : [];
      },
    },
  },
};

function plan(world: World) {
  return tool({
    name: "shop/plan",
    description: "Leaves work for later.",
    async execute(_, context) {
      context.queueMessage("From inside.");
      context.queueTool("shop/ship", { order: "7" });
      return await act(world, "plan", context);
    },
  });
}
