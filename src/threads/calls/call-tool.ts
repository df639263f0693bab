// Runs the tool of a call: what it is told, what its result is taken for, and what it leaves behind for the commit.
import type { ToolCall } from "../../contracts/tools/call.ts";
import type { ToolExecutor } from "../../contracts/tools/execution.ts";
import { nameOfWait } from "../../loop/name-of-wait.ts";
import { toolOf } from "../cast/cast.ts";
import { workTimeLeft } from "../funds/work-time.ts";
import type { HeldThread } from "../held-thread.ts";
import { runHook } from "../hooks/run-hook.ts";
import type { Host } from "../host.ts";
import { runState } from "../run-state.ts";
import { KeptWrites } from "../state/state-buffer.ts";
import type { ThreadRun } from "../thread-run.ts";
import type { Tool, ToolContext } from "../tool.ts";
import { callSecrets } from "./call-secrets.ts";
import { finishCall, standardCall } from "./finish-call.ts";
import { askAboutLate, idempotencyKey, timeoutOf } from "./ledger.ts";
import { type LeftBehind, nothingLeft } from "./left-behind.ts";
import { lifecycleOf, missingFiles } from "./lifecycle.ts";
import { runTool, type ToolOutcome } from "./run-tool.ts";
import { shownReturn } from "./shown-outcome.ts";
import { switchedOffResult } from "./switched-off.ts";
import { keepScope, type ToolScope } from "./tool-scope.ts";

/** The id of the message that an answer with several calls is listed as. */
function messageOfCall({ seqs, state, firstOfRun }: HeldThread, { working }: ThreadRun): string | null {
  const { transcript } = working;
  const isOfTurn = (index: number) =>
    transcript[index]?.type === "tool_call" && transcript[index]?.payload.turn === state?.turn;
  let first = firstOfRun;
  while (first < transcript.length && !isOfTurn(first)) first++;
  const said = transcript[first - 1];
  const at = said?.type === "text" && first > firstOfRun && said.id === undefined ? first - 1 : first;
  return transcript[at]?.id ?? (seqs[at] === undefined ? null : `message-${seqs[at]}`);
}

export function toolCaller(host: Host, held: HeldThread, run: ThreadRun): ToolExecutor {
  function prepare(tool: Tool): (context: ToolContext, kept: KeptWrites) => void {
    return (context, buffer) => keepScope(context, () => scopeFor(tool, buffer));
  }

  function scopeFor(tool: Tool, buffer: KeptWrites): ToolScope {
    const { key = "", batch } = held.state ?? {};
    return {
      ...{ host, thread: held.thread, cast: run.cast, buffer, run: held.run, hooks: run.hooks },
      requestId: nameOfWait(key, run.working.call?.number ?? 0),
      byCode: batch?.queued ?? false,
      messageId: messageOfCall(held, run),
      state: runState(host, held, run, buffer, tool),
    };
  }

  return async (call, declaration) => {
    const tool = toolOf(run.cast, declaration.name);
    if (!tool) throw new Error(`Nobody runs the tool '${declaration.name}' here.`);
    const number = run.working.call?.number ?? 0;
    run.secrets = callSecrets(run, call.parameters, tool.declaration);
    // At the last moment: whatever was decided before, it must not run once somebody has switched it off.
    const off = await host.switches.findNow("tool", tool.name);
    if (off) return switchedOffResult(tool.name, off);
    const lifecycle = lifecycleOf(run, tool.name);
    const missing = lifecycle && (await missingFiles(host, held, lifecycle, call.parameters));
    if (missing !== undefined) return shownReturn(missing, run.secrets);
    const started = await tellStarted(call, tool);
    const key = idempotencyKey(held.state?.key ?? "", number);
    const { returned, left } = await runTool({
      tool,
      call,
      idempotencyKey: key,
      threadId: held.id,
      options: run.cast.entries.get(tool.name)?.options ?? {},
      timeoutMs: Math.min(
        timeoutOf(tool),
        workTimeLeft(run.working.config, held.state, host.now()) ?? Number.POSITIVE_INFINITY,
      ),
      signal: run.abort.signal,
      sealing: host.sealing,
      isHeld: async () => !(await host.switches.findNow("tool", tool.name)) && (await run.isHeld()),
      prepare: prepare(tool),
      finish: async (outcome) => {
        const isAskedAbout = "isLate" in outcome && tool.reconcile;
        const known = isAskedAbout ? await foundOut(tool, call, outcome, key) : outcome;
        return await finishCall({ host, held, run, tool, call, lifecycle }, known);
      },
    });
    run.left = {
      ...left,
      writes: [...started.writes, ...left.writes],
      entries: [...started.entries, ...left.entries],
      events: [...started.events, ...left.events],
    };
    return returned;
  };

  /** Its time was up: that it took too long is what is told, unless the tool can say what it did. */
  async function foundOut(tool: Tool, call: ToolCall, late: ToolOutcome, key: string): Promise<ToolOutcome> {
    const { signal } = run.abort;
    await host.onCrashPoint("before reconcile");
    const known = await askAboutLate(tool, late, { call, key, signal, threadId: held.id });
    await host.onCrashPoint("after reconcile");
    return known;
  }

  /** Hooks are told that the call begins; what they leave behind goes into its commit. */
  async function tellStarted(call: ToolCall, tool: Tool): Promise<LeftBehind> {
    if (!run.hooks.has("tool_call_started")) return nothingLeft;
    const kept = new KeptWrites({ hasRun: true });
    const state = runState(host, held, run, kept, tool);
    await runHook(run.hooks, "tool_call_started", { host, state }, standardCall({ call, run }));
    return kept;
  }
}
