// Runs one tool call: checks what it is called with, gives it its context and its time, and keeps what it queues until
// its outcome is committed.

import { setTimeout as pause } from "node:timers/promises";
import type { JsonMap } from "../../contracts/json.ts";
import type { ToolCall } from "../../contracts/tools/call.ts";
import { createEntry } from "../new-entry.ts";
import { inWords } from "../schemas/in-words.ts";
import type { Sealing } from "../secrets/sealing.ts";
import { KeptWrites } from "../state/state-buffer.ts";
import type { Tool, ToolContext } from "../tool.ts";
import { type LeftBehind, nothingLeft } from "./left-behind.ts";
import { scopeOf } from "./tool-scope.ts";

export type ToolRun = {
  readonly tool: Tool;
  readonly call: ToolCall;
  readonly idempotencyKey: string;
  readonly threadId: string;
  /** What stands beside the tool where the prompt lists it. */
  readonly options: JsonMap;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly sealing: Sealing;
  /** Whether it may be tried again: not for a thread that is somebody else's by now, and not once the tool is switched off. */
  readonly isHeld: () => Promise<boolean>;
  /** Makes what the tool is told ready for one attempt. */
  readonly prepare: (context: ToolContext, kept: KeptWrites) => void;
  /** Makes the result of what the tool returned or threw. */
  readonly finish: (outcome: ToolOutcome | { readonly threw: unknown }) => Promise<ToolOutcome>;
};

/** What came of it, and what it leaves behind. `isLate`: its time was up before it came back, and it may be at work still. */
export type ToolOutcome = { readonly returned: unknown; readonly left: LeftBehind; readonly isLate?: true };

/**
 * The calls of this process that have not come back yet, by their keys. A process that slept, or closed its database in
 * the middle of a call and opened it again, must not take its own call for one that a crash cut off.
 */
const underWay = new Map<string, Promise<ToolOutcome>>();

/** What comes of a call that this process is at work on. */
export function toolUnderWay(idempotencyKey: string): Promise<ToolOutcome> | undefined {
  return underWay.get(idempotencyKey);
}

/** Throws what the tool threw in its last attempt. What a failing attempt queued is forgotten. */
export async function runTool(run: ToolRun): Promise<ToolOutcome> {
  const { idempotencyKey } = run;
  const running = attemptAll(run).then(run.finish, (threw: unknown) => run.finish({ threw }));
  underWay.set(idempotencyKey, running);
  try {
    return await running;
  } finally {
    if (underWay.get(idempotencyKey) === running) underWay.delete(idempotencyKey);
  }
}

async function attemptAll(run: ToolRun): Promise<ToolOutcome> {
  const { tool, call, signal } = run;
  const input = await tool.validateInput(call.parameters);
  if (!input.ok) return { returned: invalidParameters(call, input.problems), left: nothingLeft };
  if (!tool.execute) return { returned: forTheClient(call), left: nothingLeft };
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(run, input.value, attempt);
    } catch (thrown) {
      if (attempt >= tool.retry.attempts || signal.aborted) throw thrown;
      await pause(pauseAfter(attempt, tool), undefined, { signal });
      if (!(await run.isHeld())) throw thrown;
    }
  }
}

class TimeUp extends Error {}

/** Milliseconds between two attempts: doubled each time, though a timer cannot be set for ever. */
function pauseAfter(attempt: number, { retry }: Tool): number {
  return Math.min(retry.backoffMs * 2 ** Math.min(attempt - 1, 100), LONGEST_PAUSE_MS);
}

export const LONGEST_PAUSE_MS = 300_000;

async function runOnce(run: ToolRun, input: unknown, attempt: number): Promise<ToolOutcome> {
  const { tool, call, timeoutMs } = run;
  const cut = cutOff(run.signal);
  const kept = new KeptWrites({ hasRun: true });
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new TimeUp());
      cut.now();
    }, timeoutMs);
    // A tool that was stopped and does not listen must not keep the process alive.
    timer.unref();
  });
  try {
    const returned = await Promise.race([tool.execute?.(input, contextOf(run, attempt, cut, kept)), timeUp]);
    const output = await tool.validateOutput(returned);
    if (!output.ok) return { returned: invalidResult(call, output.problems), left: nothingLeft };
    const { entries, writes, events, control } = kept;
    return { returned: returned === undefined ? null : returned, left: { entries, writes, events, control } };
  } catch (thrown) {
    if (thrown instanceof TimeUp) return { returned: tookTooLong(call, timeoutMs), left: nothingLeft, isLate: true };
    throw thrown;
  } finally {
    clearTimeout(timer);
    cut.end();
  }
}

type CutOff = { readonly signal: () => AbortSignal; now(): void; end(): void };

/** A signal for one attempt, which follows the run's and its own time. Most tools never look at it: then there is none. */
function cutOff(ofRun: AbortSignal): CutOff {
  let own: AbortController | undefined;
  let isCut = false;
  const now = () => {
    isCut = true;
    own?.abort();
  };
  return {
    now,
    signal() {
      if (own) return own.signal;
      own = new AbortController();
      ofRun.addEventListener("abort", now, { once: true });
      if (isCut || ofRun.aborted) own.abort();
      return own.signal;
    },
    end: () => own && ofRun.removeEventListener("abort", now),
  };
}

function contextOf(run: ToolRun, attempt: number, cut: CutOff, kept: KeptWrites): ToolContext {
  const { call, idempotencyKey, sealing, threadId } = run;
  const key = () => `${idempotencyKey}:${kept.entries.length}`;
  const context: ToolContext = {
    idempotencyKey,
    get signal() {
      return cut.signal();
    },
    threadId,
    callId: call.id ?? "",
    toolName: call.tool_name,
    attempt,
    options: run.options,
    queueMessage(content, options = {}) {
      kept.entries.push(createEntry.queuedMessage(content, { ...options, key: key() }));
    },
    queueTool(name, parameters) {
      kept.entries.push(createEntry.queuedTool(name, parameters, { key: key(), sealing, threadId }));
    },
    get state() {
      return scopeOf(context).state;
    },
  };
  run.prepare(context, kept);
  return Object.freeze(context);
}

type Problems = Parameters<typeof inWords>[0];

function invalidParameters({ tool_name }: ToolCall, problems: Problems) {
  const error = `The parameters of '${tool_name}' are not valid: ${inWords(problems)}`;
  return { success: false, tool_name, error, metadata: { error_type: "invalid_parameters" } };
}

function invalidResult({ tool_name }: ToolCall, problems: Problems) {
  const error = `'${tool_name}' ran, but what it returned is not valid: ${inWords(problems)}`;
  return { success: false, tool_name, error, metadata: { error_type: "invalid_result" } };
}

function tookTooLong({ tool_name }: ToolCall, timeoutMs: number) {
  const error = `'${tool_name}' did not answer within ${timeoutMs} ms; what it did is unknown.`;
  return { success: false, tool_name, error, metadata: { error_type: "timeout" } };
}

/** Says that whoever started the run has to run the tool. */
function forTheClient({ tool_name }: ToolCall) {
  const error = "The tool waits for an external runtime.";
  return { success: false, tool_name, error, status: "runtime_tool_pending", runtime_tool_request: {} };
}
