// Reads the memories of a source: the latest of them, or those in which words of a message are found.
import { metadataFields } from "../contracts/memory/memory-metadata.ts";
import type { MemoryScope } from "../contracts/memory/memory-scope.ts";
import type { FoundMemory, MemoryEntry } from "../contracts/memory/memory-store.ts";
import { covers, isOutOfReach } from "./covers.ts";
import { fillUp } from "./fill-up.ts";
import type { Memory, Source } from "./memory.ts";

const USUAL_LIMIT = 50;
const LATEST = { order_by: "updated_at", order: "desc" } as const;
// Whose word it is depends on all that is known of it, however little a host wants to be told.
const WHOLE = { metadata_fields: metadataFields } as const;

/** As the source filters and orders them. */
export async function latestEntries(
  memory: Memory,
  source: Source,
  scope: MemoryScope,
): Promise<readonly FoundMemory[]> {
  const { query, folder, limit = USUAL_LIMIT } = source.given;
  const wanted = { ...LATEST, ...query, ...WHOLE };
  const isWithin = ({ filename }: { filename: string }) => !isOutOfReach(memory, source.layer, filename);
  if (folder !== undefined) return await belowFolder(memory, scope, { folder, wanted, limit, isWithin });
  return await fillUp(limit, (most) => memory.store.retrieve(scope, wanted, { limit: most }), isWithin);
}

/** Those that hold all of the words, best first. */
export async function entriesWith(
  memory: Memory,
  source: Source,
  scope: MemoryScope,
  words: string,
): Promise<readonly FoundMemory[]> {
  const { query, limit = USUAL_LIMIT } = source.given;
  return await fillUp(
    limit,
    (most) => memory.store.search(scope, words, { ...query, ...WHOLE }, { limit: most }),
    // A search knows no folders.
    ({ filename }) => covers(source, source.layer, filename) && !isOutOfReach(memory, source.layer, filename),
  );
}

/** Those that hold any of the words, the ones with most of them first. */
export async function entriesWithAny(
  memory: Memory,
  source: Source,
  scope: MemoryScope,
  words: readonly string[],
): Promise<readonly FoundMemory[]> {
  const hits = new Map<string, { entry: FoundMemory; count: number }>();
  for (const found of await Promise.all(words.map((word) => entriesWith(memory, source, scope, word)))) {
    for (const entry of found) {
      const hit = hits.get(entry.filename) ?? { entry, count: 0 };
      hits.set(entry.filename, { ...hit, count: hit.count + 1 });
    }
  }
  const ranked = [...hits.values()].sort((left, right) => right.count - left.count);
  return ranked.slice(0, source.given.limit ?? USUAL_LIMIT).map(({ entry }) => entry);
}

const SHORTEST_WORD = 4;
const MOST_WORDS = 6;

/** The longest words of a message: the short ones stand in every text. */
export function wordsOf(message: string): readonly string[] {
  const words = message.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words)]
    .filter(({ length }) => length >= SHORTEST_WORD)
    .sort((left, right) => right.length - left.length)
    .slice(0, MOST_WORDS);
}

type Below = {
  readonly folder: string;
  readonly wanted: Parameters<Memory["store"]["listSubtree"]>[2];
  readonly limit: number;
  readonly isWithin: (entry: MemoryEntry) => boolean;
};

async function belowFolder(
  { store }: Memory,
  scope: MemoryScope,
  { folder, wanted, limit, isWithin }: Below,
): Promise<readonly FoundMemory[]> {
  const entries = (await store.listSubtree(scope, folder, wanted)).filter(isWithin).slice(0, limit);
  const read = await Promise.all(
    entries.map(async (entry) => {
      const { exists, content, hash } = await store.read({ ...scope, filename: entry.filename }, []);
      return exists ? [{ ...entry, content, hash }] : [];
    }),
  );
  return read.flat();
}
