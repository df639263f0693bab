// The operations on pending actions, for whoever calls: what threads have proposed and the caller may see, and everything
// there is for who manages threads. What applying an action takes is shown to nobody: it is not applied at a door.
import { z } from "zod";
import { identifier } from "../contracts/coerce.ts";
import { PLACE_LENGTH } from "../contracts/list-place.ts";
import { LONGEST_NAME_BYTES } from "../contracts/storable-name.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import { defined } from "./defined.ts";
import { lenientInput } from "./lenient-input.ts";
import type { Operation } from "./operation.ts";
import * as pendingActions from "./pending-actions.ts";
import { plain } from "./plain.ts";
import type { Workbench } from "./reach.ts";
import { anyId, jsonMap } from "./shapes.ts";
import { visibleActions } from "./visible-actions.ts";

const statuses = ["pending", "accepted", "rejected", "expired", "deleted"] as const;

const filters = z
  .object({
    status: z.enum(statuses).optional(),
    ...optionalTexts("kind", "workspace_type", "workspace_id", "agent", "creator", "resolver"),
    ...optionalTexts("created_after", "created_before", "resolved_after", "resolved_before"),
    limit: z.int().min(0).optional().meta({ description: "500 at most." }),
    offset: z.int().min(0).optional(),
  })
  .optional();

/** A time and the id of an action. */
const LONGEST_PLACE = LONGEST_NAME_BYTES + PLACE_LENGTH;

const counts = z.record(z.string(), z.int());

export function pendingActionOperations(workbench: Workbench): readonly Operation[] {
  const { define } = workbench;
  const hostFor = visibleActions(workbench);

  return [
    define({
      name: "agents/list-pending-actions",
      title: "List pending actions",
      description: "Lists the actions that match the filters, in whatever status.",
      input: lenientInput(
        z.object({
          filters,
          after: z.string().max(LONGEST_PLACE).optional().meta({ description: "What next told of the page before." }),
        }),
      ),
      output: z.object({ actions: z.array(jsonMap), has_more: z.boolean(), next: z.string().optional() }),
      effect: "read",
      capability: "threads.read",
      async execute(input, { principal }) {
        const next: string[] = [];
        const page = { onNext: (place: string) => next.push(place), ...defined({ after: identifier(input.after) }) };
        const answer = await pendingActions.list(input, hostFor(principal, page));
        const [place] = next;
        return plain({ ...answer, has_more: place !== undefined, ...defined({ next: place }) });
      },
    }),

    define({
      name: "agents/summary-pending-actions",
      title: "Count pending actions",
      description: "Counts the actions that match the filters, by status and by kind.",
      input: lenientInput(z.object({ filters })),
      output: z.object({ total: z.int(), by_status: counts, by_kind: counts }),
      effect: "read",
      capability: "threads.read",
      execute: async (input, { principal }) => plain(await pendingActions.summary(input, hostFor(principal))),
    }),

    define({
      name: "agents/get-pending-action",
      title: "Look at a pending action",
      description: "One action, or null; one that has ended only when that is asked for.",
      input: lenientInput(z.object({ action_id: anyId, include_resolved: z.boolean().optional() })),
      output: z.object({ action: jsonMap.nullable() }),
      effect: "read",
      capability: "threads.read",
      execute: async (input, { principal }) => plain(await pendingActions.get(input, hostFor(principal))),
    }),

    define({
      name: "agents/resolve-pending-action",
      title: "Decide a pending action",
      description: "Accepts or rejects an action, if it is the caller's to decide. Who decides is whoever calls.",
      input: lenientInput(
        z.object({
          action_id: anyId,
          decision: z.enum(["accepted", "rejected"]),
          payload: jsonMap
            .optional()
            .meta({ writeOnly: true, description: "A reason, other parameters, or remember." }),
          context: jsonMap.optional(),
        }),
      ),
      output: z.object({ action_id: z.string(), decision: z.enum(["accepted", "rejected"]), result: z.json() }),
      effect: "write",
      idempotent: true,
      capability: "approvals.decide",
      async execute(input, { principal }) {
        const named = { ...input, resolver: resolverOf(principal) };
        return plain(await pendingActions.resolve(named, hostFor(principal), { principal }));
      },
    }),
  ];
}

/** Who decides, as it is noted: nobody else can be named. */
function resolverOf({ acting_user_id, auth_source }: Principal): string {
  return acting_user_id > 0 ? `user:${acting_user_id}` : auth_source;
}

function optionalTexts<Field extends string>(...fields: readonly Field[]) {
  return Object.fromEntries(fields.map((field) => [field, anyId.optional()])) as Record<
    Field,
    z.ZodOptional<z.ZodString>
  >;
}
