// Defines a source of memory or context: where it comes from, when it enters a prompt, and whose word it is.
import { nameProblem } from "../backend/memory-limits.ts";
import { createBrand } from "../contracts/brand.ts";
import { trimmed } from "../contracts/coerce.ts";
import { type AuthorityTier, authorityTiers } from "../contracts/context/authority-tier.ts";
import { cleanId } from "../contracts/context/clean-name.ts";
import type { ConflictKind } from "../contracts/context/context-item.ts";
import * as retrievalPolicy from "../contracts/context/retrieval-policy.ts";
import { holdfastError } from "../contracts/error.ts";
import { isMap, type UnknownMap } from "../contracts/json.ts";
import * as memoryLayer from "../contracts/memory/memory-layer.ts";
import type { MemoryQuery } from "../contracts/memory/memory-query.ts";
import type { MemorySourceArguments } from "../contracts/memory/memory-sources.ts";
import { isListOfModes } from "./mode.ts";
import type { SourceContext } from "./source-context.ts";

/** What a host adds to the fields of the Agents API. */
type Added = {
  /** Whose word it is; as the layer says unless given. What agents have written stays `agent_memory`. */
  readonly authorityTier?: AuthorityTier;
  /** What its memories are to each other that do not say it themselves. */
  readonly conflictKind?: ConflictKind;
  /** Only for these agents; for all unless given. */
  readonly agents?: readonly string[];
  /** Only the memories below this folder of the layer; all of the layer unless given. */
  readonly folder?: string;
  /** Which memories, and in which order; the latest first unless given. */
  readonly query?: MemoryQuery;
  /** How many memories at most; 50 unless given. */
  readonly limit?: number;
  /** For `on_tool_need`: the tools that need it. */
  readonly tools?: readonly string[];
  /** For `on_intent`: whether it is wanted now. Without, its memories are searched for the words of the last message. */
  readonly isIntended?: (context: SourceContext) => boolean | Promise<boolean>;
  /** Where it comes from, when not from the memories of the layer: a text, a list of context items, or null for nothing. */
  readonly read?: (context: SourceContext) => unknown;
};

export type MemorySourceOptions = MemorySourceArguments & Added;

/** A source, ready to be registered. */
export type MemorySourceDefinition = {
  readonly id: string;
  readonly from: "memories" | "read" | "sections";
  readonly given: MemorySourceOptions;
};

const sources = createBrand();

/** Throws `invalid_definition` with the field that is wrong; a field that there is not is wrong too. */
export function memorySource(id: string, options: MemorySourceOptions = {}): MemorySourceDefinition {
  const name = trimmed(id) === undefined ? "" : cleanId(id);
  if (name === "") throw invalid("id must be a name", String(id));
  const given: UnknownMap = isMap(options) ? options : {};
  const problem = problemOf(given);
  if (problem !== undefined) throw invalid(problem, name);
  const from = options.composable ? "sections" : options.read ? "read" : "memories";
  const misplaced = misplacedIn(from, given);
  if (misplaced !== undefined) throw invalid(misplaced, name);
  const made = { id: name, from, given: Object.freeze({ ...options }) } as const;
  sources.mark(made);
  return Object.freeze(made);
}

export function isMemorySource(value: unknown): value is MemorySourceDefinition {
  return isMap(value) && sources.has(value);
}

type Check = readonly [field: keyof MemorySourceOptions, kind: string, isOfKind: (value: unknown) => boolean];

const checks: readonly Check[] = [
  // A word that is misspelt would fall back to the workspace, or to always: to the widest there is.
  ["layer", "workspace, agent, user, principal, network or shared", (value) => memoryLayer.normalize(value) === value],
  [
    "retrieval_policy",
    "always, on_intent, on_tool_need, manual or never",
    (value) => retrievalPolicy.normalize(value) === value,
  ],
  ["priority", "a whole number", Number.isInteger],
  ["modes", "a list of names with letters or digits in them", isListOfModes],
  ["protected", "true or false", isFlag],
  ["editable", "true, false or a capability", (value) => isFlag(value) || isText(value)],
  ["composable", "true or false", isFlag],
  ["capability", "a text", isText],
  ["context_slug", "a name", isText],
  ["convention_path", "a path", isText],
  ["external_projection_target", "a text", isText],
  ["label", "a text", isText],
  ["description", "a text", isText],
  ["meta", "a map", isMap],
  ["authorityTier", `one of ${authorityTiers.join(", ")}`, (value) => authorityTiers.includes(value as AuthorityTier)],
  ["conflictKind", "preference or authoritative_fact", isConflictKind],
  ["agents", "a list of slugs", isListOfNames],
  ["folder", "a name without slashes around it", (value) => isText(value) && isFolder(value as string)],
  ["query", "a map", isMap],
  ["limit", "from 1 to 500", (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 500],
  ["tools", "a list of names", isListOfNames],
  ["isIntended", "a function", isFunction],
  ["read", "a function", isFunction],
];

const fields: ReadonlySet<string> = new Set(checks.map(([field]) => field));

function problemOf(given: UnknownMap): string | undefined {
  for (const [field, kind, isOfKind] of checks) {
    if (given[field] !== undefined && !isOfKind(given[field])) return `${field} must be ${kind}`;
  }
  const unknown = Object.keys(given).find((field) => !fields.has(field));
  return unknown === undefined ? undefined : `${unknown} is no field of a memory source`;
}

const OF_MEMORIES = ["folder", "query", "limit", "conflictKind"] as const;

function misplacedIn(from: MemorySourceDefinition["from"], given: UnknownMap): string | undefined {
  if (given.composable && given.read !== undefined) return "read must not stand beside composable";
  if (from !== "memories") {
    const field = OF_MEMORIES.find((each) => given[each] !== undefined);
    if (field !== undefined) return `${field} is only for sources that come from memories`;
  }
  const { retrieval_policy: policy, isIntended, tools } = given;
  if (policy === "on_tool_need" && tools === undefined) return "tools must be given for on_tool_need";
  if (policy === "on_intent" && isIntended === undefined && from !== "memories") {
    return "isIntended must be given for on_intent, because there are no memories to be searched";
  }
  return undefined;
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isFlag(value: unknown): boolean {
  return typeof value === "boolean";
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isConflictKind(value: unknown): boolean {
  return value === "preference" || value === "authoritative_fact";
}

function isFolder(value: string): boolean {
  return !value.startsWith("/") && !value.endsWith("/") && nameProblem({ filename: value }) === undefined;
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => trimmed(name) !== undefined);
}

function invalid(detail: string, id: string) {
  return holdfastError("invalid_definition", `${detail} (memory source ${id})`);
}
