// Every place where a host listens in or has a say: what is passed there, and what a host may put in its place.
import { isContainer, isMap, type JsonMap, type UnknownMap } from "./json.ts";
import * as actionPolicy from "./tools/action-policy.ts";
import type { RuntimeToolRequest, RuntimeToolResult } from "./tools/runtime-tool.ts";
import type { Principal } from "./trust/principal.ts";
import { type BranchExecutor, isBranchExecutor } from "./workflows/branch-executor.ts";
import type { WorkflowRun } from "./workflows/run-record.ts";
import { isRunRecorder, type RunRecorder } from "./workflows/run-recorder.ts";
import type { WorkflowSpec } from "./workflows/spec.ts";

/** What each event passes to its listeners. */
export type HookEvents = {
  loopEvent: [event: string, payload: JsonMap];
  runtimeToolRequestCreated: [request: RuntimeToolRequest, context: JsonMap];
  runtimeToolResultSubmitted: [request: RuntimeToolRequest, result: RuntimeToolResult, context: JsonMap];
  runtimeToolRequestTimedOut: [request: RuntimeToolRequest, result: RuntimeToolResult, context: JsonMap];
  runtimeToolRequestResumed: [
    request: RuntimeToolRequest,
    result: RuntimeToolResult,
    continued: JsonMap,
    context: JsonMap,
  ];
  providerTurnRetried: [retry: JsonMap];
  /** An ability was permitted and is about to run; its input is redacted, and so it is in the next event. */
  abilityInvoked: [ability: string, input: JsonMap];
  abilityExecuted: [ability: string, input: JsonMap, result: unknown];
  toolCapabilityDenied: [denial: JsonMap];
  runtimePackageRunDispatchFailed: [code: string, input: JsonMap];
  chatDispatchFailed: [reason: string, input: JsonMap];
  dispatchMessageFailed: [reason: string, input: JsonMap];
  workflowRegistered: [spec: WorkflowSpec];
  workflowSaved: [spec: WorkflowSpec];
  workflowEnabled: [spec: WorkflowSpec];
  workflowDisabled: [spec: WorkflowSpec];
  workflowDeleted: [workflowId: string, spec: WorkflowSpec | null];
  workflowScheduleRequested: [spec: WorkflowSpec, trigger: JsonMap];
  /** A run has succeeded or failed. */
  workflowRunCompleted: [run: WorkflowRun, runId: string];
  runWorkflowDispatchFailed: [reason: string, input: JsonMap];
};

