// Files go with the conversation: a parent's to its child, and what the child makes of it back to the parent.
import { callsTool, says } from "../../../src/models/scripted/scripted-model.ts";
import { tool } from "../../../src/threads/tool.ts";
import { childAgent, lastShown, parentAgent } from "../child-agent.ts";
import type { Scenario } from "../scenario.ts";

const PLAN = "/attachments/plan.txt";
const REVIEW = "/attachments/review.txt";

const wish = { agent: "reviewer", message: `Review ${PLAN}.`, attachments: [PLAN], name: "reviewer" };

const writePlan = tool({
  name: "write_plan",
  description: "Writes the plan.",
  idempotent: true,
  execute: async (_, { state }) => (await state.writeFile(PLAN, "Go.")).path,
});

const reviewFile = tool({
  name: "review_file",
  description: "Reviews a file.",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  idempotent: true,
  async execute({ path }, { state }) {
    const plan = new TextDecoder().decode((await state.readFile(String(path))) ?? undefined);
    return (await state.writeFile(REVIEW, `${plan} Where to?`)).path;
  },
});

export const attachments: Scenario = {
  name: "attachments",
  agents: () => [
    parentAgent("planner_in_chief", {
      script: [callsTool("write_plan"), callsTool("subagent_create", wish), says("It was reviewed.")],
      tools: [writePlan, { name: "reviewer", resumable: {} }],
    }),
    childAgent("reviewer", {
      script: [
        (messages) => callsTool("review_file", { path: lastShown(messages, "path") }),
        callsTool("finish", { text: `See ${REVIEW}.`, files: [REVIEW] }),
      ],
      tools: [reviewFile],
    }),
  ],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "planner_in_chief" });
    await thread.send("Plan it.", { key: "plan" });
  },
  endings: {
    main: {
      agent: "planner_in_chief",
      status: "idle",
      transcript: [
        "user: Plan it.",
        "call write_plan",
        "result write_plan: success",
        "call subagent_create",
        "result subagent_create: success",
        "assistant: It was reviewed.",
      ],
      files: ["plan.txt: Go.", "review.txt: Go. Where to?"],
      children: [
        {
          agent: "reviewer",
          name: "reviewer",
          shown: "idle",
          transcript: [
            'user: The file "plan.txt" was put at /attachments/plan-<copy>.txt.',
            "user: Review /attachments/plan-<copy>.txt.",
            "call review_file",
            "result review_file: success",
            "call finish",
            "result finish: success",
          ],
          files: ["plan.txt: Go.", "review.txt: Go. Where to?"],
        },
      ],
    },
  },
};
