// What a caller may pass to a conversation.
import type { Budget } from "../contracts/conversation/budget.ts";
import type { Summarizer } from "../contracts/conversation/compaction.ts";
import type { Message } from "../contracts/conversation/message.ts";
import type { ProviderTurnRequest } from "../contracts/conversation/provider-turn.ts";
import type { ConversationRequest } from "../contracts/conversation/request.ts";
import type { RunControl } from "../contracts/conversation/run-control.ts";
import type { Hooks } from "../contracts/hooks.ts";
import type { Json, JsonMap, UnknownMap } from "../contracts/json.ts";
import type { ToolExecutor } from "../contracts/tools/execution.ts";
import type { RuntimeToolStore } from "../contracts/tools/runtime-tool-store.ts";
import type { MediationDecision } from "./decision.ts";
import type { CompletionContext, CompletionDecision, MediationContext } from "./next.ts";
import type { TranscriptLock, TranscriptPersister } from "./transcript.ts";

/** Asks the model once and returns its answer: content, tool calls, usage; or a transcript it manages itself. */
export type TurnRunner = (messages: Message[], context: JsonMap, options: { readonly signal?: AbortSignal }) => unknown;

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
};
