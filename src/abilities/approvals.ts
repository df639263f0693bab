// The operations on what threads have proposed: what waits for a person's word, and that word.
import { z } from "zod";
import { holdfastError } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import type { Request } from "../threads/requests/requests.ts";
import { defined } from "./defined.ts";
import type { Operation } from "./operation.ts";
import { plain } from "./plain.ts";
import type { Workbench } from "./reach.ts";
import { id, jsonMap, listPlace, note } from "./shapes.ts";
import { visibleRequests } from "./visible-requests.ts";

const PAGE = 50;

const requestId = id.meta({ description: "The id of the request for approval." });

const approvalShape = z.object({
  request_id: z.string(),
  thread_id: z.string(),
  agent: z.string().nullable(),
  tool_name: z.string(),
  status: z.enum(["pending", "accepted", "rejected", "expired", "deleted"]),
  summary: z.string(),
  preview: z.json(),
  parameters: z.json().meta({ description: "As they are shown: without secrets." }),
  creator: z.string().nullable().meta({ description: "Who set off the call, such as user:7." }),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  resolved_at: z.string().nullable(),
  resolver: z.string().nullable(),
  resolution: z.json().meta({ description: "The reason, who decided and what was changed." }),
});

type Approval = z.input<typeof approvalShape>;

export function approvalOperations(workbench: Workbench): readonly Operation[] {
  const { runtime, define } = workbench;
  const { requests } = runtime;
  const visible = visibleRequests(workbench);

  async function approvalOf({ id, thread_id, tool_name, shown }: Request): Promise<Approval> {
    const action = await requests.pendingAction(id);
    const { agent, status, summary, preview, creator, created_at, expires_at, resolved_at, resolver } = action;
    return plain({
      ...{ request_id: id, thread_id, agent, tool_name, status, summary, preview, creator },
      ...{ created_at, expires_at, resolved_at, resolver },
      parameters: shown.parameters ?? {},
      resolution: action.resolution_metadata,
    });
  }

  /** Throws `request_not_found` for what is no approval. */
  function approval(request: Request): Request {
    if (request.kind === "approval") return request;
    throw holdfastError("request_not_found", `Request "${request.id}" is no approval.`);
  }

  return [
    define({
      name: "holdfast/list-approvals",
      title: "List approvals",
      description: "Lists what threads have proposed and wait to have decided, or what was decided.",
      input: z.object({
        status: z.enum(["pending", "decided", "expired", "all"]).default("pending"),
        thread_id: id.optional(),
        after: listPlace.optional().meta({ description: "What next told, or the id of the last one that was seen." }),
        limit: z.coerce.number().int().min(1).max(200).default(PAGE),
      }),
      output: z.object({ approvals: z.array(approvalShape), has_more: z.boolean(), next: z.string().optional() }),
      effect: "read",
      capability: "threads.read",
      route: { method: "get", path: "/approvals" },
      async execute({ status, thread_id, after, limit }, { principal }) {
        const one = status === "pending" || status === "expired" ? status : undefined;
        const isWanted = status === "decided" ? isDecided : undefined;
        const query = defined({ thread: thread_id, after, status: one, isWanted });
        const found = await visible.list({ ...query, kind: "approval", limit }, principal);
        const { next } = found;
        const approvals = await Promise.all(found.requests.map(approvalOf));
        return { approvals, has_more: next !== null, ...(next !== null && { next }) };
      },
    }),

    define({
      name: "holdfast/get-approval",
      title: "Look at an approval",
      description: "What is proposed, by which thread, and what was decided about it.",
      input: z.object({ request_id: requestId }),
      output: approvalShape,
      effect: "read",
      capability: "threads.read",
      route: { method: "get", path: "/approvals/{request_id}" },
      async execute({ request_id }, { principal }) {
        return await approvalOf(approval(await visible.get(request_id, principal)));
      },
    }),

    define({
      name: "holdfast/decide-approval",
      title: "Decide an approval",
      description:
        "Accepts or rejects what a thread has proposed, if it is the caller's to decide. The same decision again is a repeat.",
      input: z.object({
        request_id: requestId,
        decision: z.enum(["accepted", "rejected"]),
        reason: note.optional(),
        parameters: jsonMap.optional().meta({ writeOnly: true, description: "Other parameters than were proposed." }),
        remember: z.boolean().optional().meta({ description: "Decides about the next calls of this tool too." }),
      }),
      output: z.object({ outcome: z.enum(["submitted", "repeated"]), approval: approvalShape }),
      effect: "write",
      idempotent: true,
      capability: "approvals.decide",
      route: { method: "post", path: "/approvals/{request_id}" },
      async execute({ request_id, decision, reason, parameters, remember }, { principal }) {
        approval(await visible.toAnswer(request_id, principal, { remember }));
        const answer = { decision, ...defined({ reason, parameters, remember }) };
        const { outcome, request } = await requests.submit(request_id, answer, { principal });
        return { outcome, approval: await approvalOf(request) };
      },
    }),
  ];
}

function isDecided({ answer }: Request): boolean {
  return isMap(answer) && "decision" in answer;
}
