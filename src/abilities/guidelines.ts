// The operations on guidelines: what a person keeps for agents in a workspace, and what the workspace shares. Who may see
// and change what is for the guidelines themselves to say.
import { z } from "zod";
import type { Guideline } from "../backend/guideline-store.ts";
import { holdfastError } from "../contracts/error.ts";
import { writePlace } from "../contracts/list-place.ts";
import { PRIVATE_MEMORY, SHARED_GUIDANCE } from "../contracts/memory/guideline.ts";
import { type OperationError, operationError } from "../contracts/operation-error.ts";
import type { GuidelineOutcome, Guidelines } from "../memory/guidelines.ts";
import { defined } from "./defined.ts";
import type { Operation } from "./operation.ts";
import type { Workbench } from "./reach.ts";
import { anyId, listPlace, id as someId, timeOf } from "./shapes.ts";

const PAGE = 50;

const scope = z.enum([PRIVATE_MEMORY, SHARED_GUIDANCE]);
const id = someId.meta({ description: "The id of the guideline." });
const version = z.coerce.number().int().min(0).meta({ description: "The version that the change was made from." });
const texts = { title: z.string().max(1_000), content: z.string().max(100_000), type: anyId, status: anyId };

const guidelineShape = z.object({
  id: z.string(),
  type: z.string(),
  title: z.string(),
  content: z.string(),
  scope,
  user_id: z.int(),
  workspace_id: z.string(),
  status: z.string(),
  version: z.int(),
  promoted_from: z.string().nullable(),
  promoted_by: z.int().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

const changedShape = z.object({
  guideline: guidelineShape.nullable().meta({ description: "Null for whoever may change it, but not read it." }),
});

export function guidelineOperations({ runtime, define }: Workbench): readonly Operation[] {
  function guidelines(): Guidelines {
    if (runtime.guidelines) return runtime.guidelines;
    throw holdfastError("guidelines_unavailable", "This installation keeps no guidelines.");
  }

  return [
    define({
      name: "holdfast/list-guidelines",
      title: "List guidelines",
      description: "What the caller may see of one workspace, oldest first.",
      input: z.object({
        workspace_id: someId,
        scope: scope.optional(),
        type: anyId.optional(),
        status: anyId.optional(),
        after: listPlace
          .regex(/^\d{1,16}:./)
          .optional()
          .meta({ description: "What the page before has named as next." }),
        limit: z.coerce.number().int().min(1).max(100).default(PAGE),
      }),
      output: z.object({ guidelines: z.array(guidelineShape), next: z.string().nullable() }),
      effect: "read",
      capability: "memory.read",
      route: { method: "get", path: "/guidelines" },
      async execute({ after, limit, ...list }, { principal }) {
        const page = defined({ ...list, after: after === undefined ? undefined : placeAfter(after) });
        const found = await guidelines().list(principal, { ...page, limit });
        const last = found.length === limit ? found.at(-1) : undefined;
        return { guidelines: found.map(shown), next: last ? writePlace(last) : null };
      },
    }),

    define({
      name: "holdfast/get-guideline",
      title: "Read a guideline",
      description: "One guideline; private memory is there for its owner alone.",
      input: z.object({ id }),
      output: guidelineShape,
      effect: "read",
      capability: "memory.read",
      route: { method: "get", path: "/guidelines/{id}" },
      execute: async ({ id: which }, { principal }) => shown(await guidelines().get(principal, which)),
    }),

    define({
      name: "holdfast/create-guideline",
      title: "Write a guideline",
      description: "Keeps private memory of the caller in a workspace, or shares guidance there.",
      input: z.object({
        workspace_id: someId,
        scope,
        ...{ title: texts.title, content: texts.content, type: texts.type.optional(), status: texts.status.optional() },
      }),
      output: guidelineShape,
      effect: "write",
      capability: "memory.write",
      route: { method: "post", path: "/guidelines", status: 201 },
      async execute({ type, status, ...input }, { principal }) {
        return shown(await guidelines().create(principal, { ...input, ...defined({ type, status }) }));
      },
    }),

    define({
      name: "holdfast/update-guideline",
      title: "Change a guideline",
      description: "Changes the fields that are given, unless somebody else was faster.",
      input: z.object({ id, version, ...z.object(texts).partial().shape }),
      output: changedShape,
      effect: "write",
      capability: "memory.write",
      route: { method: "patch", path: "/guidelines/{id}" },
      async execute({ id: which, version: from, ...change }, { principal }) {
        return changed(await guidelines().update(principal, which, from, defined(change)));
      },
    }),

    define({
      name: "holdfast/promote-guideline",
      title: "Share a private guideline",
      description: "Shares what a private record says, as a record of its own that knows where it came from.",
      input: z.object({ id, version }),
      output: changedShape,
      effect: "write",
      idempotent: true,
      capability: "memory.write",
      route: { method: "post", path: "/guidelines/{id}/promote" },
      async execute({ id: which, version: from }, { principal }) {
        return changed(await guidelines().promote(principal, which, from));
      },
    }),

    define({
      name: "holdfast/delete-guideline",
      title: "Delete a guideline",
      description: "Erases a guideline, unless somebody else was faster.",
      input: z.object({ id, version }),
      output: z.object({ deleted: z.literal(true) }),
      effect: "destroy",
      capability: "memory.write",
      route: { method: "delete", path: "/guidelines/{id}" },
      async execute({ id: which, version: from }, { principal }) {
        const done = await guidelines().delete(principal, which, from);
        return done.outcome === "deleted" ? { deleted: true as const } : overtaken(done.guideline);
      },
    }),
  ];
}

function changed({ outcome, guideline }: GuidelineOutcome): z.input<typeof changedShape> | OperationError {
  return outcome === "done" ? { guideline: guideline && shown(guideline) } : overtaken(guideline);
}

/** With how it stands now, for whoever may read that. */
function overtaken(guideline: Guideline | null): OperationError {
  const data = guideline ? { guideline: shown(guideline) } : undefined;
  return operationError("guideline_conflict", "Somebody else has changed the guideline meanwhile.", data);
}

function placeAfter(next: string): { readonly created_at: number; readonly id: string } {
  const colon = next.indexOf(":");
  return { created_at: Number(next.slice(0, colon)), id: next.slice(colon + 1) };
}

function shown({ created_at, updated_at, ...guideline }: Guideline): z.input<typeof guidelineShape> {
  return { ...guideline, created_at: timeOf(created_at), updated_at: timeOf(updated_at) };
}
