// What is kept of a composed context, so that it can be told of every step why something was in it. It names sources and
// holds keyed hashes; of a memory it holds neither text nor name, because the record stays when the memory is erased.
import { type JsonMap, snapshotMap } from "../contracts/json.ts";
import type { MemoryScope } from "../contracts/memory/memory-scope.ts";
import type { ConsentDecision } from "../contracts/trust/consent.ts";
import { type Bind, boundUri } from "./bound-uri.ts";
import type { Composed } from "./compose.ts";
import type { Retrieved, SourceReport, StaleMemory } from "./retrieved.ts";

type Recorded = {
  readonly composed: Composed;
  readonly sources: readonly SourceReport[];
  readonly stale: readonly StaleMemory[];
  /** Null when no memories were to be used. */
  readonly consent: ConsentDecision | null;
};

/** More than a prompt has room for; what has no room either in the record is counted. */
const MOST_ROWS = 200;

/** In a sentence, in the place of what memories are about. */
export const UNNAMED = '"…"';

/** A short text could be guessed from a plain hash, so that these are bound too. */
export function contextRecord({ composed, sources, stale, consent }: Recorded, bind: Bind): JsonMap {
  const { used, conflicts, dropped } = composed;
  const item = (retrieved: Retrieved) => itemOf(retrieved, bind);
  const rejections = conflicts.map((conflict) => ({
    ...aboutOf(conflict),
    strategy: conflict.strategy,
    winner: uriOf(conflict.winner, bind),
    rejected: conflict.rejected.slice(0, MOST_ROWS).map(item),
  }));
  return snapshotMap({
    items: used.slice(0, MOST_ROWS).map(item),
    conflicts: rejections.slice(0, MOST_ROWS),
    dropped: dropped.slice(0, MOST_ROWS).map(item),
    stale: stale
      .slice(0, MOST_ROWS)
      .map(({ source, scope }) => ({ source, uri: boundUri(scope, bind), scope: withoutName(scope) })),
    sources: sources.slice(0, MOST_ROWS),
    consent,
    not_listed: [used, conflicts, dropped, stale, sources].reduce(
      (sum, { length }) => sum + Math.max(0, length - MOST_ROWS),
      0,
    ),
  });
}

/** What only memories speak about is theirs; where the host speaks about it too, it is the host's own word. */
function aboutOf({ conflict_key, reason, winner, rejected }: Composed["conflicts"][number]) {
  if ([winner, ...rejected].some(({ found }) => found.scope === null)) return { conflict_key, reason };
  return { conflict_key: null, reason: reason.replaceAll(`"${conflict_key}"`, UNNAMED) };
}

function uriOf({ found: { scope, uri } }: Retrieved, bind: Bind): string {
  return scope === null ? uri : boundUri(scope, bind);
}

function withoutName(scope: MemoryScope): MemoryScope {
  return { ...scope, filename: "" };
}

function itemOf(retrieved: Retrieved, bind: Bind) {
  const { content, authority_tier, conflict_kind, conflict_key, found } = retrieved;
  const { source, scope, hash, why, confidence, updated_at, isUnchecked } = found;
  return {
    ...{ source, uri: uriOf(retrieved, bind), authority_tier, why, conflict_kind, confidence, updated_at },
    ...(scope === null ? { scope, conflict_key } : { scope: withoutName(scope), conflict_key: null }),
    hash: bind(hash),
    bytes: Buffer.byteLength(content),
    is_unchecked: isUnchecked,
  };
}
