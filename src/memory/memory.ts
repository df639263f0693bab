// What an installation remembers, and how it is brought into prompts: the registered sources, sections and validators, with
// the store behind them.
import type { IdentityStore } from "../backend/identity-store.ts";
import type { Forgotten, KeptMemories } from "../backend/memory-store.ts";
import { cleanSlug } from "../contracts/context/clean-name.ts";
import { type ContextSections, createContextSections } from "../contracts/context/context-sections.ts";
import { holdfastError } from "../contracts/error.ts";
import type { UnknownMap } from "../contracts/json.ts";
import { createMemorySources, type MemorySource } from "../contracts/memory/memory-sources.ts";
import type { MemoryStore } from "../contracts/memory/memory-store.ts";
import type { MemoryValidator } from "../contracts/memory/memory-validator.ts";
import { checkedMemories, type HostMemories, type Memories } from "./checked-memories.ts";
import { type ContextSectionDefinition, isContextSection } from "./context-section.ts";
import { inTime } from "./in-time.ts";
import { isMemorySource, type MemorySourceDefinition } from "./memory-source.ts";
import type { SourceContext } from "./source-context.ts";

export type MemoryOptions = {
  readonly sources?: readonly MemorySourceDefinition[];
  readonly sections?: readonly ContextSectionDefinition[];
  readonly validators?: readonly MemoryValidator[];
  /** How old a memory with a validator may be before it is checked again; a day unless given. */
  readonly staleAfterSeconds?: number;
  /** A store of the host's own; memories are kept in the database of the threads unless given. */
  readonly store?: HostMemories;
};

/** A source as it is registered, with what it was defined with. */
export type Source = MemorySource & Pick<MemorySourceDefinition, "from" | "given">;

export type Memory = {
  /** By priority, then by id. */
  readonly sources: readonly Source[];
  /** Those that are written into prompts, and those that an agent is told which asks. */
  readonly sections: { readonly prompted: ContextSections; readonly asked: ContextSections };
  readonly validators: ReadonlyMap<string, MemoryValidator>;
  readonly staleAfterSeconds: number;
  readonly store: Memories;
  /** The same store when it is ours: then a memory is written with the commit that it belongs to, and checks are kept. */
  readonly ours: KeptMemories | null;
  /** The number under which an agent's memories lie. */
  agentId(slug: string): Promise<number>;
  /** Unix seconds. */
  now(): number;
  /** Tells whoever watches over errors. */
  report(error: unknown): void;
};

type Lent = {
  readonly memories: KeptMemories;
  readonly identities: Pick<IdentityStore, "materialize">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly report: (error: unknown) => void;
};

const DAY = 86_400;

/** Kept beside the stores: hosts bring stores of their own, which know nothing of agents by name. */
const numbersOf = new WeakMap<MemoryStore, Memory["agentId"]>();

/** The number under which an agent's memories lie in the memories of a runtime. */
export async function agentNumber(memories: MemoryStore, slug: string): Promise<number> {
  const find = numbersOf.get(memories);
  if (!find) throw holdfastError("invalid_argument", "memories must be those of a runtime.");
  return await find(slug);
}

/** Throws `invalid_definition` for what was not made by the functions that define it, and for sections of no source. */
export function checkMemory({ sources = [], sections = [], staleAfterSeconds = DAY }: MemoryOptions): void {
  if (!Number.isFinite(staleAfterSeconds) || staleAfterSeconds < 0) {
    throw invalid("staleAfterSeconds must be a number of seconds");
  }
  const ids = new Set<string>();
  const composed = new Set<string>();
  for (const source of sources) {
    if (!isMemorySource(source)) throw invalid("sources must be made with memorySource()");
    if (ids.has(source.id)) throw invalid(`the source "${source.id}" is there twice`);
    ids.add(source.id);
    if (source.given.composable) composed.add(cleanSlug(source.given.context_slug ?? source.id));
  }
  for (const section of sections) {
    if (!isContextSection(section)) throw invalid("sections must be made with contextSection()");
    const { contextSlug, slug } = section;
    if (!composed.has(contextSlug)) {
      throw invalid(`no composable source has the context "${contextSlug}" of the section "${slug}"`);
    }
  }
}

/** Of options that `checkMemory` has let through. */
export function createMemory(options: MemoryOptions, lent: Lent): Memory {
  const { sources = [], sections = [], validators = [], staleAfterSeconds = DAY, store } = options;
  const ids = new Map<string, Promise<number>>();
  const made = Object.freeze({
    sources: registered(sources),
    sections: {
      prompted: registeredSections(sections, ["always"], lent.report),
      asked: registeredSections(sections, ["always", "manual"], lent.report),
    },
    validators: new Map(validators.map((validator) => [validator.id, validator])),
    staleAfterSeconds,
    store: checkedMemories(store ?? lent.memories),
    ours: store === undefined ? lent.memories : null,
    async agentId(slug: string) {
      const known = ids.get(slug) ?? identify(slug);
      ids.set(slug, known);
      return await known;
    },
    now: () => Math.floor(lent.now() / 1000),
    report: lent.report,
  } satisfies Memory);
  numbersOf.set(made.store, made.agentId);
  return made;

  async function identify(slug: string): Promise<number> {
    try {
      return (await lent.identities.materialize({ agent_slug: slug, owner_user_id: 0, instance_key: "default" })).id;
    } catch (thrown) {
      // A database that was away for a moment is asked again.
      ids.delete(slug);
      throw thrown;
    }
  }
}

/** The same memories: forgetting reaches further, once the memories themselves have been forgotten. */
export function forgettingAlso(memories: Memories, also: (about: Forgotten) => Promise<void>): Memories {
  const made: Memories = Object.freeze({
    ...memories,
    async forgetAll(about: Forgotten) {
      const forgotten = await memories.forgetAll(about);
      await also(about);
      return forgotten;
    },
  });
  const agentId = numbersOf.get(memories);
  if (agentId) numbersOf.set(made, agentId);
  return made;
}

function registered(definitions: readonly MemorySourceDefinition[]): readonly Source[] {
  const registry = createMemorySources();
  const byId = new Map(definitions.map((definition) => [definition.id, definition]));
  for (const { id, given } of definitions) registry.register(id, given);
  return registry.all().flatMap((source) => {
    const { from, given } = byId.get(source.id) ?? {};
    return from && given ? [Object.freeze({ ...source, from, given })] : [];
  });
}

/** A registry writes whatever is in it: what is not to be written stays out. */
function registeredSections(
  definitions: readonly ContextSectionDefinition[],
  policies: readonly string[],
  report: Lent["report"],
): ContextSections {
  const registry = createContextSections();
  for (const { contextSlug, slug, given } of definitions) {
    if (!policies.includes(given.retrieval_policy ?? "always")) continue;
    registry.register(contextSlug, slug, given.priority ?? USUAL_PRIORITY, writer(given, report), given);
  }
  return registry;
}

const USUAL_PRIORITY = 50;

/** How long a function of the host may take. */
export const HOST_MS = 5_000;

/** One section that fails is left out; the others stay. The registry is asked with `context` beside the mode. */
function writer({ render }: ContextSectionDefinition["given"], report: Lent["report"]) {
  return async ({ context }: UnknownMap, section: Parameters<typeof render>[1]) => {
    try {
      return await inTime(HOST_MS, () => render(context as SourceContext, section));
    } catch (thrown) {
      report(thrown);
      return undefined;
    }
  };
}

function invalid(detail: string) {
  return holdfastError("invalid_definition", `${detail} (memory)`);
}
