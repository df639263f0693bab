// The operations on the audit: sign where everything stands, hand it out, and look whether what was handed out is what was
// written.
import { z } from "zod";
import { verifyAudit } from "../contracts/audit/verify-audit.ts";
import { defined } from "./defined.ts";
import type { Operation } from "./operation.ts";
import type { Workbench } from "./reach.ts";
import { id } from "./shapes.ts";

const PAGE = 100;

const signedShape = z.object({
  statement: z.string().meta({ description: "The very text that is signed." }),
  signature: z.string().max(1_024),
});

const keyShape = z.object({
  public_key: z.string(),
  fingerprint: z.string().meta({ description: "Tells one key from another; every export names it." }),
});

const verdictShape = z.looseObject({ ok: z.boolean() });

export function auditOperations({ runtime: { audit }, define }: Workbench): readonly Operation[] {
  return [
    define({
      name: "holdfast/audit-checkpoint",
      title: "Sign a checkpoint",
      description: "Signs where all threads stand that have changed since the last checkpoint, and which are gone.",
      input: z.object({}),
      output: signedShape,
      effect: "write",
      idempotent: true,
      capability: "audit.read",
      route: { method: "post", path: "/audit/checkpoints", status: 201 },
      execute: async () => ({ ...(await audit.checkpoint()) }),
    }),

    define({
      name: "holdfast/list-checkpoints",
      title: "List the checkpoints",
      description: "The checkpoints, oldest first. One that is kept elsewhere shows later that none was taken away.",
      input: z.object({
        limit: z.coerce.number().int().min(1).max(500).default(PAGE),
        offset: z.coerce.number().int().min(0).default(0).meta({ description: "How many of the oldest to leave out." }),
      }),
      output: z.object({ checkpoints: z.array(signedShape), has_more: z.boolean() }),
      effect: "read",
      capability: "audit.read",
      route: { method: "get", path: "/audit/checkpoints" },
      async execute({ limit, offset }) {
        const found = await audit.checkpoints({ offset, limit: limit + 1 });
        return { checkpoints: found.slice(0, limit), has_more: found.length > limit };
      },
    }),

    define({
      name: "holdfast/export-audit",
      title: "Export the audit",
      description:
        "One thread, or all there are, content included, with what shows that it is what was written. A checkpoint is made for it.",
      input: z.object({ thread: id.optional().meta({ description: "The id of one thread." }) }),
      output: z.looseObject({
        schema: z.literal("holdfast.audit-export"),
        version: z.literal(1),
        manifest: signedShape,
      }),
      // A checkpoint is signed and kept for it.
      effect: "write",
      idempotent: true,
      capability: "audit.read",
      route: { method: "post", path: "/audit/export" },
      execute: async ({ thread }) => ({ ...(await audit.export(defined({ thread }))) }),
    }),

    define({
      name: "holdfast/verify-audit",
      title: "Verify an export",
      description:
        "Names the first place of an export that is not what was written. With the key of this installation unless given; " +
        "nothing stored is looked at. Whoever does not trust this installation verifies elsewhere.",
      input: z.object({
        export: z.unknown().meta({ description: "An export as it was handed out." }),
        public_key: z.string().min(1).max(1_024).optional(),
        checkpoints: z
          .array(signedShape)
          .max(100_000)
          .optional()
          .meta({ description: "Checkpoints that were kept elsewhere." }),
      }),
      output: verdictShape,
      effect: "read",
      capability: "audit.read",
      route: { method: "post", path: "/audit/verify" },
      async execute({ export: exported, public_key = audit.publicKey, checkpoints }) {
        return { ...verifyAudit(exported, public_key, defined({ checkpoints })) };
      },
    }),

    define({
      name: "holdfast/get-audit-key",
      title: "Get the public key of the audit",
      description: "What an export is verified with. Hand it over by another way than the export.",
      input: z.object({}),
      output: keyShape,
      effect: "read",
      capability: "audit.read",
      route: { method: "get", path: "/audit/key" },
      execute: async () => ({ public_key: audit.publicKey, fingerprint: audit.fingerprint }),
    }),
  ];
}
