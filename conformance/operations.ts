// From the name of an operation to the function that performs it: the one place where vectors meet our exports. Where
// a vector describes callbacks or steps, scripts/ plays them.
import * as effectiveAgent from "../src/contracts/agents/effective-agent.ts";
import * as identity from "../src/contracts/agents/identity.ts";
import * as runtimeProfile from "../src/contracts/agents/runtime-profile.ts";
import * as bridgeClient from "../src/contracts/channels/bridge-client.ts";
import * as bridgeItem from "../src/contracts/channels/bridge-item.ts";
import * as externalMessage from "../src/contracts/channels/external-message.ts";
import * as sessionMap from "../src/contracts/channels/session-map.ts";
import * as webhookSignature from "../src/contracts/channels/webhook-signature.ts";
import { accessScope } from "../src/contracts/chat/chat-input.ts";
import { deltaToWire } from "../src/contracts/chat/jsonrpc-delta.ts";
import { taskFromOutput } from "../src/contracts/chat/jsonrpc-task.ts";
import * as contextItem from "../src/contracts/context/context-item.ts";
import * as chatRunControl from "../src/contracts/conversation/chat-run-control.ts";
import * as compactionBoundary from "../src/contracts/conversation/compaction-boundary.ts";
import * as compactionConservation from "../src/contracts/conversation/compaction-conservation.ts";
import * as compactionItem from "../src/contracts/conversation/compaction-item.ts";
import * as compactionPolicy from "../src/contracts/conversation/compaction-policy.ts";
import * as markdownOverflow from "../src/contracts/conversation/markdown-overflow.ts";
import * as markdownSections from "../src/contracts/conversation/markdown-sections.ts";
import * as message from "../src/contracts/conversation/message.ts";
import * as providerTurn from "../src/contracts/conversation/provider-turn.ts";
import * as request from "../src/contracts/conversation/request.ts";
import * as result from "../src/contracts/conversation/result.ts";
import * as runControl from "../src/contracts/conversation/run-control.ts";
import * as runReport from "../src/contracts/conversation/run-control-results.ts";
import * as runOutcome from "../src/contracts/conversation/run-outcome.ts";
import { redactPayload } from "../src/contracts/conversation/run-redaction.ts";
import * as runResult from "../src/contracts/conversation/run-result.ts";
import * as runtimeOverrides from "../src/contracts/conversation/runtime-overrides.ts";
import * as structuredOutput from "../src/contracts/conversation/structured-output.ts";
import * as textToolCalls from "../src/contracts/conversation/text-tool-calls.ts";
import * as toolPairs from "../src/contracts/conversation/tool-pairs.ts";
import * as guideline from "../src/contracts/memory/guideline.ts";
import * as memoryCapabilities from "../src/contracts/memory/memory-capabilities.ts";
import * as memoryLayer from "../src/contracts/memory/memory-layer.ts";
import * as memoryMetadata from "../src/contracts/memory/memory-metadata.ts";
import * as memoryQuery from "../src/contracts/memory/memory-query.ts";
import * as packageRun from "../src/contracts/packages/package-run.ts";
import * as session from "../src/contracts/sessions/session.ts";
import * as sse from "../src/contracts/sse.ts";
import * as actionPolicy from "../src/contracts/tools/action-policy.ts";
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
import * as runtimeToolPolicy from "../src/contracts/tools/runtime-tool-policy.ts";
import { isSensitiveKey } from "../src/contracts/tools/sensitive-keys.ts";
import * as truncation from "../src/contracts/tools/truncation.ts";
import * as accessGrant from "../src/contracts/trust/access-grant.ts";
import * as callerContext from "../src/contracts/trust/caller-context.ts";
import * as capabilityCeiling from "../src/contracts/trust/capability-ceiling.ts";
import * as consent from "../src/contracts/trust/consent.ts";
import { conversationOwner } from "../src/contracts/trust/conversation-owner.ts";
import * as pendingAction from "../src/contracts/trust/pending-action.ts";
import * as principal from "../src/contracts/trust/principal.ts";
import { safeMetadata } from "../src/contracts/trust/safe-principal.ts";
import * as token from "../src/contracts/trust/token.ts";
import * as workspace from "../src/contracts/workspace.ts";
import {
  callAbility,
  dispatchAbility,
  executeAbility,
  gateAbility,
  redactForAbility,
  searchAbilities,
} from "./scripts/abilities.ts";
import {
  askAuthorization,
  askCeiling,
  askDecision,
  askStatus,
  callPendingActionAbility,
  runApprovalMemory,
  runPendingActions,
} from "./scripts/approvals.ts";
import { handleInbound, receiveInbound } from "./scripts/channel-pipeline.ts";
import { runBridge, runIdempotency, runSessionMap } from "./scripts/channels.ts";
import {
  askPermission,
  askRunPermission,
  readContext,
  runChatCalls,
  runDispatch as runChatDispatch,
  runMessage,
  runOwnedChat,
  validateChat,
} from "./scripts/chat.ts";
import { dispatchFrontEnd, dispatchRpc, permitRpc, readFrontEnd, readParams, streamRpc } from "./scripts/chat-doors.ts";
import { runSequence as runChatRunControl } from "./scripts/chat-run-control.ts";
import { runCompaction } from "./scripts/compaction.ts";
import { askPolicy, composeSections, rankTier, registerSection, resolveItems } from "./scripts/context.ts";
import { executeInChat, executeTool } from "./scripts/executor.ts";
import { runBudget, runIdenticalFailure, runSpin } from "./scripts/guards.ts";
import { runLoop } from "./scripts/loop.ts";
import { runGrouping, runReplacement } from "./scripts/markdown-sections.ts";
import {
  applyQuery,
  askScope,
  capabilitiesOf,
  mapGuidelineCapability,
  registerSource,
  resolveSources,
  runMemoryStore,
  validationResult,
} from "./scripts/memory.ts";
import { resultWithEnvelope, runControlSteps, runDispatch, runPackageSequence } from "./scripts/package-runs.ts";
import { gatherTools, resolveAction, resolveTiers, resolveVisibility } from "./scripts/policies.ts";
import { runRetry } from "./scripts/provider-retry.ts";
import { runCalls, runSteps } from "./scripts/run-control.ts";
import { runAbilities } from "./scripts/runtime-tool-abilities.ts";
import { runLifecycle } from "./scripts/runtime-tool-lifecycle.ts";
import {
  normalizeScope,
  runConversationStore,
  runIdentityStore,
  runNullLock,
  runSessionAbilities,
} from "./scripts/sessions.ts";
import {
  askAccess,
  askAccessAbility,
  askAutonomy,
  askCurrentPrincipal,
  askExpiry,
  knowsAuthSource,
  listAccessible,
  listPrincipals,
  makePrincipal,
  readHeaders,
  readOwner,
  runAuthenticator,
} from "./scripts/trust.ts";

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
  "chat.accessScope": (given: Given<"input">) => accessScope(given.input),
  "chat.dispatch": runChatDispatch,
  "chat.permission": askPermission,
  "chatRun.context": readContext,
  "chatRunControl.ownedSequence": runOwnedChat,
  "chatRunControl.permission": askRunPermission,
  "trust/chatRunControl.sequence": runChatCalls,
  "defaultChat.validate": validateChat,
  "dispatchMessage.call": runMessage,
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

  "toolPolicy.resolve": resolveVisibility,
  "actionPolicy.resolve": resolveAction,
  "actionPolicy.normalize": (given: Given<"value" | "fallback">) => actionPolicy.normalize(given.value, given.fallback),
  "runtimeToolPolicy.fromTools": (given: Given<"tools" | "context">) =>
    runtimeToolPolicy.fromTools(given.tools, given.context),
  "toolTiers.resolve": resolveTiers,
  "toolSources.gather": gatherTools,

  "abilityDispatcher.dispatch": dispatchAbility,
  "abilityDispatcher.redactedParameters": redactForAbility,
  "abilityBridge.gate": gateAbility,
  "abilityExecutor.execute": executeAbility,
  "abilityMeta.search": searchAbilities,
  "abilityMeta.call": callAbility,

  "runControl.normalizeCancelResult": (given: Given<"result">) =>
    runReport.normalizeCancelResult(given.result, "err_code"),
  "runControl.normalizeEventsResult": (given: Given<"result">) =>
    runReport.normalizeEventsResult(given.result, "err_code"),
  "runControl.redactPayload": (given: Given<"payload">) => redactPayload(given.payload),
  "runControl.redact": (given: Given<"payload">) => redactPayload(given.payload),
  "runResult.normalize": (given: Given<"value">) => runResult.normalize(given.value),
  "runtimePackage.request": (given: Given<"input">) => packageRun.request(given.input),
  "runtimePackage.result": (given: Given<"value">) => packageRun.result(given.value),
  "runtimePackage.resultEnvelope": (given: Given<"value">) => packageRun.resultEnvelope(given.value),
  "runtimePackage.dispatch": runDispatch,
  "runtimePackage.control": runControlSteps,
  "runtimePackage.normalizeRequest": (given: Given<"input">) => packageRun.request(given.input),
  "runtimePackage.normalizeResult": (given: Given<"value">) => resultWithEnvelope(given.value),
  "runtimePackage.sequence": runPackageSequence,
  "effectiveAgent.resolve": (given: Given<"context">) => effectiveAgent.resolve(given.context),
  "runtimeProfile.resolve": (given: Given<"agent" | "context" | "runtime_overrides" | "profile_providers">) =>
    runtimeProfile.resolve({
      agent: given.agent,
      context: given.context,
      runtimeOverrides: given.runtime_overrides,
      providers: ((given.profile_providers ?? []) as readonly unknown[]).map((profile) => () => profile),
    }),
  "sse.frame": (given: Given<"frame">) => sse.frame(given.frame),

  "pendingAction.fromArray": (given: Given<"action">) => pendingAction.fromArray(given.action),
  "pendingAction.approvalEnvelope": (given: Given<"action" | "instruction" | "grants" | "metadata">) =>
    pendingAction.approvalEnvelope(pendingAction.fromArray(given.action), given),
  "pendingAction.status": askStatus,
  "pendingAction.lifecycle": runPendingActions,
  "pendingActionAbility.call": callPendingActionAbility,
  "approvalDecision.fromString": askDecision,
  "approvalMemory.null": runApprovalMemory,
  "ceiling.fromArray": (given: Given<"ceiling">) => capabilityCeiling.fromArray(given.ceiling),
  "ceiling.intersect": askCeiling,
  "authorization.can": askAuthorization,
  "principal.fromArray": (given: Given<"principal">) => principal.fromArray(given.principal),
  "principal.safeMetadata": (given: Given<"principal">) => safeMetadata(principal.fromArray(given.principal)),
  "principal.conversationOwner": (given: Given<"principal">) => conversationOwner(principal.fromArray(given.principal)),
  "principal.factory": makePrincipal,
  "principal.resolve": (given: Given<"resolver">) => principal.resolve(given.resolver),
  "principal.knownAuthSource": knowsAuthSource,
  "conversationOwner.fromInput": readOwner,
  "callerContext.fromHeaders": readHeaders,
  "callerContext.fromArray": (given: Given<"context">) => callerContext.fromArray(given.context),
  "callerContext.toHeaders": (given: Given<"context">) =>
    callerContext.toHeaders(callerContext.fromArray(given.context)),
  "accessGrant.fromArray": (given: Given<"grant">) => accessGrant.fromArray(given.grant),
  "accessGrant.roleMeets": (given: Given<"role" | "minimum_role">) =>
    accessGrant.roleMeets(given.role, given.minimum_role),
  "token.hash": (given: Given<"raw_token">) => token.hash(given.raw_token),
  "token.fromArray": (given: Given<"token">) => token.toMetadata(token.fromArray(given.token)),
  "token.isExpired": askExpiry,
  "token.capabilityCeiling": (given: Given<"token">) => token.capabilityCeilingOf(token.fromArray(given.token)),
  "authenticator.sequence": runAuthenticator,
  "autonomousPolicy.resolveCeiling": askAutonomy,
  "authorization.canAccessAgent": askAccess,
  "access.currentPrincipal": askCurrentPrincipal,
  "access.principalsFor": listPrincipals,
  "accessAbility.canAccess": askAccessAbility,
  "accessAbility.listAgents": listAccessible,
  "consent.decide": (given: Given<"operation" | "context">) => consent.decide(given.operation, given.context),
  "consent.decision": consent.decision,
  "consent.operationNormalize": (given: Given<"value" | "fallback">) =>
    consent.normalizeOperation(given.value, given.fallback),

  "authorityTier.rank": rankTier,
  "contextItem.normalize": (given: Given<"item">) => contextItem.normalize(given.item),
  "contextConflict.resolve": resolveItems,
  "injectionPolicy.normalize": askPolicy,
  "contextSections.register": registerSection,
  "contextSections.compose": composeSections,
  "memoryLayer.normalize": (given: Given<"layer" | "fallback">) => memoryLayer.normalize(given.layer, given.fallback),
  "memoryRegistry.register": registerSource,
  "memoryRegistry.resolve": resolveSources,
  "memoryScope.key": askScope,
  "memoryMetadata.normalize": (given: Given<"metadata">) => memoryMetadata.normalize(given.metadata),
  "memoryMetadata.withDefaults": (given: Given<"metadata" | "timestamp">) =>
    memoryMetadata.withDefaults(memoryMetadata.normalize(given.metadata), given.timestamp),
  "memoryMetadata.onlyFields": (given: Given<"metadata" | "fields">) =>
    memoryMetadata.onlyFields(memoryMetadata.normalize(given.metadata), given.fields),
  "memoryCapabilities.unsupported": (given: Given<"capabilities" | "requested" | "operation">) =>
    memoryCapabilities.unsupported(capabilitiesOf(given.capabilities), given.requested, given.operation),
  "memoryQuery.filterFields": (given: Given<"query">) => memoryQuery.filterFields(given.query),
  "memoryQuery.apply": applyQuery,
  "memoryValidation.result": validationResult,
  "memoryStore.sequence": runMemoryStore,
  "guidelines.mapCap": mapGuidelineCapability,
  "guidelines.termLabel": (given: Given<"name" | "slug" | "taxonomy">) =>
    guideline.termLabel({ name: given.name, slug: given.slug }, given.taxonomy),
  "externalMessage.normalize": ({ message }: Given<"message">) => externalMessage.normalize(message),
  "externalMessage.clientContext": ({ message, source }: Given<"message" | "source">) =>
    externalMessage.clientContext(message, source),
  "sessionMap.storageKey": sessionMap.storageKey,
  "sessionMap.sequence": runSessionMap,
  "webhookSignature.verify": ({ body, header, secret, options }: Given<"body" | "header" | "secret" | "options">) =>
    webhookSignature.verify(body, header, secret, options),
  "idempotency.sequence": runIdempotency,
  "bridgeClient.fromArray": ({ client }: Given<"client">) => bridgeClient.fromArray(client),
  "bridgeItem.fromArray": ({ item }: Given<"item">) => bridgeItem.fromArray(item),
  "bridge.sequence": runBridge,
  "channel.handle": handleInbound,
  "channel.receive": receiveInbound,
  "jsonrpc.inputFromParams": readParams,
  "jsonrpc.taskFromOutput": ({ output }: Given<"output">) => taskFromOutput(output),
  "jsonrpc.deltaToWire": ({ task_id, delta }: Given<"task_id" | "delta">) => deltaToWire(task_id, delta),
  "jsonrpc.dispatch": dispatchRpc,
  "jsonrpc.stream": streamRpc,
  "jsonrpc.permission": permitRpc,
  "frontendRest.input": readFrontEnd,
  "frontendRest.dispatch": dispatchFrontEnd,
  "conversationStore.sequence": runConversationStore,
  "conversationLock.null": runNullLock,
  "conversationSession.full": ({ session: row }: Given<"session">) => session.full(row),
  "conversationSession.owned": ({ row, workspace: place, owner }: Given<"row" | "workspace" | "owner">) =>
    session.owned(row, place, owner),
  "conversationAbilities.sequence": runSessionAbilities,
  "identityScope.normalize": normalizeScope,
  "identity.materialized": identity.materialized,
  "identityStore.sequence": runIdentityStore,
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
