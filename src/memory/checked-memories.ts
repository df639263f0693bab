// The memories of a runtime as a program gets them: what it passes in is checked before a store or a database sees it, so
// that a mistake is told in words, and nothing is written that only looks like what was meant.
import { nameProblem } from "../backend/memory-limits.ts";
import type { Forgotten, KeptMemories } from "../backend/memory-store.ts";
import { trimmed } from "../contracts/coerce.ts";
import { holdfastError } from "../contracts/error.ts";
import { isMap, snapshot, type UnknownMap } from "../contracts/json.ts";
import { type MemoryScope, normalize } from "../contracts/memory/memory-scope.ts";
import type { MemoryStore, MemoryWriteOptions } from "../contracts/memory/memory-store.ts";
import * as workspaces from "../contracts/workspace.ts";

/** What a program may do with what is remembered. */
export type Memories = MemoryStore & Pick<KeptMemories, "forgetAll">;

/** A store of the host's own, which may know how to forget all of somebody. */
export type HostMemories = MemoryStore & Partial<Pick<KeptMemories, "forgetAll">>;

/**
 * Every verb throws `invalid_argument` with what is wrong, `invalid_agent_workspace_scope` for a scope without a workspace,
 * and `not_json` for consent that cannot be kept. `forgetAll` throws `memory_forget_unavailable` where the store cannot.
 */
export function checkedMemories(store: HostMemories): Memories {
  return Object.freeze({
    capabilities: () => store.capabilities(),
    async read(scope, fields) {
      if (fields !== undefined) check("fields", isListOfTexts(fields), "a list of names");
      return await store.read(memoryAt(scope), fields);
    },
    async write(scope, content, options = {}) {
      check("content", typeof content === "string", "a text");
      return await store.write(memoryAt(scope), content, writeOptions(options));
    },
    exists: async (scope) => await store.exists(memoryAt(scope)),
    delete: async (scope) => await store.delete(memoryAt(scope)),
    async listLayer(scope, query) {
      return await store.listLayer(place(scope), optionalMap("query", query));
    },
    async listSubtree(scope, prefix, query) {
      check(
        "prefix",
        typeof prefix === "string" && nameProblem({ filename: prefix }) === undefined,
        "a name, or empty",
      );
      return await store.listSubtree(place(scope), prefix, optionalMap("query", query));
    },
    async search(scope, words, query, options) {
      check("words", typeof words === "string", "a text");
      return await store.search(place(scope), words, optionalMap("query", query), limitOf(options));
    },
    async retrieve(scope, query, options) {
      return await store.retrieve(place(scope), optionalMap("query", query), limitOf(options));
    },
    async forgetAll(of) {
      const whose = forgotten(of);
      if (store.forgetAll) return await store.forgetAll(whose);
      throw holdfastError("memory_forget_unavailable", "The store of memories that the host brings cannot do that.");
    },
  } satisfies Memories);
}

/** A field that there is not would leave out what it was meant to narrow down. */
function forgotten(of: Forgotten): Forgotten {
  check("what is forgotten", isMap(of satisfies object as UnknownMap), "a map");
  const { user_id, agent_id, workspace, ...rest } = of;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw holdfastError("invalid_argument", `There is no ${unknown} to be forgotten.`);
  const numbers = Object.entries({ user_id, agent_id }).filter(([, number]) => number !== undefined);
  for (const [field, number] of numbers) check(field, isWhole(number) && Number(number) > 0, "a number from 1");
  if (workspace !== undefined) check("workspace", isMap(workspace), "a map");
  check("what is forgotten", numbers.length > 0 || workspace !== undefined, "a user, an agent or a workspace");
  return {
    ...Object.fromEntries(numbers),
    ...(workspace !== undefined && { workspace: workspaces.normalize(workspace) }),
  };
}

/** The scope of one memory, which has a name. */
function memoryAt(scope: MemoryScope): MemoryScope {
  const at = place(scope);
  check("filename", at.filename !== "", "the name of a memory");
  return at;
}

/** A scope, whose name says nothing where a list is asked for. */
function place(scope: MemoryScope): MemoryScope {
  check("scope", isMap(scope), "where a memory lies, as memoryScope() tells it");
  const { layer, workspace_type, workspace_id, user_id, agent_id, filename } = scope;
  check("layer", trimmed(layer) !== undefined, "the name of a layer");
  check("filename", typeof filename === "string", "a text");
  check("workspace_type", typeof workspace_type === "string", "a text");
  check("workspace_id", typeof workspace_id === "string", "a text");
  check("user_id", isWhole(user_id), "a whole number from 0");
  check("agent_id", isWhole(agent_id), "a whole number from 0");
  const problem = nameProblem(scope);
  if (problem !== undefined) throw holdfastError("invalid_argument", problem);
  return normalize(scope);
}

function writeOptions(options: MemoryWriteOptions): MemoryWriteOptions {
  check("options", isMap(options), "a map");
  const { ifMatch, metadata, consent } = options;
  if (ifMatch !== undefined && ifMatch !== null) check("ifMatch", typeof ifMatch === "string", "the hash of a content");
  if (metadata !== undefined) check("metadata", isMap(metadata), "a map");
  if (consent !== undefined) check("consent", isMap(consent), "a decision");
  return {
    ...(ifMatch !== undefined && { ifMatch }),
    ...(metadata !== undefined && { metadata }),
    ...(consent !== undefined && { consent: snapshot(consent) as unknown as typeof consent }),
  };
}

function limitOf(options: { readonly limit?: number } | undefined) {
  const { limit } = optionalMap("options", options) ?? {};
  if (limit === undefined) return undefined;
  check("limit", isWhole(limit), "a whole number from 0");
  return { limit };
}

function optionalMap<Given extends object>(argument: string, given: Given | undefined): Given | undefined {
  if (given !== undefined) check(argument, isMap(given satisfies object as UnknownMap), "a map");
  return given;
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function check(argument: string, isRight: boolean, kind: string): void {
  if (!isRight) throw holdfastError("invalid_argument", `${argument} must be ${kind}.`);
}
