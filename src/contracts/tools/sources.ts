// Where tools come from. A host registers sources, each of which declares tools when it is asked; together they make
// the catalogue of a run.
import { nonEmptyString, numeric, stringList, trim, trimmed } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import type { Hooks } from "../hooks.ts";
import { asMap, emptyMap, isMap, type JsonMap, snapshot, snapshotMap, type UnknownMap } from "../json.ts";
import { quietly } from "../when-ready.ts";
import { normalizeForConversationRequest, type ToolDeclaration, type ToolMap } from "./declaration.ts";

/** Declares tools by name for a context, at once or later. */
export type ToolSource = {
  readonly slug: string;
  readonly tools: (context: JsonMap) => unknown;
  /** Sources of a lower priority come first; 10 unless given. */
  readonly priority?: number;
};

type RankedSource = Required<ToolSource>;

const USUAL_PRIORITY = 10;

export interface ToolSources {
  /**
   * Adds a source, or replaces the one with its slug, behind the others of its priority. Throws `invalid_tool_source`
   * without a slug or a function.
   */
  register(source: ToolSource): void;
  unregister(slug: string): void;
  /**
   * Asks every source for its tools. Of two that declare the same name the first wins; declarations that are invalid
   * are left out, and a source that fails has none.
   */
  gather(context?: UnknownMap): Promise<ToolMap>;
}

/** An empty registry of sources. Hooks may change the sources, their order and what each of them declares. */
export function createToolSources({ hooks }: { readonly hooks?: Hooks } = {}): ToolSources {
  const registered = new Map<string, RankedSource>();

  async function toolsOf(source: ToolSource, context: JsonMap): Promise<UnknownMap> {
    const tools = asMap(await quietly(() => source.tools(context))) ?? emptyMap;
    return (await hooks?.apply("toolSourceTools", tools, source.slug, context)) ?? tools;
  }

  return {
    register(source) {
      const usable = readSource(source);
      if (!usable) throw holdfastError("invalid_tool_source", "A tool source needs a slug and a function tools.");
      place(registered, usable);
    },
    unregister(slug) {
      registered.delete(trim(slug));
    },
    async gather(given = emptyMap) {
      const context = snapshotMap(given);
      const listed = [...registered.values()];
      const bySlug = readSources((await hooks?.apply("toolSources", listed, context)) ?? listed);
      const slugs = byPriority(bySlug);
      const order = stringList((await hooks?.apply("toolSourceOrder", slugs, context)) ?? slugs);
      const sources = order.flatMap((slug) => bySlug.get(slug) ?? []);
      const declared = await Promise.all(sources.map((source) => toolsOf(source, context)));
      return catalogue(sources, declared);
    },
  };
}

function catalogue(sources: readonly ToolSource[], declared: readonly UnknownMap[]): ToolMap {
  const tools = new Map<string, ToolDeclaration>();
  for (const [index, { slug }] of sources.entries()) {
    for (const [key, definition] of entriesOf(declared[index])) {
      const declaration = tools.has(key) ? undefined : readDeclaration(key, asMap(definition), slug);
      if (declaration) tools.set(key, declaration);
    }
  }
  return snapshot(Object.fromEntries(tools)) as ToolMap;
}

// A source may answer with a map that cannot be read: it fails late, but it fails alone too.
function entriesOf(tools: UnknownMap | undefined): [string, unknown][] {
  try {
    return Object.entries(tools ?? emptyMap);
  } catch {
    return [];
  }
}

/** The declaration in canonical form, with what its place in the source implies; undefined when it is invalid. */
function readDeclaration(key: string, definition: UnknownMap | undefined, slug: string): ToolDeclaration | undefined {
  if (definition === undefined) return undefined;
  try {
    return normalizeForConversationRequest(completed(key, definition, slug));
  } catch {
    return undefined;
  }
}

function completed(key: string, definition: UnknownMap, slug: string): UnknownMap {
  const name = nonEmptyString(definition.name) ?? key;
  const description = trimmed(definition.description) === undefined ? name : definition.description;
  const source = nonEmptyString(definition.source) ?? (name.startsWith("client/") ? "client" : slug);
  const isComplete = name === definition.name && description === definition.description && source === definition.source;
  // A declaration that lacks nothing is handed on itself, so that a canonical one is known again.
  return isComplete ? definition : { ...definition, name, description, source };
}

function readSources(values: readonly unknown[]): ReadonlyMap<string, RankedSource> {
  const sources = new Map<string, RankedSource>();
  for (const value of values) {
    const source = readSource(value);
    if (source) place(sources, source);
  }
  return sources;
}

function readSource(value: unknown): RankedSource | undefined {
  if (!isMap(value) || typeof value.tools !== "function") return undefined;
  const source = value as ToolSource;
  const slug = trimmed(source.slug);
  if (slug === undefined) return undefined;
  return { slug, tools: (context) => source.tools(context), priority: numeric(source.priority) ?? USUAL_PRIORITY };
}

function place(sources: Map<string, RankedSource>, source: RankedSource): void {
  sources.delete(source.slug); // a map remembers where a key first stood
  sources.set(source.slug, source);
}

function byPriority(sources: ReadonlyMap<string, RankedSource>): string[] {
  const ranked = [...sources.values()].sort((one, other) => one.priority - other.priority);
  return ranked.map(({ slug }) => slug);
}
