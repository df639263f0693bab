// The operations on what is remembered beyond threads: list or search it, read it, write it, forget it.
import { z } from "zod";
import { trimEnd } from "../contracts/coerce.ts";
import { compareText } from "../contracts/compare-text.ts";
import { holdfastError } from "../contracts/error.ts";
import type { MemoryMetadata } from "../contracts/memory/memory-metadata.ts";
import type { MemoryEntry, MemoryRead } from "../contracts/memory/memory-store.ts";
import { decision } from "../contracts/trust/consent.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import { isOfAgent } from "../memory/authority.ts";
import { agentNumber } from "../memory/memory.ts";
import { defined } from "./defined.ts";
import { type MemoryPlace, memoryPlace, namedWorkspace, placeFields } from "./memory-place.ts";
import type { Operation } from "./operation.ts";
import { plain } from "./plain.ts";
import type { Workbench } from "./reach.ts";
import { jsonMap } from "./shapes.ts";

const PAGE = 100;
const LONGEST_CONTENT = 64_000;
const LONGEST_NAME = 1_024;

/** How many a search looks through for those below a folder. */
const MOST_SEARCHED = 1_000;

const name = z
  .string()
  .min(1)
  .max(LONGEST_NAME)
  .meta({ description: "The name of the memory; slashes make folders of it." });

const sourceTypes = ["user_asserted", "workspace_extracted", "imported", "curated", "system_generated"] as const;

const entryShape = z.object({
  name: z.string(),
  layer: z.string(),
  bytes: z.int(),
  updated_at: z.iso.datetime().nullable(),
  metadata: jsonMap.nullable(),
});

const memoryShape = entryShape.extend({ content: z.string(), hash: z.string() });

export function memoryOperations(workbench: Workbench): readonly Operation[] {
  const { define } = workbench;
  const { memories, guidelines, agents } = workbench.runtime;

  return [
    define({
      name: "holdfast/list-memories",
      title: "List or search memories",
      description:
        "The memories of a layer by name, or with words those that hold them all, best first and with content.",
      input: z.object({
        ...placeFields,
        words: z.string().min(1).max(LONGEST_NAME).optional(),
        folder: z.string().min(1).max(LONGEST_NAME).optional().meta({ description: "Only those below this folder." }),
        after: name.optional().meta({ description: "The name of the last one seen; not with words." }),
        limit: z.coerce.number().int().min(1).max(500).default(PAGE),
      }),
      output: z.object({
        memories: z.array(entryShape.extend(memoryShape.pick({ content: true, hash: true }).partial().shape)),
        has_more: z.boolean(),
      }),
      effect: "read",
      capability: "memory.read",
      route: { method: "get", path: "/memories" },
      async execute({ words, folder = "", after, limit, ...place }, { principal }) {
        const { scope } = await memoryPlace(workbench, place, principal);
        if (words !== undefined) {
          const below = trimEnd(folder, "/");
          const isBelow = ({ filename }: MemoryEntry) => below === "" || filename.startsWith(`${below}/`);
          const most = below === "" ? limit + 1 : MOST_SEARCHED;
          const found = (await memories.search(scope, words, {}, { limit: most })).filter(isBelow);
          const shown = found.map(({ content, hash, ...entry }) => ({ ...shownEntry(entry), content, hash }));
          return { memories: shown.slice(0, limit), has_more: found.length > limit };
        }
        const entries = await memories.listSubtree(scope, folder);
        const rest = after === undefined ? entries : entries.filter(isBehind(after));
        return { memories: rest.slice(0, limit).map(shownEntry), has_more: rest.length > limit };
      },
    }),

    define({
      name: "holdfast/get-memory",
      title: "Read a memory",
      description: "One memory with its content, and the hash with which it can be replaced.",
      input: z.object({ ...placeFields, name }),
      output: memoryShape,
      effect: "read",
      capability: "memory.read",
      route: { method: "get", path: "/memories/{name}" },
      async execute({ name: filename, ...place }, { principal }) {
        const { scope } = await memoryPlace(workbench, place, principal, filename);
        const found = await memories.read(scope);
        if (!found.exists) throw notFound(filename, scope.layer);
        return shownMemory(scope, found);
      },
    }),

    define({
      name: "holdfast/put-memory",
      title: "Write a memory",
      description:
        "Keeps a text under a name. With if_match only in place of the content that was read. What it says about whoever " +
        "calls counts as their own word, and with it they have agreed that it is kept.",
      input: z.object({
        ...placeFields,
        name,
        content: z.string().min(1).max(LONGEST_CONTENT),
        if_match: z
          .string()
          .min(1)
          .max(256)
          .optional()
          .meta({ description: "The hash of the content that is replaced." }),
        source_type: z
          .enum(sourceTypes)
          .optional()
          .meta({ description: "Whose word it is; for who manages memories." }),
      }),
      output: memoryShape,
      effect: "write",
      idempotent: true,
      capability: "memory.write",
      route: { method: "put", path: "/memories/{name}" },
      async execute({ name: filename, content, if_match, source_type, ...given }, { principal }) {
        const place = await memoryPlace(workbench, given, principal, filename);
        const { scope } = place;
        if (source_type !== undefined && source_type !== "user_asserted" && !place.isManager) {
          throw holdfastError("memory_forbidden", "Whoever speaks for themselves is the source of what they say.");
        }
        const before = await memories.read(scope);
        checkMayChange(place, before, filename);
        // What was looked at is what is replaced, also where the caller does not care.
        const ifMatch = if_match ?? (before.exists ? before.hash : undefined);
        const metadata = metadataOf(place, principal, source_type, before.metadata);
        const consent = place.isOwn ? agreed(principal) : undefined;
        const written = await memories.write(scope, content, { metadata, ...defined({ ifMatch, consent }) });
        const now = await memories.read(scope);
        // A repeat of a write finds what it has written itself.
        if (!written.success && now.content !== content) {
          throw holdfastError("memory_conflict", `"${filename}" is not any more what was read.`);
        }
        return shownMemory(scope, now);
      },
    }),

    define({
      name: "holdfast/delete-memory",
      title: "Forget a memory",
      description: "Forgets for good what was remembered under a name.",
      input: z.object({ ...placeFields, name }),
      output: z.object({ deleted: z.literal(true) }),
      effect: "destroy",
      capability: "memory.write",
      route: { method: "delete", path: "/memories/{name}" },
      async execute({ name: filename, ...given }, { principal }) {
        const place = await memoryPlace(workbench, given, principal, filename);
        const before = await memories.read(place.scope);
        if (!before.exists) throw notFound(filename, place.scope.layer);
        checkMayChange(place, before, filename);
        await memories.delete(place.scope);
        return { deleted: true as const };
      },
    }),

    define({
      name: "holdfast/forget-memories",
      title: "Forget all about somebody",
      description:
        "Forgets for good all that is remembered about a user, by an agent or in a workspace, or by those of them that are " +
        "named together; with the private guidelines of that user, unless it is about one agent. A user alone is also erased " +
        "from the gateway: the contents of jobs, agent runs and the files of these. Runs of workflows that acted for the " +
        "user and have ended are deleted.",
      input: z.object({
        user_id: z.coerce.number().int().min(1).optional(),
        agent: placeFields.agent.meta({ description: "The slug of the agent." }),
        workspace_type: placeFields.workspace_type,
        workspace_id: placeFields.workspace_id,
      }),
      output: z.object({ forgotten: z.int().meta({ description: "How many memories; guidelines are not counted." }) }),
      effect: "destroy",
      idempotent: true,
      capability: "memory.manage",
      route: { method: "delete", path: "/memories" },
      async execute({ user_id, agent, workspace_type, workspace_id }) {
        const workspace = namedWorkspace({ workspace_type, workspace_id });
        if (agent !== undefined && !agents.has(agent)) {
          throw holdfastError("agent_not_found", `There is no agent "${agent}".`);
        }
        const agent_id = agent === undefined ? undefined : await agentNumber(memories, agent);
        const forgotten = await memories.forgetAll(defined({ user_id, agent_id, workspace }));
        // Nobody but its owner learns whether there was any private memory.
        if (user_id !== undefined && agent === undefined) {
          await guidelines?.forgetAll({ user_id, ...defined({ workspace_id }) });
        }
        return { forgotten };
      },
    }),
  ];
}

