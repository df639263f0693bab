// The door of channels: services elsewhere call it without a token, and prove by a signature who they are.

import { isOperationError } from "../contracts/operation-error.ts";
import type { Mount } from "./door.ts";
import { problem } from "./problem.ts";

export const channelsDoor: Mount = (app, { holdfast }) => {
  app.post("/channels/:name", async (context) => {
    const { req } = context;
    // The very bytes: a signature says nothing about what somebody makes of them.
    const body = new Uint8Array(await req.arrayBuffer());
    const taken = await holdfast.channels.receive(req.param("name"), { headers: req.raw.headers, body });
    if (isOperationError(taken)) return problem(context, taken);
    return typeof taken.body === "string"
      ? context.text(taken.body, taken.status)
      : context.json(taken.body, taken.status);
  });
};
