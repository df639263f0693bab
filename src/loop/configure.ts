// From options to what the machine needs: every value read once, unusable ones left out.
import { trimmed, wholeNumber } from "../contracts/coerce.ts";
import * as budget from "../contracts/conversation/budget.ts";
import { normalizePolicy } from "../contracts/conversation/compaction-policy.ts";
import type { Message } from "../contracts/conversation/message.ts";
import * as conversationRequest from "../contracts/conversation/request.ts";
import * as runtimeOverrides from "../contracts/conversation/runtime-overrides.ts";
import * as structuredOutput from "../contracts/conversation/structured-output.ts";
import { holdfastError } from "../contracts/error.ts";
import { emptyMap, isMap, type JsonMap, seal, snapshotMap } from "../contracts/json.ts";
import * as actionPolicy from "../contracts/tools/action-policy.ts";
import * as callGate from "../contracts/tools/call-gate.ts";
import { canonicalName, type ToolMap } from "../contracts/tools/declaration.ts";
import * as identicalFailure from "../contracts/tools/identical-failure.ts";
import * as spin from "../contracts/tools/spin.ts";
import * as truncation from "../contracts/tools/truncation.ts";
import { checkOptions, checkPolicies } from "./check-options.ts";
import type { Asked, Config } from "./config.ts";
import type { RunOptions } from "./options.ts";
import { asksForPolicy, narrowsTools } from "./policies.ts";
import { type RejectedDeclaration, readDeclarations } from "./read-declarations.ts";

/** A run that is ready to begin. */
export type ConfiguredRun = {
  readonly config: Config;
  readonly messages: readonly Message[];
  readonly request: conversationRequest.ConversationRequest;
  readonly structuredOutput: structuredOutput.StructuredOutputRequest | undefined;
  readonly rejected: readonly RejectedDeclaration[];
  readonly runId: string;
  readonly sessionId: string;
};

/** Reads messages and options. Throws the code of the part that cannot be used, before anything has happened. */
export function configure(messages: unknown, options: RunOptions): ConfiguredRun {
  checkOptions(options);
  const { accepted: tools, rejected } = readDeclarations(options);
  const output = readStructuredOutput(options, tools);
  const overrides = runtimeOverrides.normalize(options.runtimeOverrides);
  const context = readContext(options, runtimeOverrides.intoContext(overrides));
  checkPolicies(context);
  const maxTurns = readMaxTurns(options.maxTurns, overrides.max_iterations);
  const built = conversationRequest.normalize({
    messages,
    tools: Object.values(tools),
    principal: context.principal,
    runtime_context: context,
    metadata: options.metadata,
    max_turns: maxTurns,
    workspace: options.workspace,
    runtime_overrides: options.runtimeOverrides,
  });
  const request = isMap(options.request?.metadata) ? options.request : built;
  const { metadata } = request;
  const runId = trimmed(options.runId) ?? trimmed(metadata.run_id) ?? trimmed(metadata.chat_run_id) ?? "";
  return {
    config: readConfig(options, { tools, context, maxTurns, runId }),
    messages: built.messages,
    request,
    structuredOutput: output,
    rejected,
    runId,
    sessionId: trimmed(options.sessionId) ?? sessionOf(metadata),
  };
}

type Read = { readonly tools: ToolMap; readonly context: JsonMap; readonly maxTurns: number; readonly runId: string };

