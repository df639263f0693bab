// The operations on bearer tokens: make one, which is shown once; list those there are; revoke one.
import { z } from "zod";
import { bridgeSlug } from "../contracts/channels/connector-slug.ts";
import { holdfastError } from "../contracts/error.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { IssuedToken } from "../trust/tokens.ts";
import { defined } from "./defined.ts";
import type { Operation } from "./operation.ts";
import { plain } from "./plain.ts";
import type { Workbench } from "./reach.ts";
import { id, jsonMap, LONGEST_ID } from "./shapes.ts";
import { actsForOthers, limitedToken } from "./token-limits.ts";
import { checkTokenNames } from "./token-names.ts";

const PAGE = 100;

const tokenShape = z.object({
  token_id: z.int(),
  agent_id: z.string(),
  owner_user_id: z.int(),
  token_prefix: z.string(),
  label: z.string(),
  allowed_capabilities: z.array(z.string()).nullable(),
  expires_at: z.string().nullable(),
  last_used_at: z.string().nullable(),
  created_at: z.string().nullable(),
  client_id: z.string().nullable(),
  workspace_id: z.string().nullable(),
  metadata: jsonMap,
  revoked_at: z.string().nullable(),
  by_grant: z.boolean(),
});

const CAPABILITIES =
  "All that it may do. Without a list: whatever the caller may, or for another user what everybody may with what is theirs.";

const UNCHECKED =
  "Takes an agent that only other processes know, and capabilities in the host's own words. Misspelt ones too.";

/** Bridges know clients by their slugs: a name that becomes that of another client would be let in as it. */
function isSlug(client: string): boolean {
  return bridgeSlug(client) === client;
}

export function tokenOperations(workbench: Workbench): readonly Operation[] {
  const { runtime, define } = workbench;
  const { tokens } = runtime;

  /** The tokens of the caller's user, of others for whoever may make theirs, and none of another workspace. */
  async function seenBy(principal: Principal): Promise<(token: IssuedToken) => boolean> {
    const seesAll = await actsForOthers(workbench, principal);
    return ({ owner_user_id, workspace_id }) =>
      (seesAll || owner_user_id === principal.acting_user_id) &&
      (principal.workspace_id === null || workspace_id === principal.workspace_id);
  }

  return [
    define({
      name: "holdfast/create-token",
      title: "Create a token",
      description: "Makes a bearer token, never with more than the caller has. Its text is shown now and never again.",
      input: z.object({
        agent: id.meta({ description: "The agent that whoever holds the token acts as." }),
        owner_user_id: z.int().min(1).optional().meta({ description: "The user for whom it acts; the caller's." }),
        label: z.string().max(LONGEST_ID).optional(),
        allowed_capabilities: z.array(id).max(100).optional().meta({ description: CAPABILITIES }),
        expires_at: z.iso.datetime({ offset: true }).optional().meta({ description: "Never, unless given." }),
        client_id: id.refine(isSlug, "must be small letters, digits and dashes").optional(),
        workspace_id: id.optional(),
        metadata: jsonMap.optional(),
        unchecked: z.boolean().default(false).meta({ description: UNCHECKED }),
      }),
      output: z.object({ token: z.string(), metadata: tokenShape }),
      effect: "write",
      capability: "tokens.manage",
      route: { method: "post", path: "/tokens", status: 201 },
      async execute({ unchecked, ...given }, { principal }) {
        const wanted = defined(given);
        const limited = await limitedToken(workbench, wanted, principal);
        // Afterwards: whoever may not make it is not told what there is.
        if (!unchecked) checkTokenNames(workbench, wanted, principal);
        return plain(await tokens.create(limited));
      },
    }),

    define({
      name: "holdfast/list-tokens",
      title: "List tokens",
      description:
        "Lists tokens without their text, of one agent or of all: one's own, or everybody's for who makes theirs.",
      input: z.object({
        agent: id.optional(),
        revoked: z.stringbool().or(z.boolean()).default(false).meta({ description: "Revoked ones too." }),
        after: z.coerce.number().int().min(0).default(0).meta({ description: "The number of the last one seen." }),
        limit: z.coerce.number().int().min(1).max(500).default(PAGE),
      }),
      output: z.object({ tokens: z.array(tokenShape), has_more: z.boolean() }),
      effect: "read",
      capability: "tokens.manage",
      route: { method: "get", path: "/tokens" },
      async execute({ agent, revoked, after, limit }, { principal }) {
        const { acting_user_id, workspace_id } = principal;
        const seesAll = await actsForOthers(workbench, principal);
        const found = await tokens.page({
          ...{ revoked, after, limit: limit + 1 },
          ...(agent !== undefined && { agent }),
          ...(!seesAll && { owner_user_id: acting_user_id }),
          ...(workspace_id !== null && { workspace_id }),
        });
        return plain({ tokens: found.slice(0, limit), has_more: found.length > limit });
      },
    }),

    define({
      name: "holdfast/revoke-token",
      title: "Revoke a token",
      description: "From now on the token lets nobody in. False when it was revoked before.",
      input: z.object({ token_id: z.coerce.number().int().min(1) }),
      output: z.object({ revoked: z.boolean() }),
      effect: "destroy",
      idempotent: true,
      capability: "tokens.manage",
      route: { method: "delete", path: "/tokens/{token_id}" },
      async execute({ token_id }, { principal }) {
        const token = await tokens.get(token_id);
        if (!token || !(await seenBy(principal))(token)) {
          throw holdfastError("token_not_found", `There is no token ${token_id} that the caller may see.`);
        }
        return { revoked: await tokens.revoke(token_id, token.agent_id) };
      },
    }),
  ];
}
