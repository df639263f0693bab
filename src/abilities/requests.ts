// The operations on what threads wait for: list it, read it, answer it once.
import { z } from "zod";
import type { JsonMap } from "../contracts/json.ts";
import { operationError } from "../contracts/operation-error.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { Answer, Request } from "../threads/requests/requests.ts";
import { defined } from "./defined.ts";
import type { Operation } from "./operation.ts";
import { plain } from "./plain.ts";
import type { Workbench } from "./reach.ts";
import { id, jsonMap, listPlace, note, timeOf } from "./shapes.ts";
import { visibleRequests } from "./visible-requests.ts";

const PAGE = 50;

const requestId = id.meta({ description: "The id of the request." });

const requestShape = z.object({
  id: z.string(),
  thread_id: z.string(),
  run: z.int(),
  kind: z.enum(["client_tool", "approval", "child", "variables"]),
  tool_name: z.string(),
  status: z.enum(["pending", "answered", "expired", "cancelled", "settled"]),
  shown: jsonMap.meta({ description: "The call without its secrets." }),
  answer: z.json(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  whole: jsonMap.optional().meta({ description: "The whole call, for whoever runs the tool." }),
});

const { kind, status } = requestShape.shape;

export function requestOperations(workbench: Workbench): readonly Operation[] {
  const { runtime, define, reach } = workbench;
  const { requests, authority } = runtime;
  const visible = visibleRequests(workbench);

  /** The secrets of a call are for whoever is to run the tool, and nobody else needs them to answer. */
  async function wholeOf({ id, thread_id, kind: of, status: now }: Request, principal: Principal) {
    if (of !== "client_tool" || now !== "pending") return {};
    const mayAnswer = await authority.within(principal, "requests.answer");
    return mayAnswer && (await reach.has(thread_id, principal, "answer")) ? { whole: await requests.open(id) } : {};
  }

  return [
    define({
      name: "holdfast/list-requests",
      title: "List what threads wait for",
      description: "Lists what the caller's threads wait for, and what waits for a decision of the caller.",
      input: z.object({
        thread_id: id.optional(),
        status: status.optional(),
        kind: kind.optional(),
        after: listPlace.optional().meta({ description: "What next told, or the id of the last one that was seen." }),
        limit: z.coerce.number().int().min(1).max(500).default(PAGE),
      }),
      output: z.object({ requests: z.array(requestShape), has_more: z.boolean(), next: z.string().optional() }),
      effect: "read",
      capability: "threads.read",
      route: { method: "get", path: "/requests" },
      async execute({ thread_id, limit, ...query }, { principal }) {
        const found = await visible.list({ ...defined({ ...query, thread: thread_id }), limit }, principal);
        const { next } = found;
        const shown = found.requests.map((each) => shownRequest(each));
        return { requests: shown, has_more: next !== null, ...(next !== null && { next }) };
      },
    }),

    define({
      name: "holdfast/get-request",
      title: "Read what a thread waits for",
      description: "One request. While a client is to run the tool, whoever may answer gets the whole call with it.",
      input: z.object({ request_id: requestId }),
      output: requestShape,
      effect: "read",
      capability: "threads.read",
      route: { method: "get", path: "/requests/{request_id}" },
      async execute({ request_id }, { principal }) {
        const request = await visible.get(request_id, principal);
        return shownRequest(request, await wholeOf(request, principal));
      },
    }),

    define({
      name: "holdfast/submit-request",
      title: "Answer what a thread waits for",
      description:
        "Submits a result or an error for a client tool, or a decision for an approval. The first answer counts, and the same one again is a repeat.",
      input: z.object({
        request_id: requestId,
        result: z.json().optional(),
        error: z.string().optional(),
        decision: z.enum(["accepted", "rejected"]).optional(),
        reason: note.optional(),
        parameters: jsonMap.optional().meta({ writeOnly: true, description: "Other parameters than were proposed." }),
        remember: z.boolean().optional().meta({ description: "Decides about the next calls of this tool too." }),
      }),
      output: z.object({ outcome: z.enum(["submitted", "repeated"]), request: requestShape }),
      effect: "write",
      idempotent: true,
      capability: "requests.answer",
      route: { method: "post", path: "/requests/{request_id}" },
      async execute({ request_id, ...answer }, { principal }) {
        const { kind: asked } = await visible.get(request_id, principal);
        if (asked === "approval" && !(await authority.within(principal, "approvals.decide"))) {
          return operationError("ability_forbidden", "To decide takes the capability approvals.decide.");
        }
        await visible.toAnswer(request_id, principal, answer);
        const { outcome, request } = await requests.submit(request_id, defined(answer) as Answer, { principal });
        return { outcome, request: shownRequest(request) };
      },
    }),
  ];
}

function shownRequest(request: Request, more: { readonly whole?: JsonMap } = {}): z.input<typeof requestShape> {
  const { created_at, expires_at } = request;
  const times = { created_at: timeOf(created_at), expires_at: expires_at === null ? null : timeOf(expires_at) };
  return plain({ ...request, ...times, ...more });
}