function readConfig(options: RunOptions, { tools, context, maxTurns, runId }: Read): Config {
  const budgets = budget.normalizeMany(options.budgets);
  const mediates = canRunTools(options) && Object.keys(tools).length > 0;
  const compacts = isMap(options.compactionPolicy) && typeof options.summarizer === "function";
  return {
    // A run id may come back, and is no secret: what a run proposes must not be taken for another run's.
    key: trimmed(options.newId?.()) ?? crypto.randomUUID(),
    salt: "",
    maxTurns,
    context,
    policesCalls: actionPolicy.isConfigured(context),
    policyContext: readPolicyContext(options, context, runId),
    budgets: { turns: budget.create({ name: "turns", ceiling: maxTurns }), ...budgets },
    countsCalls: Object.keys(budgets).some((name) => name.startsWith("tool_calls")),
    explicitTurns: Object.hasOwn(budgets, "turns"),
    tools,
    offered: null,
    executorTargets: Object.entries(options.namedToolExecutors ?? {}).flatMap(([target, executor]) =>
      typeof executor === "function" ? [target] : [],
    ),
    mediates,
    callRules: callGate.normalizeRules(options.toolCallRules, (name) => canonicalName(name, tools)),
    compaction: compacts ? normalizePolicy(options.compactionPolicy) : null,
    archives: typeof options.overflowArchive === "function",
    spinThreshold: options.spinDetector ? spin.normalizeThreshold(options.spinDetector.threshold) : null,
    failureThreshold: options.identicalFailureTracker
      ? identicalFailure.normalizeThreshold(options.identicalFailureTracker.threshold)
      : null,
    truncateBytes: options.toolResultTruncator
      ? truncation.normalizeLimit(options.toolResultTruncator.max_bytes)
      : null,
    storesRequests: options.runtimeToolStore != null,
    storesActions: options.pendingActionStore != null || (options.hooks?.has("pendingActionStore") ?? false),
    asked: readAsked(options, { tools, context, maxTurns, runId }),
    rules: { waiting: "end", rest: "drop", undeclared: "show", inbox: false, clock: "turn", priorResults: "run" },
    funds: null,
    sides: null,
    frame: null,
    prompts: [],
  };
}

/** True when there is somebody to run the calls that the model makes. */
export function canRunTools({ abilities, toolExecutor }: RunOptions): boolean {
  return typeof toolExecutor === "function" || abilities != null;
}

function readAsked(options: RunOptions, { tools, context, runId }: Read): Asked {
  const { hooks, shouldContinue } = options;
  return {
    cancellation: runId !== "" && options.runControl !== undefined,
    visibility: narrowsTools(options, context, tools),
    actionPolicy: asksForPolicy(options),
    auditFilter: hooks?.has("toolAuditParameters") ?? false,
    mediator: typeof options.preToolMediator === "function",
    decisionFilter: hooks?.has("preToolCallDecision") ?? false,
    diagnostics:
      typeof options.postToolResultDiagnostics === "function" || (hooks?.has("toolResultDiagnostics") ?? false),
    completion: typeof options.completionPolicy === "function",
    interrupt: typeof options.interruptSource === "function",
    output: false,
    continuation: typeof shouldContinue === "function" ? "ask" : shouldContinue === undefined ? "default" : "never",
  };
}

function readStructuredOutput(options: RunOptions, tools: ToolMap) {
  if (options.structuredOutput === undefined || options.structuredOutput === null) return undefined;
  const request = structuredOutput.request(options.structuredOutput);
  const conflict =
    Object.keys(tools).length > 0 ? "tools" : options.onProviderDelta !== undefined ? "a stream of deltas" : undefined;
  if (conflict === undefined) return request;
  throw holdfastError(
    "invalid_agent_structured_output_request",
    `structured_output cannot be combined with ${conflict}.`,
  );
}

function readContext(options: RunOptions, overrides: JsonMap): JsonMap {
  const given: JsonMap = {
    ...snapshotMap(options.context),
    ...overrides,
    ...(isMap(options.toolPolicy) && { tool_policy: snapshotMap(options.toolPolicy) }),
    ...(isMap(options.actionPolicy) && { action_policy: snapshotMap(options.actionPolicy) }),
  };
  if (given.principal !== undefined || !isMap(options.principal)) return seal(given);
  return seal({ ...given, principal: snapshotMap(options.principal) });
}

/** For whom and where the run acts, in the names by which policies ask. */
function readPolicyContext({ workspace }: RunOptions, { principal }: JsonMap, run_id: string): JsonMap {
  const { acting_user_id, effective_agent_id } = isMap(principal) ? principal : emptyMap;
  return snapshotMap({
    ...(run_id !== "" && { run_id }),
    ...(isMap(workspace) && { workspace }),
    ...(typeof acting_user_id === "number" && { acting_user_id }),
    ...(typeof effective_agent_id === "string" && { agent_slug: effective_agent_id }),
  });
}

function readMaxTurns(given: unknown, ceiling: number | null): number {
  const asked = wholeNumber(given, 1);
  return Math.max(1, Math.min(asked ?? ceiling ?? 1, ceiling ?? Number.MAX_SAFE_INTEGER));
}

function sessionOf(metadata: JsonMap): string {
  const { transcript_session_id, session_id, transcript_id } = metadata;
  return trimmed(transcript_session_id) ?? trimmed(session_id) ?? trimmed(transcript_id) ?? "";
}
