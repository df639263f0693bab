// Exchanges a token for a ticket to one stream.
import { z } from "zod";
import { operationError } from "../contracts/operation-error.ts";
import { isStreamPath } from "./authenticate.ts";
import { readJson } from "./body.ts";
import type { Mount } from "./door.ts";
import { problem } from "./problem.ts";
import { TICKET_SECONDS, type Tickets } from "./tickets.ts";

const asked = z.object({ pathname: z.string().startsWith("/").max(2_000).refine(isStreamPath) });

export function ticketDoor(tickets: Tickets): Mount {
  return (app) => {
    app.post("/auth/stream-ticket", async (context) => {
      const read = await readJson(context);
      if ("refusal" in read) return problem(context, read.refusal);
      const parsed = asked.safeParse(read.body);
      if (!parsed.success) {
        return problem(context, operationError("invalid_input", "pathname must be the path of a stream."));
      }
      const ticket = tickets.issue(context.get("principal"), parsed.data.pathname);
      if (ticket === undefined) {
        const refusal = operationError("too_many_requests", "Too many tickets were asked for and not used.");
        return problem(context, refusal, { "Retry-After": String(TICKET_SECONDS) });
      }
      return context.json({ ticket, expires_in: TICKET_SECONDS });
    });
  };
}
