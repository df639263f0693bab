import { expect, it } from "vitest";
import { ceiling, deskWorld } from "../../test/desk-world.ts";
import { childAgent, parentAgent } from "../../test/survives-a-crash/child-agent.ts";
import { redactedParameters } from "../contracts/abilities/dispatcher.ts";
import { callsTool, says } from "../models/scripted/scripted-model.ts";
import { untilFamilyAtRest } from "../testing/until-at-rest.ts";

const SECRET = "s3cr3t-value";
const wish = { agent: "postman", message: "Fetch the mail.", attachments: [], name: "postman" };

async function waiting() {
  const world = await deskWorld({
    agents: [
      parentAgent("household", {
        script: [callsTool("subagent_create", wish), says("Somebody has to set a token."), says("There is mail.")],
        tools: [{ name: "postman", resumable: {} }],
      }),
      childAgent("postman", {
        script: [callsTool("finish", { text: "Two letters." })],
        variables: [{ name: "MAIL_TOKEN", required: true, scoped: true }],
      }),
    ],
  });
  await world.grant("household", 7, 8);
  const { holdfast } = world;
  const ann = world.as(7);
  const { id } = await ann("holdfast/open-thread", { agent: "household" });
  const thread = await holdfast.threads.get(id);
  await thread.send("Is there mail?");
  const [request] = await holdfast.requests.list({ thread: id, status: "pending" });
  return { ...world, ann, thread, about: { parent_thread_id: id, request_id: request?.id ?? "" } };
}

it("tells what is missing, takes it once and never shows it again", async () => {
  const { ann, holdfast, thread, about } = await waiting();
  expect(await ann("holdfast/get-variables", about)).toEqual({
    ...{ ...about, agent_name: "postman", registry_agent_name: "postman" },
    ...{ required: ["MAIL_TOKEN"], missing: ["MAIL_TOKEN"] },
  });
  for (const env of ["none", undefined, [SECRET]]) {
    const refused = await ann("holdfast/submit-variables", { ...about, ...(env !== undefined && { env }) });
    expect(refused).toMatchObject({ code: "invalid_variables" });
  }
  expect(await ann("holdfast/submit-variables", { ...about, env: { MAIL_TOKEN: null } })).toMatchObject({
    code: "variables_missing",
  });
  const env = { MAIL_TOKEN: SECRET };
  const answer = await ann("holdfast/submit-variables", { ...about, env });
  expect(answer).toEqual({ request_id: about.request_id, child_thread_id: expect.any(String), status: "success" });
  expect(redactedParameters("holdfast/submit-variables", { ...about, env }, holdfast.abilities)).toEqual({
    ...{ ...about, env: "[redacted]" },
  });
  for (const name of ["get-variables", "submit-variables"]) {
    expect(await ann(`holdfast/${name}`, { ...about, env })).toMatchObject({ code: "variable_request_not_found" });
  }
  await untilFamilyAtRest(holdfast, thread);
  expect(await ann("holdfast/list-messages", { thread_id: thread.id })).toMatchObject({ has_more: false });
});

it("is for whoever reaches the parent, and may answer", async () => {
  const { as, about } = await waiting();
  for (const name of ["get-variables", "submit-variables"]) {
    const env = { MAIL_TOKEN: SECRET };
    expect(await as(8)(`holdfast/${name}`, { ...about, env })).toMatchObject({ code: "thread_not_found" });
    const chats = as(7, ceiling(7, "chat"));
    expect(await chats(`holdfast/${name}`, { ...about, env })).toMatchObject({ code: "ability_forbidden" });
  }
  expect(await as(7)("holdfast/get-variables", { ...about, request_id: "another" })).toMatchObject({
    code: "variable_request_not_found",
  });
});
