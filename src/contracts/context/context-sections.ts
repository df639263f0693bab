// A context put together of sections: each is a function that writes its part, registered under the context's name.
import { trim } from "../coerce.ts";
import { emptyMap, type Json, type UnknownMap } from "../json.ts";
import { isThenable, quietly, whenReady } from "../when-ready.ts";
import { cleanSlug } from "./clean-name.ts";
import { appliesIn, compareOrder, labelOf, metaOf, modesOf, priorityOf, textOf } from "./registration.ts";
import * as retrievalPolicy from "./retrieval-policy.ts";

/** Writes a section, now or later; what is not text, or blank, leaves the section out. */
export type SectionWriter = (context: UnknownMap, section: ContextSection) => unknown;

export type ContextSection = {
  readonly context_slug: string;
  readonly slug: string;
  readonly priority: number;
  readonly callback: SectionWriter;
  /** For whoever asks what is registered; composing leaves nothing out because of it. */
  readonly retrieval_policy: retrievalPolicy.RetrievalPolicy;
  readonly modes: readonly string[];
  readonly label: string;
  readonly description: string;
  readonly meta: Json;
};

export type ComposedContext = {
  /** As it was asked for. */
  readonly slug: string;
  readonly content: string;
  /** All that were asked to write, also those that wrote nothing. */
  readonly sections: readonly ContextSection[];
  readonly metadata: { readonly included_sections: readonly string[]; readonly section_count: number };
};

export type ContextSectionArguments = {
  readonly retrieval_policy?: string;
  readonly modes?: readonly string[];
  readonly label?: string;
  readonly description?: string;
  readonly meta?: UnknownMap;
};

export interface ContextSections {
  /** The section as it is registered, in place of one with its names; null when a name is blank. */
  register(
    contextSlug: string,
    sectionSlug: string,
    priority: number,
    callback: SectionWriter,
    given?: ContextSectionArguments,
  ): ContextSection | null;
  /** The sections of a context that apply in a mode, in order. */
  list(contextSlug: string, mode?: unknown): readonly ContextSection[];
  /** What the sections write, in order; a promise when one of them takes its time. What one throws is thrown on. */
  compose(contextSlug: string, context?: UnknownMap): ComposedContext | Promise<ComposedContext>;
  /** Forgets all sections; the next read counts as the first. */
  reset(): void;
}

export type ContextSectionsOptions = {
  /** Called once, before the first read, so that a host may register late. */
  readonly onFirstRead?: (sections: ContextSections) => unknown;
  /** May put another text in the place of what was composed; anything but a text, and a failure, is ignored. */
  readonly replaceContent?: (content: string, contextSlug: string, context: UnknownMap) => unknown;
};

/** An empty registry of sections. */
export function createContextSections({ onFirstRead, replaceContent }: ContextSectionsOptions = {}): ContextSections {
  const contexts = new Map<string, Map<string, ContextSection>>();
  let wasRead = false;

  const registry: ContextSections = {
    register(contextSlug, sectionSlug, priority, callback, given = {}) {
      const section = sectionOf(contextSlug, sectionSlug, priority, callback, given);
      if (section === null) return null;
      const sections = contexts.get(section.context_slug) ?? new Map();
      contexts.set(section.context_slug, sections.set(section.slug, section));
      return section;
    },
    list(contextSlug, mode) {
      if (!wasRead) {
        wasRead = true;
        quietly(() => onFirstRead?.(registry));
      }
      return [...(contexts.get(cleanSlug(contextSlug))?.values() ?? [])]
        .filter((section) => appliesIn(section.modes, mode))
        .sort((left, right) => compareOrder({ ...left, name: left.slug }, { ...right, name: right.slug }));
    },
    compose(contextSlug, context = emptyMap) {
      const sections = registry.list(contextSlug, context.mode);
      return whenReady(write(sections, context), (written) => {
        const parts = sections.flatMap((section, index) => partOf(section, written[index]));
        const composed = parts.map(({ text }) => text).join("\n\n");
        const replacing = quietly(() => replaceContent?.(composed, contextSlug, context));
        return whenReady(replacing, (replaced) => ({
          slug: contextSlug,
          content: typeof replaced === "string" ? replaced : composed,
          sections,
          metadata: { included_sections: parts.map(({ slug }) => slug), section_count: parts.length },
        }));
      });
    },
    reset() {
      contexts.clear();
      wasRead = false;
    },
  };
  return registry;
}

/** True when something was written. */
export function hasContent({ content }: ComposedContext): boolean {
  return trim(content) !== "";
}

function sectionOf(
  contextSlug: string,
  sectionSlug: string,
  priority: number,
  callback: SectionWriter,
  given: ContextSectionArguments,
): ContextSection | null {
  const context_slug = cleanSlug(contextSlug);
  const slug = cleanSlug(sectionSlug);
  if (context_slug === "" || slug === "") return null;
  return Object.freeze({
    context_slug,
    slug,
    priority: priorityOf(priority),
    callback,
    retrieval_policy: retrievalPolicy.normalize(given.retrieval_policy),
    modes: modesOf(given.modes),
    label: labelOf(given.label, slug),
    description: textOf(given.description),
    meta: metaOf(given.meta),
  });
}

/** All sections start at once, because one may have to wait for a store. */
function write(
  sections: readonly ContextSection[],
  context: UnknownMap,
): readonly unknown[] | Promise<readonly unknown[]> {
  const written: unknown[] = [];
  try {
    for (const section of sections) written.push(section.callback(context, section));
  } catch (thrown) {
    // Nobody will wait for those that have started: their failures are nobody's.
    for (const output of written) quietly(() => output);
    throw thrown;
  }
  return written.some(isThenable) ? Promise.all(written) : written;
}

function partOf({ slug }: ContextSection, output: unknown): { slug: string; text: string }[] {
  const text = typeof output === "string" ? trim(output) : "";
  return text === "" ? [] : [{ slug, text }];
}
