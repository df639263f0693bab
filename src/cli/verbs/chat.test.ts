import { expect, it } from "vitest";
import { chatWorld } from "../../../test/chat-world.ts";
import { typeCommand } from "../../../test/doors/type-command.ts";
import { childAgent, parentAgent } from "../../../test/survives-a-crash/child-agent.ts";
import { callsTool, says } from "../../models/scripted/scripted-model.ts";

it("asks nobody for the variables of a subagent: values that may be secret are not typed into a chat", async () => {
  const wish = { agent: "postman", message: "Fetch the mail.", attachments: [], name: "postman" };
  const { holdfast, url, token } = await chatWorld([
    parentAgent("household", {
      script: [callsTool("subagent_create", wish), says("Somebody has to set a token.")],
      tools: [{ name: "postman", resumable: {} }],
    }),
    childAgent("postman", {
      script: [callsTool("finish", { text: "Two letters." })],
      variables: [{ name: "MAIL_TOKEN", required: true, scoped: true }],
    }),
  ]);
  const thread = await holdfast.threads.open("mail", { agent: "household" });
  await thread.send("Is there mail?");
  expect(await holdfast.requests.list({ thread: thread.id, status: "pending" })).toMatchObject([{ kind: "variables" }]);
  const printed = await typeCommand(url, token, "chat", "--thread", thread.id);
  expect(printed).toContain(`Thread ${thread.id} with household`);
  expect(printed).not.toContain("asks:");
});