/** The value each filter passes through, and what it is told beside it. */
export type HookFilters = {
  toolAuditParameters: {
    value: UnknownMap;
    about: [raw: JsonMap, toolName: string, declaration: UnknownMap | null, context: JsonMap];
  };
  preToolCallDecision: { value: UnknownMap; about: [context: UnknownMap] };
  toolResultDiagnostics: { value: UnknownMap; about: [context: UnknownMap] };

  toolPolicyProviders: { value: readonly unknown[]; about: [context: UnknownMap] };
  /** A map, of which only the names count, or a list of names. */
  resolvedTools: { value: UnknownMap | readonly unknown[]; about: [context: UnknownMap] };
  writeCapableCategories: { value: readonly unknown[]; about: [context: UnknownMap] };
  actionPolicyProviders: { value: readonly unknown[]; about: [context: UnknownMap] };
  approvalMemoryStore: { value: UnknownMap | null; about: [context: UnknownMap] };
  toolActionPolicy: { value: unknown; about: [toolName: string, context: UnknownMap] };
  runtimeToolPolicy: { value: UnknownMap; about: [tools: UnknownMap, context: UnknownMap] };
  toolSources: { value: readonly unknown[]; about: [context: JsonMap] };
  toolSourceOrder: { value: readonly unknown[]; about: [context: JsonMap] };
  toolSourceTools: { value: UnknownMap; about: [slug: string, context: JsonMap] };

  /** Undefined while nobody has answered in the ability's place. */
  preExecuteAbility: { value: unknown; about: [ability: string, input: JsonMap] };
  /** Null lets the ability run; anything else has to be a pending action. */
  abilityPreExecuteDecision: { value: unknown; about: [ability: string, input: JsonMap] };
  pendingActionStore: { value: UnknownMap | null; about: [context: UnknownMap] };

  runtimePackageRunHandler: { value: Handler | null; about: [input: JsonMap] };
  runtimePackageRunStatusHandler: { value: Handler | null; about: [input: JsonMap] };
  runtimePackageRunCancelHandler: { value: Handler | null; about: [input: JsonMap] };
  runtimePackageRunEventsHandler: { value: Handler | null; about: [input: JsonMap] };

  chatHandler: { value: Handler | null; about: [input: JsonMap] };
  chatRunStatusHandler: { value: Handler | null; about: [input: JsonMap] };
  chatRunEventsHandler: { value: Handler | null; about: [input: JsonMap] };
  chatRunCancelHandler: { value: Handler | null; about: [input: JsonMap] };
  chatMessageQueueHandler: { value: Handler | null; about: [input: JsonMap] };
  dispatchMessageHandler: { value: Handler | null; about: [input: JsonMap] };
  chatPermission: { value: boolean; about: [input: JsonMap] };
  /** Asked when a host states who acts: nothing else can allow it. */
  chatRuntimePrincipalPermission: { value: boolean; about: [principal: Principal, input: JsonMap] };
  chatRunReadPermission: { value: boolean; about: [input: JsonMap] };
  chatRunUnredactedReadPermission: { value: boolean; about: [input: JsonMap] };
  chatRunEnqueuePermission: { value: boolean; about: [input: JsonMap] };
  chatRunCancelPermission: { value: boolean; about: [input: JsonMap] };
  /** Asked after each of the four before it, with what was asked for: `read`, `unredacted`, `enqueue` or `cancel`. */
  chatRunControlPermission: { value: boolean; about: [input: JsonMap, kind: string] };
  dispatchMessagePermission: { value: boolean; about: [input: JsonMap] };
  /** What an agent is configured with for one chat. What is no map ends the chat. */
  runtimeAgentConfig: { value: unknown; about: [agent: string, input: JsonMap] };
  /** The server's own say about tools of a chat, by their names. What is no map ends the chat. */
  runtimeToolDeclarations: { value: unknown; about: [agent: string, input: JsonMap] };

  workflowKnownStepTypes: { value: readonly unknown[]; about: [] };
  workflowKnownTriggerTypes: { value: readonly unknown[]; about: [] };
  /** Types of steps and the functions that carry them out. */
  workflowStepHandlers: { value: UnknownMap; about: [] };
  /** Whether a parallel step of a run is carried out; only what is truthy lets it. */
  workflowShouldFanout: { value: unknown; about: [step: JsonMap, context: JsonMap] };
  /** Who carries the branches of a parallel step out; the run itself while it is null. */
  workflowStepExecutor: { value: BranchExecutor | null; about: [step: JsonMap, context: JsonMap] };
  /** Who keeps the records of runs, where the host does not say. */
  workflowRunRecorder: { value: RunRecorder | null; about: [] };
  /** Whether somebody else goes on with a run all of whose branches are in. */
  workflowResumeDispatch: { value: unknown; about: [runId: string, executorId: string, run: WorkflowRun] };
  /** What came of the section under a lock of the host; null where it has none, false when it cannot be had. */
  workflowReconcileLock: { value: unknown; about: [runId: string, section: () => Promise<unknown>] };
  workflowHandler: { value: Handler | null; about: [input: JsonMap] };
  workflowRunStatusHandler: { value: Handler | null; about: [input: JsonMap] };
  workflowRunCancelHandler: { value: Handler | null; about: [input: JsonMap] };
  workflowRunEventsHandler: { value: Handler | null; about: [input: JsonMap] };
  runWorkflowPermission: { value: boolean; about: [input: JsonMap] };
  validateWorkflowPermission: { value: boolean; about: [input: JsonMap] };
  workflowRunReadPermission: { value: boolean; about: [input: JsonMap] };
  workflowRunUnredactedReadPermission: { value: boolean; about: [input: JsonMap] };
  workflowRunCancelPermission: { value: boolean; about: [input: JsonMap] };

  runtimeProfileProviders: { value: readonly unknown[]; about: [context: UnknownMap] };
  resolvedAgentRuntimeProfile: { value: UnknownMap | null; about: [context: UnknownMap] };
};

/** A host's function that does the work of an operation. */
export type Handler = (input: JsonMap) => unknown;

export type EventName = keyof HookEvents;
export type FilterName = keyof HookFilters;

