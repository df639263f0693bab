// From the name of an operation to the function that performs it: the one place where vectors meet our exports. Where
// a vector describes callbacks or steps, scripts/ plays them.
import * as chatRunControl from "../src/contracts/conversation/chat-run-control.ts";
import * as compactionBoundary from "../src/contracts/conversation/compaction-boundary.ts";
import * as compactionConservation from "../src/contracts/conversation/compaction-conservation.ts";
import * as compactionPolicy from "../src/contracts/conversation/compaction-policy.ts";
import * as message from "../src/contracts/conversation/message.ts";
import * as providerTurn from "../src/contracts/conversation/provider-turn.ts";
import * as request from "../src/contracts/conversation/request.ts";
import * as result from "../src/contracts/conversation/result.ts";
import * as runControl from "../src/contracts/conversation/run-control.ts";
import * as runOutcome from "../src/contracts/conversation/run-outcome.ts";
import * as runtimeOverrides from "../src/contracts/conversation/runtime-overrides.ts";
import * as structuredOutput from "../src/contracts/conversation/structured-output.ts";
import * as textToolCalls from "../src/contracts/conversation/text-tool-calls.ts";
import * as toolPairs from "../src/contracts/conversation/tool-pairs.ts";
import * as toolAudit from "../src/contracts/tools/audit.ts";
import * as bindings from "../src/contracts/tools/bindings.ts";
import * as toolCall from "../src/contracts/tools/call.ts";
import * as toolCallGate from "../src/contracts/tools/call-gate.ts";
import * as citations from "../src/contracts/tools/citations.ts";
import * as toolDeclaration from "../src/contracts/tools/declaration.ts";
import * as toolCore from "../src/contracts/tools/execution.ts";
import * as exposure from "../src/contracts/tools/exposure.ts";
import * as toolParameters from "../src/contracts/tools/parameters.ts";
import * as toolResult from "../src/contracts/tools/result.ts";
import * as runtimeMetadata from "../src/contracts/tools/runtime-metadata.ts";
import * as runtimeTool from "../src/contracts/tools/runtime-tool.ts";
import { isSensitiveKey } from "../src/contracts/tools/sensitive-keys.ts";
import * as truncation from "../src/contracts/tools/truncation.ts";
import * as workspace from "../src/contracts/workspace.ts";
import { runSequence as runChatRunControl } from "./scripts/chat-run-control.ts";
import { runCompaction } from "./scripts/compaction.ts";
import { executeInChat, executeTool } from "./scripts/executor.ts";
import { runBudget, runIdenticalFailure, runSpin } from "./scripts/guards.ts";
import { runLoop } from "./scripts/loop.ts";
import { runRetry } from "./scripts/provider-retry.ts";
import { runCalls, runSteps } from "./scripts/run-control.ts";
import { runAbilities } from "./scripts/runtime-tool-abilities.ts";
import { runLifecycle } from "./scripts/runtime-tool-lifecycle.ts";

// Arguments are JSON of the shape that the vector file describes; `never` fits whatever the function under test takes.
type Given<Name extends string> = { readonly [name in Name]: never };

