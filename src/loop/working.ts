// What a driver holds in memory while the machine runs: the configuration and the content that records point to. It is
// changed only by `absorb`, so that a driver which stored the bodies can build it again.
import type { Message } from "../contracts/conversation/message.ts";
import type { JsonMap } from "../contracts/json.ts";
import { emptyMap, seal, snapshot } from "../contracts/json.ts";
import type { ActionPolicy } from "../contracts/tools/action-policy.ts";
import type { ToolDeclaration, ToolMap } from "../contracts/tools/declaration.ts";
import type { Prepared } from "../contracts/tools/execution.ts";
import type { Exposure } from "../contracts/tools/exposure.ts";
import type { ToolResult } from "../contracts/tools/result.ts";
import type { Config } from "./config.ts";
import type { Decision } from "./decision.ts";

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
  /** Whoever agreed has changed what it runs with: the model must not take its own words for what was done. */
  readonly edited?: boolean;
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

/** What a call waits with while the prompt that it stands for is speaking. */
export type OuterWork = Pick<
  Working,
  "transcript" | "hasShownTools" | "answer" | "continuation" | "turnExecutions" | "call"
> & {
  /** The names of those that the model sees. */
  readonly tools: readonly string[];
};

export type Working = {
  /** Changed by the driver alone, and only where the machine asks who acts. */
  config: Config;
  /** Of the thread, or of the prompt that is speaking for a call. */
  transcript: Message[];
  readonly outer: OuterWork[];
  readonly run: RunContent;
  /** What the caller gave, and the number of the turn. */
  context: JsonMap;
  /** The tools that the model sees: all of them until a policy has spoken, then those it named last. */
  tools: ToolMap;
  /** True once a policy has spoken. */
  hasShownTools: boolean;
  /** The tools that are seen again once the side acts that made the call. */
  recalled: readonly string[] | null;
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
  /** A prompt begins to speak for the open call, to these messages. */
  | { readonly to: "frame"; readonly messages: readonly Message[]; readonly at: number }
  /** It has spoken: this is what the call came to. */
  | { readonly to: "outer"; readonly result: ToolResult }
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
    outer: [],
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
    tools: offeredOf(config),
    hasShownTools: false,
    recalled: null,
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
    case "frame":
      enterFrame(working, body.messages);
      break;
    case "outer":
      leaveFrame(working, body.result);
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

function enterFrame(working: Working, messages: readonly Message[]): void {
  const { transcript, tools, hasShownTools, answer, continuation, turnExecutions, call } = working;
  const seen = Object.keys(tools);
  working.outer.push({ transcript, tools: seen, hasShownTools, answer, continuation, turnExecutions, call });
  Object.assign(working, { transcript: [...messages], answer: noAnswer, continuation: [], turnExecutions: [] });
  Object.assign(working, { tools: offeredOf(working.config), hasShownTools: false, call: null });
  working.shown.transcript = null;
}

function leaveFrame(working: Working, result: ToolResult): void {
  const outer = working.outer.pop();
  if (!outer?.call) throw new Error("No call waits for what the prompt has said.");
  const { tools: recalled, ...work } = outer;
  Object.assign(working, work, { recalled, tools: {}, call: { ...outer.call, result } });
  working.shown.transcript = null;
}

/** Another side, or another prompt, is at work from now on. */
export function recast(working: Working, config: Config): void {
  const { context, recalled } = working;
  working.config = config;
  working.context = context.turn === undefined ? config.context : seal({ ...config.context, turn: context.turn });
  working.tools = recalled ? named(config.tools, recalled) : offeredOf(config);
  // What the other one was shown says nothing of what this one may see.
  if (!recalled) working.hasShownTools = false;
  working.recalled = null;
}

/** What a model sees until a policy has spoken. */
function offeredOf({ offered, tools }: Config): ToolMap {
  return offered ? named(tools, offered) : tools;
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