/** The contract's own name of every seam, for those who know it by that name. */
export const contractNames: Readonly<Record<EventName | FilterName, string>> = {
  loopEvent: "agents_api_loop_event",
  runtimeToolRequestCreated: "agents_api_runtime_tool_request_created",
  runtimeToolResultSubmitted: "agents_api_runtime_tool_result_submitted",
  runtimeToolRequestTimedOut: "agents_api_runtime_tool_request_timed_out",
  runtimeToolRequestResumed: "agents_api_runtime_tool_request_resumed",
  providerTurnRetried: "agents_api_provider_turn_retry",
  abilityInvoked: "agents_api_ability_invoked",
  abilityExecuted: "agents_api_ability_executed",
  toolCapabilityDenied: "agents_api_tool_capability_denied",
  runtimePackageRunDispatchFailed: "agents_runtime_package_run_dispatch_failed",
  chatDispatchFailed: "agents_chat_dispatch_failed",
  dispatchMessageFailed: "agents_dispatch_message_failed",
  workflowRegistered: "wp_agent_workflow_registered",
  workflowSaved: "wp_agent_workflow_saved",
  workflowEnabled: "wp_agent_workflow_enabled",
  workflowDisabled: "wp_agent_workflow_disabled",
  workflowDeleted: "wp_agent_workflow_deleted",
  workflowScheduleRequested: "wp_agent_workflow_schedule_requested",
  workflowRunCompleted: "wp_agent_workflow_run_completed",
  runWorkflowDispatchFailed: "agents_run_workflow_dispatch_failed",
  toolAuditParameters: "agents_api_tool_audit_parameters",
  preToolCallDecision: "agents_api_pre_tool_call_decision",
  toolResultDiagnostics: "agents_api_mediated_tool_result_diagnostics",
  toolPolicyProviders: "agents_api_tool_policy_providers",
  resolvedTools: "agents_api_resolved_tools",
  writeCapableCategories: "agents_api_write_capable_categories",
  actionPolicyProviders: "agents_api_action_policy_providers",
  approvalMemoryStore: "agents_api_approval_memory_store",
  toolActionPolicy: "agents_api_tool_action_policy",
  runtimeToolPolicy: "agents_api_runtime_tool_policy",
  toolSources: "agents_api_tool_sources",
  toolSourceOrder: "agents_api_tool_source_order",
  toolSourceTools: "agents_api_tool_source_tools",
  preExecuteAbility: "wp_pre_execute_ability",
  abilityPreExecuteDecision: "agents_api_ability_pre_execute_decision",
  pendingActionStore: "wp_agent_pending_action_store",
  runtimePackageRunHandler: "wp_agent_runtime_package_run_handler",
  runtimePackageRunStatusHandler: "wp_agent_runtime_package_run_status_handler",
  runtimePackageRunCancelHandler: "wp_agent_runtime_package_run_cancel_handler",
  runtimePackageRunEventsHandler: "wp_agent_runtime_package_run_events_handler",
  chatHandler: "wp_agent_chat_handler",
  chatRunStatusHandler: "wp_agent_chat_run_status_handler",
  chatRunEventsHandler: "wp_agent_chat_run_events_handler",
  chatRunCancelHandler: "wp_agent_chat_run_cancel_handler",
  chatMessageQueueHandler: "wp_agent_chat_message_queue_handler",
  dispatchMessageHandler: "wp_agent_dispatch_message_handler",
  chatPermission: "agents_chat_permission",
  chatRuntimePrincipalPermission: "agents_chat_runtime_principal_permission",
  chatRunReadPermission: "agents_chat_run_read_permission",
  chatRunUnredactedReadPermission: "agents_chat_run_unredacted_read_permission",
  chatRunEnqueuePermission: "agents_chat_run_enqueue_permission",
  chatRunCancelPermission: "agents_chat_run_cancel_permission",
  chatRunControlPermission: "agents_chat_run_control_permission",
  dispatchMessagePermission: "agents_dispatch_message_permission",
  runtimeAgentConfig: "agents_api_runtime_agent_config",
  runtimeToolDeclarations: "agents_api_runtime_tool_declarations",
  workflowKnownStepTypes: "wp_agent_workflow_known_step_types",
  workflowKnownTriggerTypes: "wp_agent_workflow_known_trigger_types",
  workflowStepHandlers: "wp_agent_workflow_step_handlers",
  workflowShouldFanout: "wp_agent_workflow_should_fanout",
  workflowStepExecutor: "wp_agent_workflow_step_executor",
  workflowRunRecorder: "wp_agent_workflow_run_recorder",
  workflowResumeDispatch: "wp_agent_workflow_resume_dispatch",
  workflowReconcileLock: "wp_agent_workflow_reconcile_lock",
  workflowHandler: "wp_agent_workflow_handler",
  workflowRunStatusHandler: "wp_agent_workflow_run_status_handler",
  workflowRunCancelHandler: "wp_agent_workflow_run_cancel_handler",
  workflowRunEventsHandler: "wp_agent_workflow_run_events_handler",
  runWorkflowPermission: "agents_run_workflow_permission",
  validateWorkflowPermission: "agents_validate_workflow_permission",
  workflowRunReadPermission: "agents_workflow_run_read_permission",
  workflowRunUnredactedReadPermission: "agents_workflow_run_unredacted_read_permission",
  workflowRunCancelPermission: "agents_workflow_run_cancel_permission",
  runtimeProfileProviders: "agents_api_runtime_profile_providers",
  resolvedAgentRuntimeProfile: "agents_api_resolved_agent_runtime_profile",
};

