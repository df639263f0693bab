// The operations on decisions that hold until they are forgotten: whoever once said "do not ask me again" sees what he said,
// and takes it back.
import { z } from "zod";
import type { Principal } from "../contracts/trust/principal.ts";
import type { RememberedDecision } from "../trust/approval-memory.ts";
import { defined } from "./defined.ts";
import type { Operation } from "./operation.ts";
import type { Workbench } from "./reach.ts";
import { anyId } from "./shapes.ts";

const PAGE = 100;

const name = anyId;
const key = { workspace_type: name, workspace_id: name, agent_id: name, tool_name: name };

const userId = z.coerce.number().int().min(1).optional().meta({ description: "Another user than the caller's." });

const rememberedShape = z.object({
  ...key,
  user_id: z.int(),
  policy: z.enum(["direct", "preview", "forbidden"]),
  request_id: z.string().nullable(),
  created_at: z.string(),
});

export function rememberedOperations({ runtime, define, reach }: Workbench): readonly Operation[] {
  const { remembered } = runtime.approvals;

  /** Whose decisions: the caller's own, and of others for who manages threads. Undefined for everybody's, 0 for nobody's. */
  async function whose(given: number | undefined, principal: Principal): Promise<number | undefined> {
    if (await reach.managesThreads(principal)) return given;
    const { acting_user_id: own } = principal;
    return given === undefined || given === own ? own : 0;
  }

  return [
    define({
      name: "holdfast/list-remembered-approvals",
      title: "List remembered decisions",
      description: "Lists which tools run, or are refused, without asking again, because somebody decided so.",
      input: z.object({
        user_id: userId,
        agent_id: name.optional(),
        tool_name: name.optional(),
        limit: z.coerce.number().int().min(1).max(500).default(PAGE),
        offset: z.coerce.number().int().min(0).default(0).meta({ description: "How many of the latest to leave out." }),
      }),
      output: z.object({ remembered: z.array(rememberedShape), has_more: z.boolean() }),
      effect: "read",
      capability: "threads.read",
      route: { method: "get", path: "/approvals/remembered" },
      async execute({ user_id, agent_id, tool_name, limit, offset }, { principal }) {
        const user = await whose(user_id, principal);
        // Nobody in particular has decided nothing.
        if (user === 0) return { remembered: [], has_more: false };
        const found = await remembered.list(defined({ user_id: user, agent_id, tool_name }));
        const rest = found
          .map(shown)
          .filter((each) => isHere(each, principal))
          .slice(offset);
        return { remembered: rest.slice(0, limit), has_more: rest.length > limit };
      },
    }),

    define({
      name: "holdfast/forget-remembered-approval",
      title: "Forget a remembered decision",
      description: "From the next call on the tool is asked about again.",
      input: z.object({ ...key, user_id: userId }),
      output: z.object({ forgotten: z.boolean() }),
      effect: "destroy",
      idempotent: true,
      capability: "approvals.decide",
      route: { method: "delete", path: "/approvals/remembered" },
      async execute({ user_id, workspace_type, workspace_id, agent_id, tool_name }, { principal }) {
        const user = (await whose(user_id, principal)) ?? principal.acting_user_id;
        if (user === 0 || !isHere({ workspace_id }, principal)) return { forgotten: false };
        const workspace = { workspace_type, workspace_id };
        return { forgotten: await remembered.forget({ workspace, user_id: user, agent_id, tool_name }) };
      },
    }),
  ];
}

/** Whoever was let in for one workspace sees nothing of another. */
function isHere({ workspace_id }: { readonly workspace_id: string }, principal: Principal): boolean {
  return principal.workspace_id === null || workspace_id === principal.workspace_id;
}

function shown({ workspace, user_id, agent_id, tool_name, policy, request_id, created_at }: RememberedDecision) {
  return { ...workspace, user_id, agent_id, tool_name, policy, request_id, created_at };
}
