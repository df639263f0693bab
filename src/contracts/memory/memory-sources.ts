// What may be brought into a prompt, and when: the sources of memory and context that a host registers. Where their
// content lies is no matter here.
import { truthy } from "../coerce.ts";
import { cleanId } from "../context/clean-name.ts";
import { appliesIn, compareOrder, labelOf, metaOf, modesOf, priorityOf, textOf } from "../context/registration.ts";
import * as retrievalPolicy from "../context/retrieval-policy.ts";
import { asMap, emptyMap, type Json, seal, type UnknownMap } from "../json.ts";
import { quietly } from "../when-ready.ts";
import * as memoryLayer from "./memory-layer.ts";

export type MemorySource = {
  readonly id: string;
  readonly layer: memoryLayer.MemoryLayer;
  /** Low ones come first. */
  readonly priority: number;
  readonly protected: boolean;
  /** A text is the capability that editing it takes. What is composed cannot be edited. */
  readonly editable: boolean | string;
  readonly capability: string;
  readonly modes: readonly string[];
  readonly retrieval_policy: retrievalPolicy.RetrievalPolicy;
  readonly composable: boolean;
  /** The context whose sections write it, when it is composable. */
  readonly context_slug: string;
  readonly convention_path: string;
  readonly external_projection_target: string;
  readonly label: string;
  readonly description: string;
  readonly meta: Json;
};

/** What a source is registered with; everything has a default. */
export type MemorySourceArguments = {
  readonly layer?: string;
  readonly priority?: number;
  readonly protected?: boolean;
  readonly editable?: boolean | string;
  readonly capability?: string;
  readonly modes?: readonly string[];
  readonly retrieval_policy?: string;
  readonly composable?: boolean;
  readonly context_slug?: string;
  readonly convention_path?: string;
  readonly external_projection_target?: string;
  readonly label?: string;
  readonly description?: string;
  readonly meta?: UnknownMap;
};

/** Every list is ordered by priority, then by id. */
export interface MemorySources {
  /** The source as it is registered, in place of one with its id; null when nothing is left of the id. */
  register(id: string, given?: MemorySourceArguments): MemorySource | null;
  /** True when there was one. */
  unregister(id: string): boolean;
  get(id: string): MemorySource | null;
  all(): readonly MemorySource[];
  /** An unknown layer is the workspace. */
  byLayer(layer: string): readonly MemorySource[];
  /** Those that apply in a mode, and of them those with a policy when one is given. A blank mode leaves nothing out. */
  forMode(mode: string, policy?: string | null): readonly MemorySource[];
  alwaysInjected(mode: string): readonly MemorySource[];
  composable(): readonly MemorySource[];
  /** Forgets all sources; the next read counts as the first. */
  reset(): void;
}

export type MemorySourcesOptions = {
  /** Called once, before the first read, with what is there, so that a host may register late. */
  readonly onFirstRead?: (sources: MemorySources, registered: readonly MemorySource[]) => unknown;
};

/** An empty registry of sources. */
export function createMemorySources({ onFirstRead }: MemorySourcesOptions = {}): MemorySources {
  const sources = new Map<string, MemorySource>();
  let wasRead = false;

  function read(): ReadonlyMap<string, MemorySource> {
    if (!wasRead) {
      wasRead = true;
      quietly(() => onFirstRead?.(registry, [...sources.values()]));
    }
    return sources;
  }

  function select(isWanted: (source: MemorySource) => boolean): readonly MemorySource[] {
    return [...read().values()]
      .filter(isWanted)
      .sort((left, right) => compareOrder({ ...left, name: left.id }, { ...right, name: right.id }));
  }

  const registry: MemorySources = {
    register(id, given) {
      const source = sourceOf(id, asMap(given) ?? emptyMap);
      if (source !== null) sources.set(source.id, source);
      return source;
    },
    unregister: (id) => sources.delete(cleanId(id)),
    get: (id) => read().get(cleanId(id)) ?? null,
    all: () => select(() => true),
    byLayer(layer) {
      const wanted = memoryLayer.normalize(layer);
      return select((source) => source.layer === wanted);
    },
    forMode(mode, policy) {
      const wanted = policy == null ? undefined : retrievalPolicy.normalize(policy);
      return select(
        ({ modes, retrieval_policy }) =>
          appliesIn(modes, mode) && (wanted === undefined || retrieval_policy === wanted),
      );
    },
    alwaysInjected: (mode) => registry.forMode(mode, "always"),
    composable: () => select((source) => source.composable),
    reset() {
      sources.clear();
      wasRead = false;
    },
  };
  return registry;
}

function sourceOf(name: string, given: UnknownMap): MemorySource | null {
  const id = cleanId(name);
  if (id === "") return null;
  const composable = truthy(given.composable);
  return seal({
    id,
    layer: memoryLayer.normalize(given.layer),
    priority: priorityOf(given.priority),
    protected: truthy(given.protected),
    editable: !composable && editableOf(given.editable),
    capability: textOf(given.capability),
    modes: modesOf(given.modes),
    retrieval_policy: retrievalPolicy.normalize(given.retrieval_policy),
    composable,
    context_slug: typeof given.context_slug === "string" ? cleanId(given.context_slug) : id,
    convention_path: withoutLeadingSlashes(textOf(given.convention_path)),
    external_projection_target: textOf(given.external_projection_target),
    label: labelOf(given.label, id),
    description: textOf(given.description),
    meta: metaOf(given.meta),
  });
}

function editableOf(value: unknown): boolean | string {
  return typeof value === "boolean" || typeof value === "string" ? value : true;
}

function withoutLeadingSlashes(path: string): string {
  return path.replace(/^\/+/, "");
}