/** Whether what a filter answered may take the value's place. A store or a handler may be anything that could be one. */
export const isUsable: Readonly<Record<FilterName, (answer: unknown) => boolean>> = {
  toolAuditParameters: isMap,
  preToolCallDecision: isMap,
  toolResultDiagnostics: isMap,
  toolPolicyProviders: Array.isArray,
  resolvedTools: isContainer,
  writeCapableCategories: Array.isArray,
  actionPolicyProviders: Array.isArray,
  approvalMemoryStore: isMap,
  toolActionPolicy: (answer) => actionPolicy.normalize(answer) !== null,
  runtimeToolPolicy: isMap,
  toolSources: Array.isArray,
  toolSourceOrder: Array.isArray,
  toolSourceTools: isMap,
  preExecuteAbility: isGiven,
  abilityPreExecuteDecision: isDecision,
  pendingActionStore: isMap,
  runtimePackageRunHandler: isFunction,
  runtimePackageRunStatusHandler: isFunction,
  runtimePackageRunCancelHandler: isFunction,
  runtimePackageRunEventsHandler: isFunction,
  chatHandler: isFunction,
  chatRunStatusHandler: isFunction,
  chatRunEventsHandler: isFunction,
  chatRunCancelHandler: isFunction,
  chatMessageQueueHandler: isFunction,
  dispatchMessageHandler: isFunction,
  chatPermission: isBoolean,
  chatRuntimePrincipalPermission: isBoolean,
  chatRunReadPermission: isBoolean,
  chatRunUnredactedReadPermission: isBoolean,
  chatRunEnqueuePermission: isBoolean,
  chatRunCancelPermission: isBoolean,
  chatRunControlPermission: isBoolean,
  dispatchMessagePermission: isBoolean,
  runtimeAgentConfig: isGiven,
  runtimeToolDeclarations: isGiven,
  workflowKnownStepTypes: Array.isArray,
  workflowKnownTriggerTypes: Array.isArray,
  workflowStepHandlers: isMap,
  workflowShouldFanout: isGiven,
  workflowStepExecutor: isBranchExecutor,
  workflowRunRecorder: isRunRecorder,
  workflowResumeDispatch: isGiven,
  workflowReconcileLock: isGiven,
  workflowHandler: isFunction,
  workflowRunStatusHandler: isFunction,
  workflowRunCancelHandler: isFunction,
  workflowRunEventsHandler: isFunction,
  runWorkflowPermission: isBoolean,
  validateWorkflowPermission: isBoolean,
  workflowRunReadPermission: isBoolean,
  workflowRunUnredactedReadPermission: isBoolean,
  workflowRunCancelPermission: isBoolean,
  runtimeProfileProviders: Array.isArray,
  resolvedAgentRuntimeProfile: isMap,
};

/**
 * The filters that stand between an agent and an effect. What one of them throws is thrown on, so that whoever asked
 * does not act without its answer; from every other filter an error leaves the value as it was.
 */
export const gates: ReadonlySet<FilterName> = new Set<FilterName>([
  "toolPolicyProviders",
  "resolvedTools",
  "writeCapableCategories",
  "actionPolicyProviders",
  "approvalMemoryStore",
  "toolActionPolicy",
  "preExecuteAbility",
  "abilityPreExecuteDecision",
  "pendingActionStore",
  "chatPermission",
  "chatRuntimePrincipalPermission",
  "chatRunReadPermission",
  "chatRunUnredactedReadPermission",
  "chatRunEnqueuePermission",
  "chatRunCancelPermission",
  "chatRunControlPermission",
  "dispatchMessagePermission",
  "workflowShouldFanout",
  "workflowStepExecutor",
  "workflowReconcileLock",
  "runWorkflowPermission",
  "validateWorkflowPermission",
  "workflowRunReadPermission",
  "workflowRunUnredactedReadPermission",
  "workflowRunCancelPermission",
  "runtimeAgentConfig",
  "runtimeToolDeclarations",
]);

function isGiven(answer: unknown): boolean {
  return answer !== undefined;
}

/** Null says nothing, so that it cannot take back what another has decided. */
function isDecision(answer: unknown): boolean {
  return answer !== undefined && answer !== null;
}

function isBoolean(answer: unknown): boolean {
  return typeof answer === "boolean";
}

function isFunction(answer: unknown): boolean {
  return typeof answer === "function";
}
