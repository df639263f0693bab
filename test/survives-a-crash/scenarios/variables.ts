// A child that needs a variable: it is kept until somebody sets it, and then created with what it was asked for before.
import { callsTool, says } from "../../../src/models/scripted/scripted-model.ts";
import { untilFamilyAtRest } from "../../../src/testing/until-at-rest.ts";
import { tool } from "../../../src/threads/tool.ts";
import { childAgent, parentAgent } from "../child-agent.ts";
import type { Scenario } from "../scenario.ts";

const wish = { agent: "postman", message: "Fetch the mail.", attachments: [], name: "postman" };

const fetchMail = tool({
  name: "fetch_mail",
  description: "Fetches the mail.",
  idempotent: true,
  execute: async (_, { state }) => ((await state.env("MAIL_TOKEN")) === "t-1" ? "2 letters" : "the wrong box"),
});

export const variables: Scenario = {
  name: "variables",
  agents: () => [
    parentAgent("household", {
      script: [callsTool("subagent_create", wish), says("Somebody has to set a token."), says("There is mail.")],
      tools: [{ name: "postman", resumable: {} }],
    }),
    childAgent("postman", {
      script: [
        callsTool("fetch_mail"),
        (messages) => callsTool("finish", { text: `There are ${messages.at(-1)?.content}.` }),
      ],
      tools: [fetchMail],
      variables: [{ name: "MAIL_TOKEN", required: true, scoped: true }],
    }),
  ],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "household" });
    await thread.send("Is there mail?", { key: "mail" });
    const [pending] = await holdfast.requests.list({ thread: thread.id, status: "pending" });
    if (pending) await holdfast.variables.submit(thread.id, pending.id, { env: { MAIL_TOKEN: "t-1" } });
    await untilFamilyAtRest(holdfast, thread);
  },
  endings: {
    main: {
      agent: "household",
      status: "idle",
      transcript: [
        "user: Is there mail?",
        "call subagent_create",
        "result subagent_create: subagent_env_required",
        "assistant: Somebody has to set a token.",
        'user: The subagent "postman" (<id>) has finished.\n\nThere are 2 letters.',
        "assistant: There is mail.",
      ],
      calls: { "standard/subagent_create": 1 },
      children: [
        {
          agent: "postman",
          name: "postman",
          shown: "idle",
          transcript: [
            "user: Fetch the mail.",
            "call fetch_mail",
            "result fetch_mail: success",
            "call finish",
            "result finish: success",
          ],
        },
      ],
    },
  },
};
