// Keeps a transcript within bounds: what is old becomes a summary, or is archived whole. A compaction that fails leaves
// the transcript as it was.
import { trimmed } from "../coerce.ts";
import { errorMessage } from "../error.ts";
import { isMap, type Json, type JsonMap, snapshot, snapshotMap } from "../json.ts";
import type { Outcome } from "../outcome.ts";
import { type Pairs, selectBoundary } from "./compaction-boundary.ts";
import * as conservation from "./compaction-conservation.ts";
import { findOverflow } from "./compaction-overflow.ts";
import { type CompactionPolicy, normalizePolicy } from "./compaction-policy.ts";
import * as message from "./message.ts";

type Message = message.Message;

type CompactionEvent = { readonly type: string; readonly metadata: JsonMap };

/** The transcript to go on with, the account of how it came about, and what was taken out of it whole. */
export type CompactionOutcome = {
  readonly messages: readonly Message[];
  readonly metadata: { readonly compaction: JsonMap };
  readonly events: readonly CompactionEvent[];
  readonly archive_items?: readonly Json[];
};

/** Ask for a summary of `head`, told the `context`; then `finish`. */
export type SummarizePlan = {
  readonly kind: "summarize";
  readonly cut: number;
  readonly head: readonly Message[];
  readonly context: JsonMap;
};

export type CompactionPlan =
  | { readonly kind: "skip"; readonly outcome: CompactionOutcome }
  | { readonly kind: "archive"; readonly outcome: CompactionOutcome }
  | SummarizePlan;

/** False when a transcript of this length needs nothing for sure, which is so at most turns. */
export function isDue(total: number, policy: CompactionPolicy): boolean {
  return policy.overflow_archive_enabled || (policy.enabled && total > policy.max_messages);
}

/** `maxOutputTokens`: a longer summary is not paid for. */
export type Summarizer = (
  head: readonly Message[],
  context: JsonMap,
  options?: { readonly maxOutputTokens?: number },
) => unknown;

/**
 * Decides what the transcript needs. `given` are the messages as they came, when that is not in normalised form: an
 * archive measures and keeps those. The list that is passed may grow afterwards, but what it holds must stay.
 */
export function plan(
  messages: readonly Message[],
  policy: CompactionPolicy,
  { given = messages, pairs }: { readonly given?: readonly Json[]; readonly pairs?: Pairs } = {},
): CompactionPlan {
  const overflow = findOverflow(messages, given, policy, pairs);
  if (overflow?.kind === "unsplittable") {
    return { kind: "skip", outcome: outcome(messages, withStatus(overflow.details, "skipped"), []) };
  }
  if (overflow?.kind === "split") {
    const { cut, stub, details } = overflow;
    const kept = Object.freeze([stub, ...messages.slice(cut)]);
    const archived = outcome(kept, withStatus(details, "archived"), [event("compaction_overflow_archived", details)]);
    const items = snapshot(given.slice(0, cut)) as readonly Json[];
    return { kind: "archive", outcome: Object.freeze({ ...archived, archive_items: items }) };
  }
  const total = messages.length;
  if (!policy.enabled || total <= policy.max_messages) return { kind: "skip", outcome: skipped(messages, policy) };
  const cut = selectBoundary(messages, policy, pairs);
  if (cut === 0) return { kind: "skip", outcome: skipped(messages, policy) };
  const context = snapshotMap({
    policy,
    total_messages: total,
    compact_count: cut,
    retained_count: total - cut,
    boundary: { compact_until: cut - 1, retain_from: cut },
  });
  return { kind: "summarize", cut, head: Object.freeze(messages.slice(0, cut)), context };
}

