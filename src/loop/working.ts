// What a driver holds in memory while the machine runs: the configuration and the content that records point to. It is
// changed only by `absorb`, so that a driver which stored the bodies can build it again.
import type { Budget } from "../contracts/conversation/budget.ts";
import type { CompactionPolicy } from "../contracts/conversation/compaction-policy.ts";
import type { Message } from "../contracts/conversation/message.ts";
import type { JsonMap } from "../contracts/json.ts";
import { emptyMap, seal, snapshot } from "../contracts/json.ts";
import type { ActionPolicy } from "../contracts/tools/action-policy.ts";
import type { CallRule } from "../contracts/tools/call-gate.ts";
import type { ToolDeclaration, ToolMap } from "../contracts/tools/declaration.ts";
import type { Prepared } from "../contracts/tools/execution.ts";
import type { Exposure } from "../contracts/tools/exposure.ts";
import type { ToolResult } from "../contracts/tools/result.ts";
import type { Decision } from "./decision.ts";

/** The callbacks that exist; the machine asks only those. */
export type Asked = {
  readonly cancellation: boolean;
  /** Which tools the model sees; otherwise it sees them all. */
  readonly visibility: boolean;
  readonly auditFilter: boolean;
  /** How a call may run; otherwise that follows from the context and the declaration alone. */
  readonly actionPolicy: boolean;
  readonly mediator: boolean;
  readonly decisionFilter: boolean;
  readonly diagnostics: boolean;
  readonly completion: boolean;
  readonly interrupt: boolean;
  /** Whether the last words are what was asked for. */
  readonly output: boolean;
  /** `default`: while there are tool calls; `never`: one turn only. */
  readonly continuation: "ask" | "default" | "never";
};

/** Where the families of contracts differ in policy, the difference is one of these. */
export type Rules = {
  /** What a call that waits for somebody outside does to the run. */
  readonly waiting: "end" | "park";
  /** What becomes of the calls of a halted batch that were not opened: nothing, or each gets its one result. */
  readonly rest: "drop" | "settle";
  /** Whether the parameters are shown of a call to a tool that there is not, of which nobody has said what is secret. */
  readonly undeclared: "show" | "hide";
  /** Every turn begins by asking for what waits for the run. */
  readonly inbox: boolean;
  /** When the time of a run is looked at: before every turn, or also before and after every call to a model. */
  readonly clock: "turn" | "call";
};

/** What a run may spend on models, and what they cost. */
export type Funds = {
  /** The most that the run may use; null where there is no ceiling of its own. */
  readonly tokens: number | null;
  readonly nanodollars: number | null;
  /** Others draw on the same funds: what is left of them is asked before every call. */
  readonly isShared: boolean;
  /** In the order in which they are asked; prices are US dollars per million tokens. */
  readonly models: readonly {
    readonly price: { readonly input: number; readonly output: number; readonly cached?: number } | null;
    readonly maxOutputTokens: number | null;
  }[];
  /** The tokens of what every request holds beside the messages: instructions and tools. */
  readonly overhead: number;
  /** False when somebody else writes the summaries. */
  readonly paysSummaries: boolean;
};

/** What does not change during a run. */
export type Config = {
  readonly key: string;
  /**
   * Goes into every hash of what a tool is called with that is written down, so that nobody can find a short secret by
   * trying; nothing where nothing is written down.
   */
  readonly salt: string;
  readonly maxTurns: number;
  readonly context: JsonMap;
  readonly budgets: Readonly<Record<string, Budget>>;
  /** True when a budget counts calls, of all tools or of one. */
  readonly countsCalls: boolean;
  /** True when the caller set a `turns` budget, which then replaces `maxTurns` and shows as the reason to stop. */
  readonly explicitTurns: boolean;
  /** Every declared tool, whether the model sees it or not. */
  readonly tools: ToolMap;
  /** True when the context says how calls may run; otherwise that is for each declaration to say. */
  readonly policesCalls: boolean;
  /** What the policies are told beside the context of the turn. */
  readonly policyContext: JsonMap;
  /** The executors that a declaration may ask for by name. */
  readonly executorTargets: readonly string[];
  /** True when the loop itself runs the tool calls. */
  readonly mediates: boolean;
  readonly callRules: readonly CallRule[];
  readonly compaction: CompactionPolicy | null;
  /** True when somebody keeps what the overflow archive takes out. */
  readonly archives: boolean;
  readonly spinThreshold: number | null;
  readonly failureThreshold: number | null;
  readonly truncateBytes: number | null;
  readonly storesRequests: boolean;
  readonly storesActions: boolean;
  readonly asked: Asked;
  readonly rules: Rules;
  /** Null where nobody counts what models cost. */
  readonly funds: Funds | null;
};

/** The call that is being taken care of. */
export type OpenCall = {
  readonly number: number;
  readonly id: string;
  /** The name as the model gave it. */
  readonly name: string;
  readonly raw: JsonMap;
  readonly parameters: JsonMap;
  readonly prepared: Prepared;
  readonly exposure: Exposure;
  readonly policy: ActionPolicy;
  /** What a person is shown of it before deciding, where the parameters alone do not say it. */
  readonly preview: JsonMap | null;
  /** A person has agreed to it. */
  readonly approved: boolean;
  readonly decision: Decision;
  readonly result: ToolResult | null;
};

/** What the runner returned for this turn. */
export type TurnAnswer = {
  readonly result: JsonMap;
  /** The transcript it returned: how much of ours it kept, and what came after that. Null when it returned none. */
  readonly history: { readonly keep: number; readonly added: readonly JsonMap[] } | null;
};

