// Finds what belongs into a prompt: of the registered sources those that are for this agent, mode and moment, each with what
// it brings and why, or why it brings nothing.
import { createHash } from "node:crypto";
import * as contextItem from "../contracts/context/context-item.ts";
import { isMap, type UnknownMap } from "../contracts/json.ts";
import { key, type MemoryScope } from "../contracts/memory/memory-scope.ts";
import { declaredTier, isOfAgent, storedTier } from "./authority.ts";
import { type Checked, checkEntries } from "./check-entries.ts";
import { inTime } from "./in-time.ts";
import { HOST_MS, type Memory, type Source } from "./memory.ts";
import type { MemorySubject } from "./memory-subject.ts";
import { readMemoryText } from "./memory-text.ts";
import { isForMode, modeAsked } from "./mode.ts";
import type { NotUsed, Retrieved, SourceReport, StaleMemory } from "./retrieved.ts";
import { scopeOfLayer } from "./scope-of-layer.ts";
import type { SourceContext } from "./source-context.ts";
import { entriesWith, entriesWithAny, latestEntries, wordsOf } from "./stored-entries.ts";

export type Asking = {
  readonly memory: Memory;
  readonly subject: MemorySubject;
  readonly context: SourceContext;
  /** The tools that the model sees now, by their names. */
  readonly tools: ReadonlySet<string>;
  /** Whether whoever it is for has the capability that a source takes. */
  readonly holds: (capability: string) => Promise<boolean>;
  /** Whether memories may be used for this person. */
  readonly mayUseMemories: () => Promise<boolean>;
};

export type Found = {
  readonly items: readonly Retrieved[];
  readonly sources: readonly SourceReport[];
  readonly stale: readonly StaleMemory[];
};

type Brought = { readonly items: readonly Retrieved[]; readonly stale: readonly StaleMemory[] };
type Why = Retrieved["found"]["why"];

/** For a prompt. Throws what the store throws; a function of the host that fails leaves its own source out. */
export async function retrieveForPrompt(asking: Asking): Promise<Found> {
  const reported = await Promise.all(asking.memory.sources.map((source) => fromSource(asking, source)));
  const seen = new Set<string>();
  const items = reported
    .flatMap(({ items }) => items)
    // What two sources have found is told once, by the first of them.
    .filter(({ found: { uri, scope } }) => scope === null || (!seen.has(uri) && seen.add(uri)));
  return {
    items,
    sources: reported.map(({ report }) => report),
    stale: reported.flatMap(({ stale }) => stale),
  };
}

/** What one source holds, for an agent that asks for it by name; also what is `manual`. */
export async function retrieveSource(asking: Asking, source: Source): Promise<Found> {
  const notForUs = (await whyNotHere(asking, source)) ?? (source.retrieval_policy === "never" ? "never" : undefined);
  const { items, stale, report } = notForUs ? nothing(source, notForUs) : await bring(asking, source, "asked");
  return { items, stale, sources: [report] };
}

async function fromSource(asking: Asking, source: Source) {
  const { retrieval_policy: policy, given } = source;
  const notForUs = await whyNotHere(asking, source);
  if (notForUs) return nothing(source, notForUs);
  switch (policy) {
    case "always":
      return await bring(asking, source, policy);
    case "on_tool_need":
      if (!given.tools?.some((name) => asking.tools.has(name))) return nothing(source, "not_needed");
      return await bring(asking, source, policy);
    case "on_intent":
      if (given.isIntended && !(await isIntended(asking, source))) return nothing(source, "not_intended");
      return await bring(asking, source, policy);
    case "manual":
    case "never":
      return nothing(source, policy);
    default:
      return policy satisfies never;
  }
}

async function whyNotHere({ subject, context, holds }: Asking, source: Source): Promise<NotUsed | undefined> {
  const { given, modes, from, layer } = source;
  if (given.agents && !given.agents.includes(subject.agent)) return "other_agent";
  if (!isForMode(modes, context.mode)) return "other_mode";
  if (from === "memories" && scopeOfLayer(layer, subject) === null) return "no_user";
  return (await isDenied(source, holds)) ? "capability_denied" : undefined;
}

/** True when the source takes a capability that whoever asks has not. */
export async function isDenied({ capability }: Source, holds: Asking["holds"]): Promise<boolean> {
  return capability !== "" && !(await holds(capability));
}

/** Whoever cannot tell has not asked for it. */
async function isIntended({ memory, context }: Asking, { given }: Source): Promise<boolean> {
  try {
    return (await inTime(HOST_MS, () => given.isIntended?.(context))) === true;
  } catch (thrown) {
    memory.report(thrown);
    return false;
  }
}

