// Makes one text of what was retrieved: of those that speak about the same thing one stands, and what does not fit stays out.
import { authorityRank } from "../contracts/context/authority-tier.ts";
import { type Block, blockText, contextText } from "./context-block.ts";
import type { Retrieved } from "./retrieved.ts";
import { type SettledConflict, settleConflicts } from "./settle-conflicts.ts";

export type Composed = {
  /** Empty when nothing was retrieved. */
  readonly text: string;
  /** What stands in the text, in its order. */
  readonly used: readonly Retrieved[];
  /** Only those in which something was rejected. */
  readonly conflicts: readonly SettledConflict[];
  /** What was not rejected, and did not fit. */
  readonly dropped: readonly Retrieved[];
};

/** About what a prompt can bear beside a conversation. */
const MOST_BYTES = 24_000;

/** What has less authority, and among equals what comes later, is the first to be left out. */
export function compose(items: readonly Retrieved[], mostBytes = MOST_BYTES): Composed {
  const conflicts = settleConflicts(items).filter(({ rejected }) => rejected.length > 0);
  const rejected = new Set(conflicts.flatMap((conflict) => conflict.rejected));
  const standing = items.filter((item) => !rejected.has(item));
  const fitting = whatFits(standing, mostBytes);
  const used = standing.filter((item) => fitting.has(item));
  return {
    text: contextText(used.map(blockOf)),
    used,
    conflicts,
    dropped: standing.filter((item) => !fitting.has(item)),
  };
}

function whatFits(standing: readonly Retrieved[], mostBytes: number): ReadonlySet<Retrieved> {
  const fitting = new Set<Retrieved>();
  let left = mostBytes;
  for (const item of standing.toSorted(
    (one, other) => authorityRank(other.authority_tier) - authorityRank(one.authority_tier),
  )) {
    const bytes = Buffer.byteLength(blockText(blockOf(item)));
    if (bytes > left) continue;
    fitting.add(item);
    left -= bytes;
  }
  return fitting;
}

function blockOf({ content, authority_tier: tier, found }: Retrieved): Block {
  const { source, name, updated_at, isUnchecked } = found;
  return { source, name, tier, updated_at, isUnchecked, content };
}