export const operations = {
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
  "providerTurn.request": providerTurn.request,
  "providerTurn.result": (given: Given<"result">) => providerTurn.result(given.result),
  "providerTurn.extractToolCalls": (given: Given<"result">) => textToolCalls.extractToolCalls(given.result),
  "providerTurn.retry": runRetry,
  "structuredOutput.request": (given: Given<"value">) => structuredOutput.request(given.value),
  "structuredOutput.validate": (given: Given<"schema" | "value">) =>
    structuredOutput.validate(given.schema, given.value),
  "runtime/chatRunControl.sequence": (given: Given<"steps">) => runChatRunControl(given.steps),
  "runtime/runControl.sequence": (given: Given<"steps">) => runSteps(given.steps),
  "orchestration/runControl.sequence": (given: Given<"calls">) => runCalls(given.calls),
  "runControl.normalizeRun": (given: Given<"run">) => runControl.normalizeRun(given.run),
  "chatRun.normalize": (given: Given<"run">) => chatRunControl.normalizeChatRun(given.run),
  "runtimeOverrides.normalize": (given: Given<"overrides">) => runtimeOverrides.normalize(given.overrides),
  "workspace.fromArray": (given: Given<"value">) => workspace.normalize(given.value),
  "workspace.fromParts": (given: Given<"workspace_type" | "workspace_id">) => {
    const scope = workspace.normalize(given);
    return { ...scope, key: workspace.key(scope) };
  },

  "toolDeclaration.validate": (given: Given<"declaration">) => toolDeclaration.validate(given.declaration),
  "toolDeclaration.validateServer": (given: Given<"declaration">) => toolDeclaration.validateServer(given.declaration),
  "toolDeclaration.normalize": (given: Given<"declaration">) => toolDeclaration.normalize(given.declaration),
  "toolDeclaration.normalizeForServer": (given: Given<"declaration">) =>
    toolDeclaration.normalizeForServer(given.declaration),
  "toolDeclaration.normalizeForConversationRequest": (given: Given<"declaration">) =>
    toolDeclaration.normalizeForConversationRequest(given.declaration),
  "toolDeclaration.normalizeRuntimeMetadata": (given: Given<"runtime">) => runtimeMetadata.normalize(given.runtime),
  "toolDeclaration.providerSafeName": (given: Given<"name">) => toolDeclaration.providerSafeName(given.name),
  "toolDeclaration.canonicalName": (given: Given<"tool_name" | "available_tools">) =>
    toolDeclaration.canonicalName(given.tool_name, given.available_tools ?? {}),
  "toolParameters.build": (given: Given<"parameters" | "context" | Definition>) =>
    toolParameters.build(given.parameters ?? {}, given.context ?? {}, given.tool_definition ?? {}),
  "toolParameters.validateRequired": (given: Given<"parameters" | Definition>) =>
    toolParameters.validateRequired(given.parameters ?? {}, given.tool_definition ?? {}),
  "toolParameters.normalizeBindings": (given: Given<Definition>) => bindings.normalizeBindings(given.tool_definition),
  "toolParameters.normalizeDefaults": (given: Given<Definition>) => bindings.normalizeDefaults(given.tool_definition),
  "toolParameters.exposure": (given: Given<"parameters" | Definition>) =>
    exposure.expose(given.parameters ?? {}, given.tool_definition ?? null),
  "toolParameters.sensitivePaths": (given: Given<Definition>) => exposure.sensitivePaths(given.tool_definition ?? null),
  "toolParameters.modelSchema": (given: Given<Definition>) => toolParameters.modelSchema(given.tool_definition ?? {}),
  "toolParameters.sensitiveKey": ({ keys }: { keys: readonly string[] }) => keys.map(isSensitiveKey),
  "toolCall.normalize": (given: Given<"tool_call">) => toolCall.normalize(given.tool_call),
  "toolCore.prepare": (given: Given<"tool_name" | "parameters" | "available_tools" | "context">) =>
    toolCore.prepare(given.tool_name, given.parameters ?? {}, given.available_tools ?? {}, given.context ?? {}),
  "toolCore.execute": executeTool,
  "toolResult.normalize": (given: Given<"result">) => toolResult.normalize(given.result),
  "toolAudit.hash": (given: Given<"value">) => toolAudit.hash(given.value),
  "toolAudit.event": (given: Given<"tool_name" | "tool_call_id" | "parameters" | "result" | "turn" | Definition>) =>
    toolAudit.event({
      ...given,
      exposure: exposure.expose(given.parameters ?? {}, given.tool_definition ?? null),
      declaration: given.tool_definition ?? null,
    }),
  "citations.normalize": (given: Given<"citations">) => citations.normalize(given.citations),
  "citations.normalizeMetadata": (given: Given<"metadata">) => citations.normalizeMetadata(given.metadata),
  "truncator.truncate": (given: Given<"result" | "max_bytes">) =>
    truncation.truncate(given.result, truncation.normalizeLimit(given.max_bytes)),
  "toolCallGate.evaluateCall": (given: Given<"rules" | "tool_name" | "prior_messages">) =>
    toolCallGate.evaluateCall(given.rules, given.tool_name, given.prior_messages ?? []),
  "toolCallGate.evaluateCompletion": (given: Given<"rules" | "messages">) =>
    toolCallGate.evaluateCompletion(given.rules, given.messages ?? []),
  "defaultChatExecutor.execute": executeInChat,

  "runtimeTool.request": (given: Given<"request">) => runtimeTool.request(given.request),
  "runtimeTool.requestFromCall": runtimeTool.requestFromCall,
  "runtimeTool.requestTimeout": (given: Given<"request">) => runtimeTool.requestTimeout(given.request),
  "runtimeTool.result": (given: Given<"result">) => runtimeTool.result(given.result),
  "runtimeTool.resultFromRequest": (given: Given<"request" | "result">) =>
    runtimeTool.resultFromRequest(given.request, given.result),
  "runtimeTool.lifecycle": (given: Given<"steps">) => runLifecycle(given.steps),
  "runtimeTool.abilities": runAbilities,
};

type Definition = "tool_definition";

const constructors = {
  text: (given: Given<"role" | "content" | "metadata">) => message.text(given.role, given.content, given.metadata),
  tool_call: message.toolCall,
  tool_result: message.toolResult,
  approval_required: message.approvalRequired,
};

function constructMessage({ kind, ...given }: { kind: keyof typeof constructors }) {
  return constructors[kind](given as never);
}