export type RunContent = {
  executions: JsonMap[];
  tool_events: JsonMap[];
  audits: JsonMap[];
  events: JsonMap[];
  provider_diagnostics: JsonMap[];
  metadata: JsonMap;
  request_metadata: JsonMap;
  structured_output: { readonly parsed: unknown; readonly diagnostics: JsonMap } | null;
  approval: JsonMap | null;
  pending: JsonMap | null;
  interrupted: JsonMap | null;
  failure: JsonMap | null;
};

export type Working = {
  readonly config: Config;
  readonly transcript: Message[];
  readonly run: RunContent;
  /** What the caller gave, and the number of the turn. */
  context: JsonMap;
  /** The tools that the model sees: all of them until a policy has spoken, then those it named last. */
  tools: ToolMap;
  /** True once a policy has spoken. */
  hasShownTools: boolean;
  answer: TurnAnswer;
  continuation: readonly Message[];
  /** What callbacks see of the growing lists: frozen copies, made when first asked for after a change. */
  shown: { transcript: readonly Message[] | null; executions: readonly JsonMap[] | null };
  /** The execution results of this turn alone. */
  turnExecutions: JsonMap[];
  call: OpenCall | null;
  /** The calls that wait to be the batch of this turn. */
  queued: readonly JsonMap[];
};

/** A piece of content that a record points to. */
export type Body =
  | { readonly to: "transcript"; readonly message: Message }
  | { readonly to: "history"; readonly keep: number; readonly added: readonly Message[] }
  | { readonly to: "compaction"; readonly drop: number; readonly added: readonly Message[] }
  | { readonly to: "turn"; readonly turn: number }
  | { readonly to: "tools"; readonly names: readonly string[] }
  | { readonly to: "answer"; readonly value: TurnAnswer }
  | { readonly to: "continuation"; readonly messages: readonly Message[] }
  | { readonly to: "call"; readonly value: OpenCall | null }
  | { readonly to: "queued"; readonly calls: readonly JsonMap[] }
  | { readonly to: "execution" | "tool_event" | "audit" | "event" | "provider_diagnostics"; readonly value: JsonMap }
  | {
      readonly to: "accepted";
      readonly value: Partial<Pick<RunContent, "metadata" | "request_metadata" | "structured_output">>;
    }
  | {
      readonly to: "stop";
      readonly value: Partial<Pick<RunContent, "approval" | "pending" | "interrupted" | "failure">>;
    };

const noAnswer: TurnAnswer = { result: emptyMap, history: null };

export function startWorking(config: Config, messages: readonly Message[]): Working {
  return {
    config,
    transcript: [...messages],
    run: {
      executions: [],
      tool_events: [],
      audits: [],
      events: [],
      provider_diagnostics: [],
      metadata: emptyMap,
      request_metadata: emptyMap,
      structured_output: null,
      approval: null,
      pending: null,
      interrupted: null,
      failure: null,
    },
    context: config.context,
    tools: config.tools,
    hasShownTools: false,
    answer: noAnswer,
    continuation: [],
    shown: { transcript: null, executions: null },
    turnExecutions: [],
    call: null,
    queued: [],
  };
}

/** The transcript for a callback to look at. Several are asked between two changes, and share one copy. */
export function showTranscript(working: Working): readonly Message[] {
  working.shown.transcript ??= seal(working.transcript.slice());
  return working.shown.transcript;
}

/** The execution results of the whole run, likewise. */
export function showExecutions(working: Working): readonly JsonMap[] {
  working.shown.executions ??= seal(working.run.executions.slice());
  return working.shown.executions;
}

/** Builds it again from stored bodies. */
export function restore(working: Working, bodies: readonly Body[]): void {
  for (const body of bodies) absorb(working, snapshot(body, DEEPEST_BODY) as Body);
}

/** What was read as deep as a value may be stands a few levels deeper in a body. */
const DEEPEST_BODY = 1024;

/** Adds a body to the working memory, in place: the transcript may be long and every step adds a little. */
export function absorb(working: Working, body: Body): void {
  const { transcript, run } = working;
  switch (body.to) {
    case "transcript":
      working.shown.transcript = null;
      transcript.push(body.message);
      break;
    case "history":
      working.shown.transcript = null;
      transcript.length = body.keep;
      for (const message of body.added) transcript.push(message);
      break;
    case "compaction":
      working.shown.transcript = null;
      transcript.splice(0, body.drop, ...body.added);
      break;
    case "turn":
      working.context = seal({ ...working.config.context, turn: body.turn });
      working.answer = noAnswer;
      working.continuation = [];
      working.turnExecutions = [];
      working.call = null;
      break;
    case "tools":
      working.tools = named(working.config.tools, body.names);
      working.hasShownTools = true;
      break;
    case "answer":
      working.answer = body.value;
      break;
    case "continuation":
      working.continuation = body.messages;
      break;
    case "call":
      working.call = body.value;
      break;
    case "queued":
      working.queued = body.calls;
      break;
    case "execution":
      working.shown.executions = null;
      run.executions.push(body.value);
      working.turnExecutions.push(body.value);
      break;
    case "tool_event":
      run.tool_events.push(body.value);
      break;
    case "audit":
      run.audits.push(body.value);
      break;
    case "event":
      run.events.push(body.value);
      break;
    case "provider_diagnostics":
      run.provider_diagnostics.push(body.value);
      break;
    case "accepted":
    case "stop":
      Object.assign(run, body.value);
      break;
    default:
      body satisfies never;
  }
}

/** The named ones of the declared tools, in the order of the names. */
function named(tools: ToolMap, names: readonly string[]): ToolMap {
  const found: Record<string, ToolDeclaration> = {};
  for (const name of names) {
    const declaration = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (declaration) found[name] = declaration;
  }
  return Object.freeze(found);
}
