// Tools: how they are declared, allowed and called, abilities among them.
import * as actionPolicy from "../../src/contracts/tools/action-policy.ts";
import * as toolAudit from "../../src/contracts/tools/audit.ts";
import * as bindings from "../../src/contracts/tools/bindings.ts";
import * as toolCall from "../../src/contracts/tools/call.ts";
import * as toolCallGate from "../../src/contracts/tools/call-gate.ts";
import * as citations from "../../src/contracts/tools/citations.ts";
import * as toolDeclaration from "../../src/contracts/tools/declaration.ts";
import * as toolCore from "../../src/contracts/tools/execution.ts";
import * as exposure from "../../src/contracts/tools/exposure.ts";
import * as toolParameters from "../../src/contracts/tools/parameters.ts";
import * as toolResult from "../../src/contracts/tools/result.ts";
import * as runtimeMetadata from "../../src/contracts/tools/runtime-metadata.ts";
import * as runtimeTool from "../../src/contracts/tools/runtime-tool.ts";
import * as runtimeToolPolicy from "../../src/contracts/tools/runtime-tool-policy.ts";
import { isSensitiveKey } from "../../src/contracts/tools/sensitive-keys.ts";
import * as truncation from "../../src/contracts/tools/truncation.ts";
import {
  callAbility,
  dispatchAbility,
  executeAbility,
  gateAbility,
  redactForAbility,
  searchAbilities,
} from "../scripts/abilities.ts";
import { executeInChat, executeTool } from "../scripts/executor.ts";
import { gatherTools, resolveAction, resolveTiers, resolveVisibility } from "../scripts/policies.ts";
import { runAbilities } from "../scripts/runtime-tool-abilities.ts";
import { runLifecycle } from "../scripts/runtime-tool-lifecycle.ts";
import type { Given } from "./given.ts";

export const toolOperations = {
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
};

type Definition = "tool_definition";
