// One run of an agent on a thread, in memory: the machine's working memory and who does what it asks for.
import type { NewEntry } from "../backend/inbox.ts";
import type { Summarizer } from "../contracts/conversation/compaction.ts";
import type { ToolCall } from "../contracts/tools/call.ts";
import type { ToolDeclaration } from "../contracts/tools/declaration.ts";
import { type Attempted, attempts } from "../loop/attempt.ts";
import { type Callbacks, callbacks } from "../loop/callbacks.ts";
import { configure } from "../loop/configure.ts";
import { takeUp } from "../loop/keep-working.ts";
import { observe, type Tell } from "../loop/observe.ts";
import type { TurnRunner } from "../loop/options.ts";
import type { Rules, Working } from "../loop/working.ts";
import type { Model } from "../models/model.ts";
import type { ReadyModel } from "../models/model-choice.ts";
import { summarizerOf } from "../models/summarizer.ts";
import { type Agent, runOptions } from "./agent.ts";
import { fundsOf } from "./agent-funds.ts";
import type { HeldThread } from "./held-thread.ts";
import type { Host } from "./host.ts";
import { idempotencyKey, timeoutOf } from "./ledger.ts";
import { createLiveAnswer, type LiveAnswer } from "./live-answer.ts";
import { readModelAnswer } from "./model-answer.ts";
import { runTool } from "./run-tool.ts";
import { readTranscript } from "./transcript.ts";
import { untilTimeUp, workTimeLeft } from "./work-time.ts";

export type ThreadRun = {
  readonly agent: Agent;
  readonly models: readonly ReadyModel[];
  readonly working: Working;
  readonly tell: Tell;
  readonly abort: AbortController;
  /** Calls into somebody else's code, until the run is cut off. */
  readonly attempt: (call: () => unknown) => Attempted;
  readonly carryOut: Callbacks;
  /** Asks whether the thread is still held here. */
  isHeld: () => Promise<boolean>;
  /** What the model has said of the answer it is giving now. */
  said: string;
  /** What is known of the cost of the attempt at a model that is under way, or was made last. */
  cost: { readonly hasSpoken: boolean; readonly usage?: unknown };
  /** What the tool that ran last wants to be left in the inbox. */
  queued: readonly NewEntry[];
};

const unspoken = { hasSpoken: false } as const;
const spoken = { hasSpoken: true } as const;

const rules: Rules = { waiting: "park", rest: "settle", undeclared: "hide", inbox: true, clock: "call" };

/** Takes a run up where the thread stands, or makes a new one ready. */
export function takeUpRun(host: Host, held: HeldThread, isNew: boolean): ThreadRun {
  const agent = agentOf(host, held);
  const abort = new AbortController();
  const { signal } = abort;
  const models = host.models.get(agent.slug) ?? [];
  const own = runOptions(agent);
  const run_id = `${held.id}:${held.run}`;
  const options = {
    ...own,
    ...(own.compactionPolicy && !own.summarizer && { summarizer: summarise }),
    context: { agent_slug: agent.slug, ...own.context, thread_id: held.id, run_id },
    toolExecutor: (call: ToolCall, declaration: ToolDeclaration) => execute(call, declaration),
    sessionId: held.id,
    runId: run_id,
    signal,
  };
  const configured = configure([], options);
  const key = isNew ? configured.config.key : (held.state?.key ?? "");
  const salt = host.sealing.bind("salt", key);
  const ours = { rules, mediates: true, storesRequests: false, storesActions: false, key, salt };
  const asked = { ...configured.config.asked, output: agent.output !== undefined };
  const config = { ...configured.config, ...ours, asked, funds: fundsOf(agent, models, held.funds !== null) };
  const { messages, seqs } = readTranscript(held.loaded.messages);
  held.seqs = seqs;
  const kept = isNew ? null : held.keptText();
  held.runFrom = kept?.from ?? held.nextMessage;
  const working = takeUp(config, messages, kept?.kept ?? null, isNew ? null : held.keptAnswer(kept));
  const run: ThreadRun = {
    agent,
    models,
    working,
    tell: observe(options),
    abort,
    attempt: attempts(signal).attempt,
    carryOut: callbacks({ ...configured, config }, modelRunner, options),
    isHeld: async () => true,
    said: "",
    cost: unspoken,
    queued: [],
  };

  let answering: LiveAnswer | undefined;

  function modelRunner(...[given, context, turn]: Parameters<TurnRunner>): unknown {
    const step = held.steps;
    // Grows with every claim and with every commit, so no two tries at an answer have the same number.
    const attempt = held.epoch + held.nextSeq;
    const about = { thread_id: held.id, step, attempt, commit: held.nextSeq };
    // Pieces of arguments cannot be put to a filter of what may be shown of them.
    const live = createLiveAnswer(about, config.asked.auditFilter ? null : turn.tools);
    run.said = "";
    run.cost = unspoken;
    answering = live;
    const onDelta = (delta: unknown) => {
      // A model that was let go may go on talking.
      if (signal.aborted || answering !== live) return;
      run.cost = spoken;
      if (!live.add(delta)) return;
      run.said = live.said;
      host.liveTexts.say(live.text);
    };
    const { instructions, output } = agent;
    const asked = {
      ...turn,
      ...{ step, attempt, onDelta },
      ...(instructions !== undefined && { instructions }),
      ...(output && { output: { name: output.name, schema: output.schema } }),
    };
    const left = workTimeLeft(config, held.state, host.now());
    return untilTimeUp(left, signal, (until) => currentModel()(given, context, { ...asked, signal: until })).then(
      (answer) => {
        run.cost = spoken;
        return readModelAnswer(answer, given, step);
      },
    );
  }

  /** The one whose turn it is: others take over from those that failed. */
  function currentModel(): Model {
    const model = models[held.state?.postponed?.model ?? 0] ?? models[0];
    if (!model) throw new Error(`The agent ${agent.slug} has no model here.`);
    return model.ask;
  }

  function summarise(...[head, about, options]: Parameters<Summarizer>): ReturnType<Summarizer> {
    run.cost = unspoken;
    const onUsage = (usage: unknown) => {
      run.cost = { hasSpoken: true, usage };
    };
    const left = workTimeLeft(config, held.state, host.now());
    return untilTimeUp(left, signal, (until) =>
      summarizerOf(currentModel(), { signal: until, onUsage })(head, about, options),
    );
  }

  async function execute(call: ToolCall, declaration: ToolDeclaration): Promise<unknown> {
    const tool = agent.tools.get(declaration.name);
    if (!tool) throw new Error(`Nobody runs the tool '${declaration.name}' here.`);
    const number = working.call?.number ?? 0;
    const key = idempotencyKey(held.state?.key ?? "", number);
    const { sealing } = host;
    const { returned, queued } = await runTool({
      tool,
      call,
      idempotencyKey: key,
      threadId: held.id,
      timeoutMs: Math.min(timeoutOf(tool), workTimeLeft(config, held.state, host.now()) ?? Number.POSITIVE_INFINITY),
      signal,
      sealing,
      isHeld: () => run.isHeld(),
    });
    run.queued = queued;
    return returned;
  }

  return run;
}

function agentOf({ agents }: Host, { agent }: HeldThread): Agent {
  const known = agents.get(agent);
  if (!known) throw new Error(`Nobody here knows the agent ${agent}.`);
  return known;
}
