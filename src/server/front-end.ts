// The chat of web pages: one request, one answer.
import { createWorkbench } from "../abilities/reach.ts";
import { frontEndDispatch } from "../contracts/chat/front-end-dispatch.ts";
import { isOperationError } from "../contracts/operation-error.ts";
import { readJson } from "./body.ts";
import { chatCaller } from "./chat-caller.ts";
import type { Mount } from "./door.ts";
import { problem } from "./problem.ts";

export const frontEndDoor: Mount = (app, { holdfast }) => {
  const { reach } = createWorkbench(holdfast);

  app.post("/agents-api/v1/chat", async (context) => {
    const read = await readJson(context);
    if ("refusal" in read) return problem(context, read.refusal);
    const principal = context.get("principal");
    const answer = await frontEndDispatch(read.body, {
      permits: ({ agent }) => reach.agent(agent, principal),
      chat: chatCaller(holdfast, context).chat,
    });
    return isOperationError(answer) ? problem(context, answer) : context.json(answer);
  });
};
