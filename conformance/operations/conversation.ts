// What is said in a conversation, how long it may be, and what a model is asked and answers.
import * as compactionBoundary from "../../src/contracts/conversation/compaction-boundary.ts";
import * as compactionConservation from "../../src/contracts/conversation/compaction-conservation.ts";
import * as compactionItem from "../../src/contracts/conversation/compaction-item.ts";
import * as compactionPolicy from "../../src/contracts/conversation/compaction-policy.ts";
import * as markdownOverflow from "../../src/contracts/conversation/markdown-overflow.ts";
import * as markdownSections from "../../src/contracts/conversation/markdown-sections.ts";
import * as message from "../../src/contracts/conversation/message.ts";
import * as providerTurn from "../../src/contracts/conversation/provider-turn.ts";
import * as request from "../../src/contracts/conversation/request.ts";
import * as result from "../../src/contracts/conversation/result.ts";
import * as runOutcome from "../../src/contracts/conversation/run-outcome.ts";
import * as structuredOutput from "../../src/contracts/conversation/structured-output.ts";
import * as textToolCalls from "../../src/contracts/conversation/text-tool-calls.ts";
import * as toolPairs from "../../src/contracts/conversation/tool-pairs.ts";
import { runCompaction } from "../scripts/compaction.ts";
import { runBudget, runIdenticalFailure, runSpin } from "../scripts/guards.ts";
import { runLoop } from "../scripts/loop.ts";
import { runGrouping, runReplacement } from "../scripts/markdown-sections.ts";
import { runRetry } from "../scripts/provider-retry.ts";
import type { Given } from "./given.ts";

export const conversationOperations = {
  "loop.run": runLoop,
  "message.normalize": (given: Given<"message">) => message.normalize(given.message),
  "message.normalizeMany": (given: Given<"messages">) => message.normalizeMany(given.messages),
  "message.toProvider": (given: Given<"message">) => message.toProvider(given.message),
  "message.toProviderMany": (given: Given<"messages">) => message.toProviderMany(given.messages),
  "message.coalesce": (given: Given<"messages">) => message.coalesce(given.messages),
  "message.construct": constructMessage,
  "request.normalize": request.normalize,
  "result.normalize": (given: Given<"result">) => result.normalize(given.result),
  "runOutcome.normalize": (given: Given<"outcome" | "result">) =>
    runOutcome.normalize(given.outcome, given.result ?? {}),
  "runOutcome.runControlStatus": (given: Given<"result">) => runOutcome.runControlStatus(given.result ?? {}),
  "budget.sequence": runBudget,
  "spin.sequence": runSpin,
  "identicalFailure.sequence": runIdenticalFailure,
  "toolPairs.validate": (given: Given<"messages">) => toolPairs.validate(given.messages),
  "toolPairs.prune": (given: Given<"messages">) => toolPairs.prune(given.messages),
  "compaction.compact": runCompaction,
  "compaction.normalizePolicy": (given: Given<"policy">) => compactionPolicy.normalizePolicy(given.policy),
  "compaction.selectBoundary": (given: Given<"messages" | "policy">) =>
    compactionBoundary.selectBoundary(
      message.normalizeMany(given.messages),
      compactionPolicy.normalizePolicy(given.policy),
    ),
  "compactionConservation.metadata": compactionConservation.metadata,
  "compactionItem.normalize": (given: Given<"item" | "index">) =>
    compactionItem.normalize(given.item, given.index ?? null),
  "compactionItem.normalizeMany": (given: Given<"items">) => compactionItem.normalizeMany(given.items),
  "compactionItem.fromMessages": (given: Given<"messages">) => compactionItem.fromMessages(given.messages),
  "markdownSections.parse": (given: Given<"markdown">) => markdownSections.parse(given.markdown),
  "markdownSections.reconstruct": (given: Given<"items">) => markdownSections.reconstruct(given.items),
  "markdownSections.replace": runReplacement,
  "markdownSections.group": runGrouping,
  "markdownSections.archivePointer": (given: Given<"heading" | "destination" | "level" | "content">) =>
    markdownSections.archivePointer(given.heading, given.destination, given.level, given.content),
  "markdownSections.splitForOverflow": (given: Given<"markdown" | "policy">) =>
    markdownOverflow.splitForOverflow(given.markdown, given.policy),
  "providerTurn.request": providerTurn.request,
  "providerTurn.result": (given: Given<"result">) => providerTurn.result(given.result),
  "providerTurn.extractToolCalls": (given: Given<"result">) => textToolCalls.extractToolCalls(given.result),
  "providerTurn.retry": runRetry,
  "structuredOutput.request": (given: Given<"value">) => structuredOutput.request(given.value),
  "structuredOutput.validate": (given: Given<"schema" | "value">) =>
    structuredOutput.validate(given.schema, given.value),
};

const constructors = {
  text: (given: Given<"role" | "content" | "metadata">) => message.text(given.role, given.content, given.metadata),
  tool_call: message.toolCall,
  tool_result: message.toolResult,
  approval_required: message.approvalRequired,
};

function constructMessage({ kind, ...given }: { kind: keyof typeof constructors }) {
  return constructors[kind](given as never);
}
