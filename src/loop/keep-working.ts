// Takes a run down between two commits and up again, without the lists that grow with it: what they hold is stored as it
// comes, and what the machine itself goes on from is small.
import * as message from "../contracts/conversation/message.ts";
import { emptyMap, isMap, type JsonMap } from "../contracts/json.ts";
import type { Config } from "./config.ts";
import { type Body, type OuterWork, type RunContent, restore, startWorking, type Working } from "./working.ts";

type Accepted = Pick<RunContent, "metadata" | "request_metadata" | "structured_output">;
type Stopped = Pick<RunContent, "approval" | "pending" | "interrupted" | "failure">;

/** What a run is taken up from beside its transcript, the answer of its turn and its configuration. Plain JSON. */
/** A call that waits for the prompt that speaks for it; what was said before the call is in the transcript. */
type KeptOuter = Omit<OuterWork, "transcript">;

export type Kept = Readonly<Pick<Working, "continuation" | "queued" | "call">> & {
  /** Null until the first turn has begun. */
  readonly turn: number | null;
  /** The names of the tools that the model sees; null until a policy has spoken. */
  readonly tools: readonly string[] | null;
  readonly turn_executions: readonly JsonMap[];
  /** Absent where no prompt speaks for a call. */
  readonly outer?: readonly KeptOuter[];
  readonly run: Readonly<Accepted & Stopped>;
};

/** What has to be kept of a run that is taken down now. It shares its values with the run, which may go on. */
export function keepWorking(working: Working): Kept {
  const { config, context, continuation, queued, call, turnExecutions, run } = working;
  const { metadata, request_metadata, structured_output, approval, pending, interrupted, failure } = run;
  const hasBegun = context !== config.context && typeof context.turn === "number";
  return {
    turn: hasBegun ? (context.turn as number) : null,
    tools: working.hasShownTools ? Object.keys(working.tools) : null,
    continuation,
    queued,
    call,
    turn_executions: isAnybodyTold(working) ? [...turnExecutions] : [],
    ...(working.outer.length > 0 && { outer: working.outer.map(keepOuter) }),
    run: { metadata, request_metadata, structured_output, approval, pending, interrupted, failure },
  };
}

function keepOuter({ transcript: _stored, ...outer }: OuterWork): KeptOuter {
  return outer;
}

/** The results of a turn are for those who judge it; a turn of a thousand calls must not be rewritten with each of them. */
function isAnybodyTold({ config: { asked } }: Working): boolean {
  return asked.mediator || asked.decisionFilter || asked.completion || asked.continuation === "ask";
}

/**
 * The working memory of a run that was taken down, from what `keepWorking` gave then and the answer it had. A run of
 * which nothing was kept has not begun. Of the lists that were stored elsewhere it has the execution results of this turn.
 * `transcripts`: that of the thread, and those of the prompts that speak for calls, the outermost first.
 */
export function takeUp(
  config: Config,
  transcripts: readonly (readonly message.Message[])[],
  kept: unknown,
  answer: unknown,
): Working {
  const working = startWorking(config, message.normalizeMany(transcripts.at(-1) ?? []));
  const outer = isMap(kept) ? ((kept as Partial<Kept>).outer ?? []) : [];
  for (const [depth, each] of outer.entries()) working.outer.push(takeUpOuter(each, transcripts[depth] ?? []));
  restore(working, [...(isMap(kept) ? bodiesOf(kept as Partial<Kept>) : []), ...answerBodies(answer)]);
  return working;
}

function takeUpOuter(outer: KeptOuter, transcript: readonly message.Message[]): OuterWork {
  return { ...outer, transcript: [...message.normalizeMany(transcript)] };
}

/** What led there, as far as it still matters. */
function bodiesOf(kept: Partial<Kept>): Body[] {
  const { turn = null, tools = null, continuation = [], queued = [], call = null, turn_executions = [], run } = kept;
  return [
    ...(turn === null ? [] : [{ to: "turn", turn } as const]),
    ...(tools === null ? [] : [{ to: "tools", names: tools } as const]),
    { to: "continuation", messages: continuation },
    { to: "queued", calls: queued },
    { to: "call", value: call },
    ...turn_executions.map((value): Body => ({ to: "execution", value })),
    { to: "accepted", value: run ?? emptyMap },
  ];
}

function answerBodies(answer: unknown): Body[] {
  return isMap(answer) ? [{ to: "answer", value: answer as Working["answer"] }] : [];
}

/**
 * Lets go of the lists that grow with a run, once what is in them was stored. What a run that is taken up now would have
 * is left: the execution results of this turn, if there is anybody to be told of them.
 */
export function forget(working: Working): void {
  const { run, shown } = working;
  if (!isAnybodyTold(working)) working.turnExecutions = [];
  run.executions = [...working.turnExecutions];
  run.tool_events = [];
  run.audits = [];
  run.events = [];
  run.provider_diagnostics = [];
  shown.executions = null;
}
