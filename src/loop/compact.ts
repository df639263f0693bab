// Before the model is asked: the transcript is made short enough to be shown.
import * as compaction from "../contracts/conversation/compaction.ts";
import { errorMessage } from "../contracts/error.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { announceTurn } from "./announce.ts";
import { goToModel, loseAttempt } from "./ask-model.ts";
import { reserveSummary, type SharedFunds, SUMMARY, spentInVain, spentOn } from "./funds.ts";
import type { Next } from "./next.ts";
import type { Amounts } from "./records.ts";
import { keptEvent, type Step } from "./step.ts";
import type { Body } from "./working.ts";

/** Compacts the transcript when its policy says so, then goes on to the model. */
export function compact(step: Step, arrived?: Outcome): Next | undefined {
  const { config, state, working } = step;
  // An effect that is under way, or was put off, belongs to a turn that was announced before.
  if (!state.in_flight && !state.postponed && !arrived && !config.asked.visibility) announceTurn(step);
  if (!config.compaction || !compaction.isDue(working.transcript.length, config.compaction)) return goToModel(step);
  const plan = compaction.plan(working.transcript, config.compaction, {
    pairs: config.rules.waiting === "park" ? "all" : "neighbours",
  });
  if (plan.kind === "skip") return goToModel(step);
  if (plan.kind === "archive") return archive(step, plan.outcome, arrived);
  if (!arrived) loseAttempt(step);
  if (!arrived || !state.in_flight) return beginSummary(step, plan, arrived);
  const spent = costOfSummary(step, arrived);
  return recordCompaction(step, compaction.finish(plan, working.transcript, config.compaction, arrived), spent);
}

function costOfSummary({ config, state }: Step, arrived: Outcome): Amounts | undefined {
  if ("threw" in arrived && arrived.usage === undefined) return spentInVain(state, arrived.hasSpoken === true);
  return spentOn(state, config.funds, arrived.usage);
}

/**
 * Begins to ask for a summary. When there is too little left to pay for it, the transcript stays as it is. `arrived`:
 * what is left of shared funds.
 */
function beginSummary(step: Step, { head, context }: compaction.SummarizePlan, arrived?: Outcome): Next | undefined {
  const { funds } = step.config;
  const order = { kind: "summarize", messages: head, context, ...(funds && { maxOutputTokens: SUMMARY }) } as const;
  if (step.state.in_flight || !funds?.paysSummaries) return step.begin({ kind: "summarize" }, order, "turn.compact");
  if (funds.isShared && !arrived) return { kind: "consult", question: { hook: "funds" } };
  if (arrived && "threw" in arrived) return goToModel(step);
  const reserved = reserveSummary(step, funds, head, (arrived?.returned as SharedFunds | undefined) ?? null);
  return reserved ? step.begin({ kind: "summarize" }, order, "turn.compact", { reserved }) : goToModel(step);
}

/** Hands the oldest messages over before they leave the transcript; if nobody could take them, they stay. */
function archive(step: Step, outcome: compaction.CompactionOutcome, arrived?: Outcome): Next | undefined {
  if (step.config.archives && !arrived) {
    const order = {
      kind: "archive",
      items: outcome.archive_items ?? [],
      details: outcome.metadata.compaction,
    } as const;
    return step.begin({ kind: "archive" }, order, "turn.compact");
  }
  if (!arrived || "returned" in arrived) return recordCompaction(step, outcome);
  const failed = keptEvent("compaction_failed", { ...outcome.metadata.compaction, error: errorMessage(arrived.threw) });
  step.record({ type: "compaction.failed" }, "turn.model", [failed]);
}

function recordCompaction(step: Step, outcome: compaction.CompactionOutcome, spent?: Amounts): undefined {
  const { working } = step;
  const cost = spent && { spent };
  const bodies: Body[] = outcome.events.map((event) => ({ to: "event", value: event }));
  if (outcome.messages === working.transcript) {
    step.record({ type: "compaction.failed", ...cost }, "turn.model", bodies);
    return;
  }
  const [summary] = outcome.messages;
  const drop = working.transcript.length - outcome.messages.length + 1;
  if (summary) bodies.push({ to: "compaction", drop, added: [summary] });
  step.record({ type: "compacted", messages: outcome.messages.length, ...cost }, "turn.model", bodies);
}