/** What agents wrote about somebody and what they said themselves is theirs to change; what others keep there is not. */
function checkMayChange({ isManager }: MemoryPlace, { exists, metadata }: MemoryRead, filename: string): void {
  if (!exists || isManager || isOfAgent(metadata) || metadata?.source_type === "user_asserted") return;
  throw holdfastError("memory_forbidden", `"${filename}" was written by somebody else.`);
}

function metadataOf(
  { isOwn, scope }: MemoryPlace,
  { acting_user_id }: Principal,
  source_type: string | undefined,
  before: MemoryMetadata | null,
): MemoryMetadata {
  const { workspace_type, workspace_id } = scope;
  return {
    source_type: source_type ?? (isOwn ? "user_asserted" : "curated"),
    ...(acting_user_id > 0 && { created_by_user_id: acting_user_id }),
    workspace: { workspace_type, workspace_id },
    ...(before?.created_at !== undefined && { created_at: before.created_at }),
  };
}

/** Whoever asks that something about them be kept has agreed to just that. */
function agreed({ acting_user_id, auth_source }: Principal) {
  const audit_metadata = { policy: "own_request", user_id: acting_user_id, auth_source };
  return decision({ allowed: true, operation: "store_memory", reason: "own_request", audit_metadata });
}

/** In the order of the bytes, as entries are listed: the one that is named may be gone by now. */
function isBehind(name: string): (entry: MemoryEntry) => boolean {
  return ({ filename }) => compareText(filename, name) > 0;
}

function shownEntry({ filename, layer, bytes, updated_at, metadata }: MemoryEntry): z.input<typeof entryShape> {
  return { name: filename, layer, bytes, updated_at: dated(updated_at), metadata: told(metadata) };
}

function shownMemory(
  { filename, layer }: MemoryPlace["scope"],
  { content, hash, bytes, updated_at, metadata }: MemoryRead,
): z.input<typeof memoryShape> {
  return { name: filename, layer, bytes, updated_at: dated(updated_at), metadata: told(metadata), content, hash };
}

function told(metadata: MemoryMetadata | null): z.input<typeof jsonMap> | null {
  return plain(metadata);
}

/** From seconds since 1970. */
function dated(seconds: number | null): string | null {
  return seconds === null ? null : new Date(seconds * 1_000).toISOString();
}

function notFound(filename: string, layer: string) {
  return holdfastError("memory_not_found", `Nothing is remembered as "${filename}" in the layer ${layer}.`);
}
