// One run of an agent on a thread, in memory: the machine's working memory and who does what it asks for.
import type { NewEntry } from "../backend/inbox.ts";
import { isMap } from "../contracts/json.ts";
import type { ToolCall } from "../contracts/tools/call.ts";
import type { ToolDeclaration } from "../contracts/tools/declaration.ts";
import { type Attempted, attempts } from "../loop/attempt.ts";
import { type Callbacks, callbacks } from "../loop/callbacks.ts";
import { configure } from "../loop/configure.ts";
import { takeUp } from "../loop/keep-working.ts";
import { observe, type Tell } from "../loop/observe.ts";
import type { TurnRunner } from "../loop/options.ts";
import type { Rules, Working } from "../loop/working.ts";
import { type Agent, runOptions } from "./agent.ts";
import type { HeldThread } from "./held-thread.ts";
import type { Host } from "./host.ts";
import { idempotencyKey, timeoutOf } from "./ledger.ts";
import { readModelAnswer } from "./model-answer.ts";
import { runTool } from "./run-tool.ts";
import { readTranscript } from "./transcript.ts";

export type ThreadRun = {
  readonly agent: Agent;
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
  /** What the tool that ran last wants to be left in the inbox. */
  queued: readonly NewEntry[];
};

const rules: Rules = { waiting: "park", rest: "settle", undeclared: "hide", inbox: true };

/** Takes a run up where the thread stands, or makes a new one ready. */
export function takeUpRun(host: Host, held: HeldThread, isNew: boolean): ThreadRun {
  const agent = agentOf(host, held);
  const abort = new AbortController();
  const { signal } = abort;
  const own = runOptions(agent);
  const run_id = `${held.id}:${held.run}`;
  const options = {
    ...own,
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
  const config = { ...configured.config, ...ours };
  const { messages, seqs } = readTranscript(held.loaded.messages);
  held.seqs = seqs;
  const kept = isNew ? null : held.keptText();
  held.runFrom = kept?.from ?? held.nextMessage;
  const working = takeUp(config, messages, kept?.kept ?? null, isNew ? null : held.keptAnswer(kept));
  const run: ThreadRun = {
    agent,
    working,
    tell: observe(options),
    abort,
    attempt: attempts(signal).attempt,
    carryOut: callbacks({ ...configured, config }, modelRunner, options),
    isHeld: async () => true,
    said: "",
    queued: [],
  };

  function modelRunner(...[given, context, turn]: Parameters<TurnRunner>): unknown {
    const step = held.steps;
    // Grows with every claim and with every commit, so no two tries at an answer have the same number.
    const attempt = held.epoch + held.nextSeq;
    run.said = "";
    const onDelta = (delta: unknown) => {
      if (!isMap(delta) || delta.type !== "text" || typeof delta.text !== "string" || signal.aborted) return;
      run.said += delta.text;
      host.liveTexts.say({ thread_id: held.id, step, attempt, content: run.said });
    };
    const { instructions } = agent;
    const asked = { ...turn, signal, step, attempt, onDelta, ...(instructions !== undefined && { instructions }) };
    return Promise.resolve(agent.model(given, context, asked)).then((answer) => readModelAnswer(answer, given, step));
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
      timeoutMs: timeoutOf(tool),
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