/** The outcome once the summary was asked for. `messages` and `policy` are those that were planned with. */
export function finish(
  { cut, context }: SummarizePlan,
  messages: readonly Message[],
  policy: CompactionPolicy,
  attempt: Outcome,
): CompactionOutcome {
  const retained = messages.slice(cut);
  const started = event("compaction_started", context);
  const account = (compacted: readonly Message[], archived: readonly Json[]) =>
    conservation.metadata({
      policy,
      original_items: messages,
      compacted_items: compacted,
      retained_items: retained,
      archived_items: archived,
      extra: context,
    });
  const failed = (details: JsonMap, error: string) => {
    const explained = snapshotMap({ ...details, error });
    return outcome(messages, withStatus(explained, "failed"), [started, event("compaction_failed", explained)]);
  };

  const summary = readSummary(attempt);
  if ("error" in summary) return failed(account([], []), summary.error);
  const summaryMessage = message.text(policy.summary_role, `${policy.summary_prefix}\n\n${summary.text}`, {
    agents_api_compaction: {
      compacted_message_count: cut,
      retained_message_count: retained.length,
      summary_provider: policy.summary_provider,
      summary_model: policy.summary_model,
    },
  });
  const accounted = account([summaryMessage], summary.archived);
  const details = snapshotMap({ ...accounted, summary_message: summaryMessage });
  if (isMap(accounted.conservation) && accounted.conservation.failed_closed === true) {
    return failed(details, "The summary and what is kept hold fewer bytes than the policy demands.");
  }
  const compacted = Object.freeze([summaryMessage, ...retained]);
  return outcome(compacted, withStatus(details, "compacted"), [started, event("compaction_completed", details)]);
}

/** Plans, asks the summarizer if need be, and finishes. What the summarizer throws becomes a failed outcome. */
export async function compact(messages: unknown, policy: unknown, summarizer: Summarizer): Promise<CompactionOutcome> {
  const normalized = message.normalizeMany(messages);
  const complete = normalizePolicy(policy);
  const planned = plan(normalized, complete, {
    given: Array.isArray(messages) ? (snapshot(messages) as Json[]) : [],
  });
  if (planned.kind !== "summarize") return planned.outcome;
  return finish(planned, normalized, complete, await summarize(summarizer, planned));
}

async function summarize(summarizer: Summarizer, { head, context }: SummarizePlan): Promise<Outcome> {
  try {
    return { returned: await summarizer(head, context) };
  } catch (threw) {
    return { threw };
  }
}

type Summary = { text: string; archived: readonly Json[] } | { error: string };

function readSummary(attempt: Outcome): Summary {
  if ("threw" in attempt) return { error: errorMessage(attempt.threw) };
  const { returned } = attempt;
  const summary = trimmed(isMap(returned) ? returned.summary : returned);
  if (summary === undefined) return { error: "The summarizer returned no summary." };
  const archived = isMap(returned) ? returned.archived_items : undefined;
  try {
    return { text: summary, archived: Array.isArray(archived) ? (snapshot(archived) as Json[]) : [] };
  } catch (thrown) {
    return { error: errorMessage(thrown) };
  }
}

const noEvents: readonly CompactionEvent[] = Object.freeze([]);

/** Most turns end here and look at none of it, so the account is drawn up when it is first read. */
function skipped(messages: readonly Message[], policy: CompactionPolicy): CompactionOutcome {
  const total = messages.length;
  let account: JsonMap | undefined;
  const metadata = Object.freeze({
    get compaction() {
      account ??= accountOfNothing(messages.slice(0, total), policy);
      return account;
    },
  });
  return Object.freeze({ messages, metadata, events: noEvents });
}

function accountOfNothing(messages: readonly Message[], policy: CompactionPolicy): JsonMap {
  return withStatus(conservation.metadata({ policy, original_items: messages, retained_items: messages }), "skipped");
}

function outcome(
  messages: readonly Message[],
  compaction: JsonMap,
  events: readonly CompactionEvent[],
): CompactionOutcome {
  return Object.freeze({ messages, metadata: Object.freeze({ compaction }), events: Object.freeze(events) });
}

function withStatus(details: JsonMap, status: "skipped" | "archived" | "failed" | "compacted"): JsonMap {
  return snapshotMap({ ...details, status });
}

function event(type: string, metadata: JsonMap): CompactionEvent {
  return Object.freeze({ type, metadata });
}
