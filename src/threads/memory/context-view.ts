// Why something was in the context of a step: what was kept of it, with the texts as far as they are still there.
import { holdfastError } from "../../contracts/error.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
import type { MemoryScope } from "../../contracts/memory/memory-scope.ts";
import type { ConsentDecision } from "../../contracts/trust/consent.ts";
import { UNNAMED } from "../../memory/context-record.ts";
import type { SourceReport } from "../../memory/retrieved.ts";
import { checkNumber } from "../check-arguments.ts";
import { CONTEXT_COMPOSED } from "../context/retrieved-context.ts";
import type { Host } from "../host.ts";
import { allEvents } from "../logs/logs.ts";
import { threadNotFound } from "../thread-errors.ts";
import { finder } from "./find-again.ts";

export type ContextPiece = {
  /** The id of its source. */
  readonly source: string;
  /** `memory:` and the key of a memory, or whatever the host calls it; of a memory that was erased a keyed hash. */
  readonly uri: string;
  readonly authority_tier: string;
  /** The retrieval policy that has brought it, and the same as a sentence. */
  readonly why: string;
  readonly because: string;
  readonly conflict_kind: string;
  /** Null when it was about nothing in particular, and as `content` is. */
  readonly conflict_key: string | null;
  readonly confidence: number | null;
  /** Unix seconds. */
  readonly updated_at: number | null;
  /** Tells whether a text is the same; it says nothing else about it. */
  readonly hash: string;
  readonly bytes: number;
  readonly is_unchecked: boolean;
  /** Null when the memory was changed or erased since, and for what the host's own functions have brought. */
  readonly content: string | null;
};

export type StepContext = {
  readonly step: number;
  /** What the model was shown, in this order. */
  readonly items: readonly ContextPiece[];
  /** What spoke about the same thing, and which of it stood. */
  readonly conflicts: readonly {
    /** Null when only memories spoke about it, of which none is there any more as it was. */
    readonly conflict_key: string | null;
    /** The uri of the one that stood. */
    readonly winner: string;
    readonly rejected: readonly ContextPiece[];
    readonly strategy: string;
    readonly reason: string;
  }[];
  /** What did not fit. */
  readonly dropped: readonly ContextPiece[];
  /** Memories of which their validators said that they hold no longer. */
  readonly stale: readonly { readonly source: string; readonly uri: string }[];
  /** Every source, and why it has brought nothing if it has not. */
  readonly sources: readonly SourceReport[];
  /** Whether memories might be used; null when none were to be. */
  readonly consent: ConsentDecision | null;
  /** How many rows there were more than are kept. */
  readonly not_listed: number;
};

/** Of the last step, or of the one that is given; null when nothing was retrieved for it, or that was erased. */
export async function contextOf(
  host: Host,
  threadId: string,
  options: { readonly step?: number } = {},
): Promise<StepContext | null> {
  if (!isMap(options)) throw holdfastError("invalid_argument", "What is asked for must be a map with a step.");
  const { step } = options;
  if (step !== undefined) checkNumber("step", step);
  const { threads } = host.stores;
  if (!(await threads.get(threadId))) throw threadNotFound(threadId);
  const records = new Map<number, JsonMap>();
  for (const { notes } of await allEvents(threads, threadId)) {
    for (const record of recordsIn(notes)) records.set(Number(record.step), record);
  }
  const wanted = step ?? [...records.keys()].at(-1);
  const said = wanted === undefined ? undefined : records.get(wanted);
  const record = said?.same_as === undefined ? said : records.get(Number(said.same_as));
  return record && wanted !== undefined ? await viewOf(host, threadId, wanted, record as unknown as Kept) : null;
}

function recordsIn(notes: string | null): readonly JsonMap[] {
  if (!notes?.includes(CONTEXT_COMPOSED)) return [];
  const list: unknown = JSON.parse(notes);
  const composed = (Array.isArray(list) ? list : []).filter((note) => isMap(note) && note.type === CONTEXT_COMPOSED);
  return composed.map(({ metadata }) => metadata);
}

type KeptPiece = Omit<ContextPiece, "because" | "content"> & { readonly scope: MemoryScope | null };

/** As `contextRecord` has made it. */
type Kept = Omit<StepContext, "step" | "items" | "conflicts" | "dropped" | "stale"> & {
  readonly items: readonly KeptPiece[];
  readonly conflicts: readonly (Omit<StepContext["conflicts"][number], "rejected"> & {
    readonly rejected: readonly KeptPiece[];
  })[];
  readonly dropped: readonly KeptPiece[];
  readonly stale: readonly (StepContext["stale"][number] & { readonly scope: MemoryScope })[];
};

async function viewOf(host: Host, threadId: string, step: number, kept: Kept): Promise<StepContext> {
  const find = finder(host, threadId);
  const shown = (pieces: readonly KeptPiece[]) => Promise.all(pieces.map((piece) => pieceOf(find, piece)));
  const { sources, consent, not_listed } = kept;
  const [items, dropped] = [await shown(kept.items), await shown(kept.dropped)];
  /** What stood is among these, unless there were more than are kept. */
  const standing = new Map([...kept.items, ...kept.dropped].map(({ uri }, at) => [uri, [...items, ...dropped][at]]));
  return {
    step,
    ...{ items, dropped },
    conflicts: await Promise.all(
      kept.conflicts.map(async (conflict) =>
        conflictOf(conflict, await shown(conflict.rejected), standing.get(conflict.winner)),
      ),
    ),
    stale: await Promise.all(
      kept.stale.map(async ({ source, ...memory }) => ({ source, uri: (await find(memory)).uri })),
    ),
    ...{ sources, consent, not_listed },
  };
}

async function pieceOf(find: ReturnType<typeof finder>, { scope, ...piece }: KeptPiece): Promise<ContextPiece> {
  const because = reasonFor(piece.why, piece.source);
  if (!scope) return { ...piece, because, content: null };
  const { uri, text } = await find({ ...piece, scope });
  return { ...piece, uri, because, conflict_key: text?.about ?? null, content: text?.content ?? null };
}

function conflictOf(
  { conflict_key: kept, reason, strategy, winner }: Kept["conflicts"][number],
  rejected: readonly ContextPiece[],
  standing: ContextPiece | undefined,
): StepContext["conflicts"][number] {
  const told = [standing, ...rejected].find((piece) => piece && piece.conflict_key !== null);
  const conflict_key = kept ?? told?.conflict_key ?? null;
  return {
    ...{ conflict_key, winner: standing?.uri ?? winner, rejected, strategy },
    reason: kept === null && conflict_key !== null ? reason.replaceAll(UNNAMED, () => `"${conflict_key}"`) : reason,
  };
}

function reasonFor(why: string, source: string): string {
  switch (why) {
    case "on_intent":
      return `The last message called for the source "${source}".`;
    case "on_tool_need":
      return `A tool that the model could call needs the source "${source}".`;
    default:
      return `The source "${source}" is in every prompt of this mode.`;
  }
}
