// What `holdfast` exports, name by name.
export { metaAbilities } from "./abilities/ability-meta.ts";
export * as packageRuns from "./abilities/package-runs.ts";
export { getWorkflow, registerWorkflow, registerWorkflowHandler } from "./agents-api/workflows/register-workflow.ts";
export type { Audit, SignedCheckpoint } from "./audit/audit.ts";
export {
  type Channel,
  type ChannelOptions,
  channel,
  type Extracted,
  type InboundMessage,
  type OutboundMessage,
  type Send,
  type SendOutcome as ChannelSendOutcome,
} from "./channels/channel.ts";
export type { ChannelRequest } from "./channels/channel-request.ts";
export type { Accepted as ChannelAccepted, Channels } from "./channels/channels.ts";
export { isRecent as isRecentTimestamp } from "./channels/verify-secret.ts";
export { type WebhookChannelOptions, webhookChannel } from "./channels/webhook-channel.ts";
export {
  type Abilities,
  type Ability,
  type AbilityOptions,
  type AbilityRegistry,
  createAbilities,
} from "./contracts/abilities/ability.ts";
export { dispatch as dispatchAbility } from "./contracts/abilities/dispatcher.ts";
export { resolve as resolveEffectiveAgent } from "./contracts/agents/effective-agent.ts";
export { type RuntimeProfile, resolve as resolveRuntimeProfile } from "./contracts/agents/runtime-profile.ts";
export type { AuditExport } from "./contracts/audit/audit-export.ts";
export { type AuditVerdict, type Broken, verifyAudit } from "./contracts/audit/verify-audit.ts";
export type { Bridge, BridgeMessage, BridgeReceipt } from "./contracts/channels/bridge.ts";
export { verify as verifyWebhookSignature } from "./contracts/channels/webhook-signature.ts";
export { createMemoryChatRunControl } from "./contracts/conversation/chat-run-control.ts";
export type { Summarizer } from "./contracts/conversation/compaction.ts";
export * as compactionItem from "./contracts/conversation/compaction-item.ts";
export { type MarkdownSplit, splitForOverflow } from "./contracts/conversation/markdown-overflow.ts";
export * as markdownSections from "./contracts/conversation/markdown-sections.ts";
export type { Message } from "./contracts/conversation/message.ts";
export * as message from "./contracts/conversation/message.ts";
export type { ProviderTurnRequest } from "./contracts/conversation/provider-turn.ts";
export type { ConversationRequest } from "./contracts/conversation/request.ts";
export type { ConversationResult } from "./contracts/conversation/result.ts";
export {
  createMemoryRunStore,
  type Run,
  type RunControl,
  type RunOwner,
  type RunStatus,
} from "./contracts/conversation/run-control.ts";
export type { RunOutcome } from "./contracts/conversation/run-outcome.ts";
export { type ErrorCode, HoldfastError } from "./contracts/error.ts";
export type { PluginRequest } from "./contracts/gateway/protocol/request.ts";
export { createHooks, type Hooks } from "./contracts/hooks.ts";
export type { Json, JsonMap } from "./contracts/json.ts";
export * as memoryValidation from "./contracts/memory/memory-validator.ts";
export { isOperationError, type OperationError, operationError } from "./contracts/operation-error.ts";
export type { HookEvents, HookFilters } from "./contracts/seams.ts";
export type { Session, SessionSummary } from "./contracts/sessions/session.ts";
export * as sse from "./contracts/sse.ts";
export type { ActionPolicy, ActionPolicyProvider } from "./contracts/tools/action-policy.ts";
export type { ToolCall } from "./contracts/tools/call.ts";
export type { Authorize } from "./contracts/tools/capability-guard.ts";
export { chatExecutor } from "./contracts/tools/chat-executor.ts";
export type { ToolDeclaration, ToolMap } from "./contracts/tools/declaration.ts";
export type { ToolExecutor } from "./contracts/tools/execution.ts";
export type { ToolResult } from "./contracts/tools/result.ts";
export type { RuntimeToolRequest, RuntimeToolResult } from "./contracts/tools/runtime-tool.ts";
export {
  type Continuation,
  type RuntimeToolSubmission,
  submitResult,
  timeoutRequest,
} from "./contracts/tools/runtime-tool-lifecycle.ts";
export * as runtimeToolPolicy from "./contracts/tools/runtime-tool-policy.ts";
export {
  createMemoryRuntimeToolStore,
  type PendingQuery,
  type RuntimeToolStore,
} from "./contracts/tools/runtime-tool-store.ts";
export { createToolSources, type ToolSource, type ToolSources } from "./contracts/tools/sources.ts";
export { resolve as resolveToolTiers, type ToolTiers } from "./contracts/tools/tiers.ts";
export { resolve as resolveVisibleTools, type ToolPolicyProvider } from "./contracts/tools/visibility.ts";
export type { AccessGrant, AgentRole } from "./contracts/trust/access-grant.ts";
export {
  type ApprovalKey,
  type ApprovalMemory,
  createMemoryApprovalMemory,
} from "./contracts/trust/approval-memory.ts";
export type { ApproverRule, CanDecide } from "./contracts/trust/approver-rule.ts";
export type { HoldsCapability } from "./contracts/trust/authorization.ts";
export type { CallerContext } from "./contracts/trust/caller-context.ts";
export type { CapabilityCeiling } from "./contracts/trust/capability-ceiling.ts";
export type { ConsentDecision, ConsentOperation, ConsentPolicy } from "./contracts/trust/consent.ts";
export type { ConversationOwner } from "./contracts/trust/conversation-owner.ts";
export type { PendingAction } from "./contracts/trust/pending-action.ts";
export * as pendingAction from "./contracts/trust/pending-action.ts";
export {
  createMemoryPendingActionStore,
  type PendingActionFilters,
  type PendingActionResolution,
  type PendingActionStore,
  type PendingActionSummary,
} from "./contracts/trust/pending-action-store.ts";
export type { Principal } from "./contracts/trust/principal.ts";
export * as principal from "./contracts/trust/principal.ts";
export type { BearerRequest } from "./contracts/trust/token-authenticator.ts";
export {
  type CheckOptions as WorkflowCheckOptions,
  checkWorkflow,
  type WorkflowCheck,
} from "./contracts/workflows/check-workflow.ts";
export type { WorkflowRun } from "./contracts/workflows/run-record.ts";
export type { WorkflowSpec } from "./contracts/workflows/spec.ts";
export type { Workspace } from "./contracts/workspace.ts";
export type {
  CatalogueTool,
  FrameAnswer,
  FrameInput,
  PlanAnswer,
  PlanInput,
  Planner,
  PlannerOptions,
  ReflectAnswer,
  ReflectInput,
} from "./gateway/agent/planner/planner.ts";
export { type CheckOptions, checkGateway, type GatewayCheck } from "./gateway/dispatch/check-gateway.ts";
export type { GatewayLogLine, GatewaySetup } from "./gateway/dispatch/set-up.ts";
export type {
  AgentRunView,
  Gateway,
  GatewayStatus,
  JobView,
  JobWithPayload,
  PipelineResult,
  Submitter,
} from "./gateway/gateway.ts";
export {
  type CommandAnswer as PluginCommandAnswer,
  gatewayPlugin,
  type InProcessPluginDefinition as GatewayPluginDefinition,
} from "./gateway/plugins/in-process-plugin.ts";
export type { BuiltInPlugin as GatewayPlugin } from "./gateway/plugins/resolve-plugins.ts";
export { createHoldfast, type Holdfast, type HoldfastOptions, type TrustOptions } from "./holdfast.ts";
export type { MediationDecision } from "./loop/decision.ts";
export type { CompletionContext, CompletionDecision, MediationContext } from "./loop/next.ts";
export type { BudgetInput, ProviderTurnAdapter, RunOptions, TurnRunner } from "./loop/options.ts";
export { runConversation } from "./loop/run-conversation.ts";
export {
  nullTranscriptLock,
  nullTranscriptPersister,
  type TranscriptLock,
  type TranscriptPersister,
} from "./loop/transcript.ts";
export { type ContextSectionOptions, contextSection } from "./memory/context-section.ts";
export { memoryValidator } from "./memory/define-validator.ts";
export type { GuidelineInput, GuidelineList, GuidelineOutcome, Guidelines } from "./memory/guidelines.ts";
export type { MemoryOptions } from "./memory/memory.ts";
export { type MemorySourceOptions, memorySource } from "./memory/memory-source.ts";
export { type MemoryOwner, memoryScope } from "./memory/scope-of-layer.ts";
export type { SourceContext } from "./memory/source-context.ts";
export type { Model, ModelAnswer, ModelCall, ModelDelta, ModelOptions } from "./models/model.ts";
export type { AiSdkModel, ModelChoice, ModelChoices, ModelEntry, ModelSource, Price } from "./models/model-choice.ts";
export { ModelFailure, type ModelFailureCode } from "./models/model-failure.ts";
export type { ProviderAnswer } from "./models/provider-answer.ts";
export type { ProviderCall } from "./models/provider-call.ts";
export {
  createProviderTurnAdapter,
  type Dispatch,
  type ProviderTurnAdapterOptions,
} from "./models/provider-turn-adapter.ts";
export { type Agent, type AgentDefinition, agent, type StandardAgentDefinition } from "./threads/agent.ts";
export type { Caps } from "./threads/caps.ts";
export { type EscalationOptions, escalation } from "./threads/consent/escalation.ts";
export type { Sessions, Share, ShareOptions } from "./threads/consent/sessions.ts";
export { type PromptDefinition, prompt } from "./threads/definitions/define-prompt.ts";
export { type EffectDefinition, type EffectInput, effect } from "./threads/definitions/effect.ts";
export {
  type Endpoint,
  type EndpointAuth,
  type EndpointHandler,
  endpoint,
} from "./threads/definitions/endpoint.ts";
export { type HookCalls, type HookDefinition, type HookName, hook } from "./threads/definitions/hook.ts";
export { type LoadedDefinitions, loadAgents } from "./threads/definitions/load-folder.ts";
export { type ModelCapabilities, type ModelDefinition, type ModelInput, model } from "./threads/definitions/model.ts";
export type { Prompt, PromptPart } from "./threads/definitions/prompt.ts";
export type { DefinitionProblem, Definitions } from "./threads/definitions/registry.ts";
export type { SubagentInput } from "./threads/definitions/relationship.ts";
export type { SideInput } from "./threads/definitions/side.ts";
export type { ToolEntryInput } from "./threads/definitions/tool-entry.ts";
export type { VariableInput } from "./threads/definitions/variable.ts";
export type { Diagnosis, Finding, Findings } from "./threads/diagnose.ts";
export { firstBrokenEvent, type ThreadExport } from "./threads/export.ts";
export type { Budget, Budgets, Drawn } from "./threads/funds/budgets.ts";
export type { Limits } from "./threads/funds/limits.ts";
export type { HousekeepingOptions, Retention } from "./threads/housekeeping.ts";
export type { AllowedTool, McpToolsOptions } from "./threads/mcp/mcp-options.ts";
export { type McpTools, mcpTools } from "./threads/mcp/mcp-tools.ts";
export type { ContextPiece, StepContext } from "./threads/memory/context-view.ts";
export { type MemoryToolsOptions, memoryTools } from "./threads/memory/memory-tools.ts";
export type { Metrics } from "./threads/metrics.ts";
export type { Answer, Request, Requests, SubmitOptions, Submitted } from "./threads/requests/requests.ts";
export type { StreamOptions } from "./threads/stream/read-stream.ts";
export type { StreamEvent } from "./threads/stream/stream.ts";
export type { Consent, SubjectOptions } from "./threads/subject.ts";
export type { Switch, Switches, SwitchSetting } from "./threads/switches.ts";
export type { Sending, SendOutcome, ThreadHandle, ThreadMessage } from "./threads/thread.ts";
export {
  type MessageInput,
  type Reconciled,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  tool,
} from "./threads/tool.ts";
export type { ActionDecision, ActionHandler, ActionObserver } from "./trust/action-handler.ts";
export type { RememberedDecision, RememberedFilter, StoredApprovalMemory } from "./trust/approval-memory.ts";
export type { GrantOptions, Grants } from "./trust/grants.ts";
export type { ActionSettlement, PendingActions } from "./trust/pending-actions.ts";
export type { IssuedToken, TokenOptions, Tokens } from "./trust/tokens.ts";
export { branch, type Case, type Condition, when } from "./workflows/builder/branch.ts";
export { askAgent, operation, run, sleep } from "./workflows/builder/call-steps.ts";
export { type ForeachOptions, foreach } from "./workflows/builder/foreach.ts";
export { type NestedOptions, nested } from "./workflows/builder/nested.ts";
export { type ParallelDefinition, parallel } from "./workflows/builder/parallel.ts";
export type { Reference } from "./workflows/builder/reference.ts";
export type { Step } from "./workflows/builder/step.ts";
export type { Steps } from "./workflows/builder/step-list.ts";
export { stepOf } from "./workflows/builder/step-of.ts";
export type { RetryOptions, StepOptions } from "./workflows/builder/step-options.ts";
export type { Expression } from "./workflows/builder/values.ts";
export {
  type Approval,
  type ApprovalOptions,
  type EventOptions,
  type RequestOptions as WaitRequestOptions,
  waitForApproval,
  waitForEvent,
  waitForRequest,
} from "./workflows/builder/wait-steps.ts";
export { type NewWorkflow, type Workflow, type WorkflowAbout, workflow } from "./workflows/builder/workflow.ts";
export type { RerunOptions } from "./workflows/durable/rerun.ts";
export type { RetryOptions as RetryRunOptions } from "./workflows/durable/retry-run.ts";
export type { RunEvent as WorkflowRunEvent } from "./workflows/durable/run-events.ts";
export type { RunHandle as WorkflowRunHandle, SendEventOptions } from "./workflows/durable/run-handle.ts";
export type { StartOptions as StartWorkflowOptions } from "./workflows/durable/start-run.ts";
export type { RunsQuery as WorkflowRunsQuery, WorkflowsRuntime } from "./workflows/durable/workflows.ts";
export {
  type LoadedWorkflow,
  type LoadedWorkflows,
  type LoadOptions as WorkflowLoadOptions,
  loadWorkflows,
  readWorkflowFile,
} from "./workflows/files/load-workflows.ts";
export type { WorkflowProblem } from "./workflows/files/read-file.ts";
export { type RunOptions as WorkflowRunOptions, runWorkflow } from "./workflows/in-memory/run-workflow.ts";
export type { WorkflowHost } from "./workflows/in-memory/workflow-host.ts";
export type { BuiltWorkflow } from "./workflows/steps/built-workflow.ts";
export type { OperationCall, Operations } from "./workflows/steps/operations.ts";
export type { StepFunction, StepFunctionDefinition } from "./workflows/steps/step-functions.ts";
export { type StepType, type StepTypeDefinition, stepType } from "./workflows/steps/step-type.ts";
export type { StepFunctionContext, StepReconcileRequest } from "./workflows/steps/step-work.ts";
