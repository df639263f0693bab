import { expect, it } from "vitest";
import { chatWorld } from "../../../test/chat-world.ts";
import { typeCommand, typeLines } from "../../../test/doors/type-command.ts";
import { childAgent, parentAgent } from "../../../test/survives-a-crash/child-agent.ts";
import { callsTool, says, scriptedModel } from "../../models/scripted/scripted-model.ts";
import { agent } from "../../threads/agent.ts";
import { tool } from "../../threads/tool.ts";

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

/** Its one tool runs when somebody has agreed. */
function shopWorld(...script: Parameters<typeof scriptedModel>[0]) {
  const refund = tool({
    name: "shop/refund",
    description: "Refunds.",
    actionPolicy: "preview",
    execute: () => "Refunded.",
  });
  return chatWorld(agent({ slug: "support", model: scriptedModel(script), tools: [refund] }));
}

it("prints what happens as lines of JSON, with what every message and every answer came to", async () => {
  const world = await shopWorld(says("Hello!"), callsTool("shop/refund", { order: "7" }), says("You have it back."));
  const { code, out } = await typeLines(world, ["chat", "--json"], "Hi\nRefund order 7.\ny\n");
  expect(code).toBe(0);
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({ type: "thread.opened", thread: { agent: "support" } });
  expect(lines.filter(({ type }) => type === "message.added").map(({ message }) => message.type)).toEqual([
    ...["text", "text", "text", "tool_call", "approval_required", "tool_result", "text"],
  ]);
  const asked = lines.find(({ type }) => type === "request.asked");
  expect(asked).toMatchObject({ request: { kind: "approval", status: "pending" } });
  expect(lines.filter(({ type }) => type === "outcome")).toMatchObject([
    { status: "completed", final_content: "Hello!" },
    { status: "approval_required", waiting_for: { request_id: asked.request.id } },
    { status: "completed", final_content: "You have it back." },
  ]);
  expect(lines.at(-1)).toMatchObject({ type: "outcome", thread_id: lines[0].thread.id });
});

it("asks again about a decision that was mistyped, and takes no word of it for a message", async () => {
  const world = await shopWorld(callsTool("shop/refund", { order: "7" }), says("You have it back."));
  const { out, err } = await typeLines(world, ["chat"], "Refund order 7.\nyse\nYES\n");
  expect(err).toContain('"yse" is none of y, n and l.\n');
  expect(out).toContain("You have it back.");
  const [thread] = (await world.holdfast.threads.list()) as readonly { id: string }[];
  const messages = await (await world.holdfast.threads.get(thread?.id ?? ""))?.messages();
  expect(messages?.filter(({ message }) => message.role === "user" && message.type === "text")).toHaveLength(1);
});

it.each(["l", "Later", "", "no"])("takes %o for an answer", async (word) => {
  const world = await shopWorld(callsTool("shop/refund", { order: "7" }), says("Then not."));
  const { out, err } = await typeLines(world, ["chat"], `Refund order 7.\n${word}\n`);
  expect(out.match(/Run shop\/refund/g)).toHaveLength(1);
  if (word === "no") expect(out).toContain("Then not.");
  else expect(err).toMatch(/It waits:\n {2}holdfast approvals accept \S+\n {2}holdfast approvals reject \S+\n$/);
});
