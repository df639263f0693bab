// What a caller may pass to a conversation.
import type { Abilities } from "../contracts/abilities/ability.ts";
import type { Budget } from "../contracts/conversation/budget.ts";
import type { Summarizer } from "../contracts/conversation/compaction.ts";
import type { Message } from "../contracts/conversation/message.ts";
import type { ProviderTurnRequest } from "../contracts/conversation/provider-turn.ts";
import type { ConversationRequest } from "../contracts/conversation/request.ts";
import type { RunControl } from "../contracts/conversation/run-control.ts";
import type { Hooks } from "../contracts/hooks.ts";
import type { Json, JsonMap, UnknownMap } from "../contracts/json.ts";
import type { ActionPolicyProvider } from "../contracts/tools/action-policy.ts";
import type { Authorize } from "../contracts/tools/capability-guard.ts";
import type { ToolDeclaration, ToolMap } from "../contracts/tools/declaration.ts";
import type { ToolExecutor } from "../contracts/tools/execution.ts";
import type { RuntimeToolStore } from "../contracts/tools/runtime-tool-store.ts";
import type { ToolPolicyProvider } from "../contracts/tools/visibility.ts";
import type { ApprovalMemory } from "../contracts/trust/approval-memory.ts";
import type { HoldsCapability } from "../contracts/trust/authorization.ts";
import type { PendingActionStore } from "../contracts/trust/pending-action-store.ts";
import type { MediationDecision } from "./decision.ts";
import type { CompletionContext, CompletionDecision, MediationContext } from "./next.ts";
import type { TranscriptLock, TranscriptPersister } from "./transcript.ts";

/** Asks the model once and returns its answer: content, tool calls, usage; or a transcript it manages itself. */
export type TurnRunner = (
  messages: Message[],
  context: JsonMap,
  options: {
    /** The tools that the model may call in this turn, by name. */
    readonly tools: ToolMap;
    readonly signal?: AbortSignal;
    /** The longest answer that is still paid for, in tokens. */
    readonly maxOutputTokens?: number;
  },
) => unknown;

/** Asks a provider once; what it returns is read as a provider turn result. */
export type ProviderTurnAdapter = (
  request: ProviderTurnRequest,
  options: { readonly onDelta?: (delta: unknown) => void; readonly signal?: AbortSignal },
) => unknown;

/** A budget as a caller writes it. */
export type BudgetInput = Pick<Budget, "name" | "ceiling"> & { readonly current?: number };

type Awaitable<Value> = Value | PromiseLike<Value>;

/** Every callback may be synchronous or asynchronous. */
export type RunOptions = {
  /** Most turns of a run; 1 unless given. An explicit `turns` budget replaces it. */
  readonly maxTurns?: number;
  readonly context?: UnknownMap;
  readonly budgets?: readonly BudgetInput[];
  /** Whether another turn follows. Absent: while the model calls tools. Null: never. */
  readonly shouldContinue?: ((result: JsonMap, context: JsonMap) => unknown) | null;

  readonly compactionPolicy?: UnknownMap;
  readonly summarizer?: Summarizer;
  /** Keeps what the overflow archive takes out of the transcript; when it fails, nothing is taken out. */
  readonly overflowArchive?: (items: readonly Json[], details: JsonMap) => unknown;

  readonly toolExecutor?: ToolExecutor;
  /** Executors for declarations whose runtime names an `executor_target`. */
  readonly namedToolExecutors?: Readonly<Record<string, ToolExecutor>>;
  readonly toolDeclarations?: UnknownMap | readonly unknown[];
  /** Runs the tools whose declaration names an ability, and all of the host's when there is no tool executor. */
  readonly abilities?: Abilities;
  /** Which user holds the capability that a tool requires; nobody does unless given. */
  readonly holdsCapability?: HoldsCapability;
  /** Decides about required capabilities in place of ceilings and users. */
  readonly authorize?: Authorize;

  /** What this run says about the tools that the model sees: a fragment of policy beside the agent's own. */
  readonly toolPolicy?: UnknownMap;
  readonly toolPolicyProviders?: readonly ToolPolicyProvider[];
  /** Asked for every tool; one that is not affirmed is not seen. */
  readonly toolAccessChecker?: (name: string, declaration: ToolDeclaration, context: JsonMap) => unknown;
  /** Hides tools that write from callers that act on nobody's behalf. */
  readonly hidesWriteTools?: boolean;
  /** What this run says about how tools may run, in place of what the agent says. */
  readonly actionPolicy?: UnknownMap;
  readonly actionPolicyProviders?: readonly ActionPolicyProvider[];
  readonly approvalMemory?: ApprovalMemory;
  /** Keeps what the loop proposes for approval. */
  readonly pendingActionStore?: PendingActionStore;

  readonly toolCallRules?: readonly unknown[];
  readonly preToolMediator?: (context: MediationContext) => Awaitable<MediationDecision | null | undefined>;
  readonly postToolResultDiagnostics?: (about: UnknownMap) => unknown;
  readonly completionPolicy?: (context: CompletionContext) => Awaitable<CompletionDecision | null | undefined>;
  readonly spinDetector?: { readonly threshold?: number };
  readonly identicalFailureTracker?: { readonly threshold?: number };
  readonly toolResultTruncator?: { readonly max_bytes?: number };
  readonly runtimeToolStore?: RuntimeToolStore;

  readonly interruptSource?: (request: ConversationRequest, context: JsonMap) => unknown;
  readonly transcriptPersister?: TranscriptPersister;
  readonly transcriptLock?: TranscriptLock;
  /** Seconds after which others may take the lock over; 300 unless given. */
  readonly transcriptLockTtl?: number;
  readonly sessionId?: string;
  readonly runId?: string;
  readonly runControl?: RunControl;

  readonly providerTurnAdapter?: ProviderTurnAdapter;
  readonly onProviderDelta?: (delta: unknown) => void;
  readonly structuredOutput?: unknown;
  readonly model?: UnknownMap;
  readonly runtime?: UnknownMap;

  /** The request as the persister and the interrupt source should see it; built from the other options unless given. */
  readonly request?: ConversationRequest;
  readonly metadata?: UnknownMap;
  readonly principal?: UnknownMap;
  readonly workspace?: UnknownMap;
  readonly runtimeOverrides?: UnknownMap;

  readonly onEvent?: (event: string, payload: JsonMap) => unknown;
  readonly hooks?: Hooks;
  /** Stops the run: what is under way is let go, and the result says `interrupted`. */
  readonly signal?: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Tells a run without a run id from every other; random unless given. */
  readonly newId?: () => string;
};
