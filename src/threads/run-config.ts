// The configuration of the machine for whoever acts: the same run has another one for each side, and for each prompt that
// a side uses as a tool.
import type { Summarizer } from "../contracts/conversation/compaction.ts";
import type { UnknownMap } from "../contracts/json.ts";
import type { ToolExecutor } from "../contracts/tools/execution.ts";
import { type Callbacks, callbacks } from "../loop/callbacks.ts";
import type { Config, Rules } from "../loop/config.ts";
import { configure } from "../loop/configure.ts";
import type { RunOptions, TurnRunner } from "../loop/options.ts";
import type { Turns } from "../loop/records.ts";
import type { ReadyModel } from "../models/model-choice.ts";
import type { Agent } from "./agent.ts";
import { runOptions } from "./agent.ts";
import type { Cast } from "./cast/cast.ts";
import { mostSteps, sideRules } from "./cast/side-rules.ts";
import type { PromptUse } from "./definitions/prompt.ts";
import { fundsOf } from "./funds/agent-funds.ts";
import type { HeldThread } from "./held-thread.ts";
import type { Host } from "./host.ts";
import type { Subject } from "./subject.ts";
import { trustOf } from "./trust.ts";

export type Configured = { readonly config: Config; readonly options: RunOptions; readonly carryOut: Callbacks };

/** What stays the same for all who act in a run. */
export type RunBase = {
  readonly key: string | null;
  /** The turns that the sides had before the run. */
  readonly turns: Turns;
  readonly signal: AbortSignal;
  readonly askModel: TurnRunner;
  readonly callTool: ToolExecutor;
  readonly summarize: Summarizer;
};

const rules: Rules = {
  waiting: "park",
  rest: "settle",
  undeclared: "hide",
  inbox: true,
  clock: "call",
  priorResults: "turn",
};

/** `uses`: how the prompt gives its result, for one that speaks for a call. */
export function configureRun(
  host: Host,
  held: HeldThread,
  cast: Cast,
  models: readonly ReadyModel[],
  base: RunBase,
  uses?: PromptUse,
): Configured {
  const options = optionsOf(host, held, cast, base, uses !== undefined);
  const configured = configure([], options);
  const key = base.key ?? configured.config.key;
  const salt = host.sealing.bind("salt", key);
  const { tools } = configured.config;
  const isSpeaking = uses !== undefined;
  const asked = {
    ...configured.config.asked,
    output: cast.agent.output !== undefined && !isSpeaking,
    // Which tools there are depends on children and flags that come and go.
    visibility: configured.config.asked.visibility || cast.relationships.size > 0,
  };
  const config: Config = {
    ...configured.config,
    ...{ rules, mediates: true, storesRequests: false, storesActions: false, key, salt, asked },
    funds: fundsOf(cast, models, held.funds !== null),
    sides: isSpeaking ? null : sideRules(cast, tools, base.turns),
    frame: uses ?? null,
    prompts: [...cast.prompts.keys()],
    offered: cast.others.size > 0 ? [...cast.tools.keys()] : null,
  };
  return { config, options, carryOut: callbacks({ ...configured, config }, base.askModel, options) };
}

function optionsOf(host: Host, held: HeldThread, cast: Cast, base: RunBase, isSpeaking: boolean): RunOptions {
  const { agent, tools } = cast;
  const { compactionPolicy, ...own } = runOptions(agent);
  const run_id = `${held.id}:${held.run}`;
  const compacts = compactionPolicy && !isSpeaking;
  return {
    ...own,
    ...(compacts && { compactionPolicy, summarizer: own.summarizer ?? base.summarize }),
    toolDeclarations: [...tools.values(), ...cast.others.values()].map(({ declaration }) => declaration),
    // Steps of a side are counted by its own rules; this is only the last resort.
    ...(agent.style === "standard" && { maxTurns: 4 * mostSteps(agent) }),
    ...trustOf(host, held, cast, own),
    context: { ...own.context, ...contextOf(agent, held.subject, own.context), thread_id: held.id, run_id },
    toolExecutor: base.callTool,
    sessionId: held.id,
    runId: run_id,
    signal: base.signal,
  };
}

/** What the thread itself says is not for an agent's settings to say: whom it acts for, and in which mode. */
export function contextOf(
  { slug }: Agent,
  { principal, workspace, context }: Subject,
  own: UnknownMap = {},
): UnknownMap {
  return {
    agent_slug: slug,
    principal,
    acting_user_id: principal.acting_user_id,
    ...(workspace && { workspace }),
    ...(context !== USUAL_MODE && own.mode === undefined && { mode: context }),
  };
}

/** What tools are for unless they say otherwise. */
const USUAL_MODE = "chat";