async function bring(asking: Asking, source: Source, why: Why) {
  const { memory } = asking;
  if (source.from === "memories") {
    if (!(await asking.mayUseMemories())) return nothing(source, "consent_denied");
    return told(source, await fromMemories(asking, source, why));
  }
  try {
    const items =
      source.from === "read" ? await fromHost(asking, source, why) : await fromSections(asking, source, why);
    return told(source, { items, stale: [] });
  } catch (thrown) {
    memory.report(thrown);
    return nothing(source, "failed");
  }
}

function told(source: Source, { items, stale }: Brought) {
  const report: SourceReport = { source: source.id, found: items.length, not_used: items.length > 0 ? null : "empty" };
  return { items, stale, report };
}

function nothing({ id }: Source, not_used: NotUsed) {
  return { items: [], stale: [], report: { source: id, found: 0, not_used } satisfies SourceReport };
}

async function fromMemories({ memory, subject, context }: Asking, source: Source, why: Why): Promise<Brought> {
  const scope = scopeOfLayer(source.layer, subject);
  if (!scope) return { items: [], stale: [] };
  const entries = await entriesFor(memory, source, scope, context, why);
  const checked = await checkEntries(memory, scope, entries);
  return {
    items: checked.flatMap((each) => (each.state === "stale" ? [] : [ofMemory(source, each, why)])),
    stale: checked.flatMap((each) => (each.state === "stale" ? [{ source: source.id, scope: each.scope }] : [])),
  };
}

async function entriesFor(memory: Memory, source: Source, scope: MemoryScope, context: SourceContext, why: Why) {
  if (why === "asked" && context.query !== null) return await entriesWith(memory, source, scope, context.query);
  // A host that has no function for it is helped by the words of the last message.
  const isSearched = why === "on_intent" && source.given.isIntended === undefined;
  if (isSearched) return await entriesWithAny(memory, source, scope, wordsOf(context.last_message));
  return await latestEntries(memory, source, scope);
}

/** A memory as an item, for whichever source has found it. */
export function ofMemory(
  source: Pick<Source, "id" | "layer" | "given">,
  { entry, scope, state }: Checked,
  why: Why,
): Retrieved {
  const { content, about, kind } = readMemoryText(entry.content);
  const { metadata, updated_at, hash } = entry;
  const uri = `memory:${key(scope)}`;
  const confidence = metadata?.confidence ?? null;
  const byAgent = isOfAgent(metadata);
  const item = contextItem.normalize({
    content,
    scope,
    authority_tier: storedTier({ layer: source.layer, ...tierOf(source) }, metadata),
    provenance: {
      ...{ source: source.id, uri, content_hash: hash, confidence, updated_at },
      source_type: metadata?.source_type ?? null,
    },
    // Agents have no facts: what one was talked into must not silence what somebody knows.
    conflict_kind: byAgent ? "preference" : (kind ?? source.given.conflictKind),
    conflict_key: about,
  });
  const found = { source: source.id, name: scope.filename, uri, scope, hash, why, updated_at, confidence };
  return { ...item, found: { ...found, isOfAgent: byAgent, isUnchecked: state === "unchecked" } };
}

async function fromHost({ context }: Asking, source: Source, why: Why): Promise<readonly Retrieved[]> {
  const read = await inTime(HOST_MS, () => source.given.read?.(context));
  if (typeof read === "string") return read.trim() === "" ? [] : [ofHost(source, { content: read }, why, null)];
  if (!Array.isArray(read)) return [];
  return read.filter(isMap).map((item, index) => ofHost(source, item, why, index));
}

async function fromSections({ memory, context }: Asking, source: Source, why: Why): Promise<readonly Retrieved[]> {
  const registry = why === "asked" ? memory.sections.asked : memory.sections.prompted;
  const { content } = await registry.compose(source.context_slug, { mode: modeAsked(context.mode), context });
  return content.trim() === "" ? [] : [ofHost(source, { content }, why, null)];
}

/** What the host brings has the weight that it states, or else that of its source. */
function ofHost(source: Source, given: UnknownMap, why: Why, index: number | null): Retrieved {
  const item = contextItem.normalize({
    authority_tier: declaredTier({ layer: source.layer, ...tierOf(source) }),
    ...given,
  });
  const { uri } = item.provenance;
  const found = {
    ...{ source: source.id, name: null, scope: null, why, updated_at: null, confidence: null },
    ...{ isOfAgent: false, isUnchecked: false },
    uri: typeof uri === "string" && uri !== "" ? uri : `context:${source.id}${index === null ? "" : `#${index + 1}`}`,
    hash: createHash("sha256").update(item.content).digest("hex"),
  };
  return { ...item, found };
}

function tierOf({ given: { authorityTier } }: Pick<Source, "given">) {
  return authorityTier === undefined ? {} : { authorityTier };
}
