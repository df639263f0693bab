// A tool call that is begun: what the ledger says of it, and what becomes of one that somebody began and nobody settled.
import type { CallChange } from "../../backend/thread-commit.ts";
import type { ToolCall } from "../../contracts/tools/call.ts";
import type { State } from "../../loop/state.ts";
import { toolOf } from "../cast/cast.ts";
import { type HeldThread, microseconds } from "../held-thread.ts";
import type { Host } from "../host.ts";
import type { ThreadRun } from "../thread-run.ts";
import { callSecrets } from "./call-secrets.ts";
import { idempotencyKey, longestWorkOf, preparedCall, type Resolution, resolveUnsettled } from "./ledger.ts";
import { type LeftBehind, nothingLeft } from "./left-behind.ts";
import { type ToolOutcome, toolUnderWay } from "./run-tool.ts";
import { shownReturn } from "./shown-outcome.ts";

/** What is written into the ledger before the open call begins. */
export function begunCall(host: Host, state: State | null, { cast, working: { call } }: ThreadRun): CallChange {
  if (!call || !state) throw new Error("No call is open that could begin.");
  const { tool_name, parameters } = preparedCall(call);
  const key = idempotencyKey(state.key, call.number);
  const longestMs = longestWorkOf(toolOf(cast, tool_name));
  return {
    change: "begun",
    number: call.number,
    tool_call_id: call.id,
    tool_name,
    idempotency_key: key,
    arguments_hmac: host.sealing.bind(parameters, key),
    certain_after: microseconds(Math.max(longestMs, host.leaseMs)) ?? 0,
  };
}

type Settled = Resolution & { readonly left: LeftBehind };

/** Finds out what came of the call that is in flight, first of all from this very process. */
export async function resolveInFlight(host: Host, held: HeldThread, run: ThreadRun, state: State): Promise<Settled> {
  const { stores, isShared, onCrashPoint } = host;
  const { call } = run.working;
  if (!call) throw new Error(`Thread ${held.id} runs a tool and has no open call.`);
  const key = idempotencyKey(state.key, call.number);
  const here = toolUnderWay(key);
  if (here) return await awaited(run, here);
  const prepared = preparedCall(call);
  await onCrashPoint("before reconcile");
  const resolution = await resolveUnsettled({
    tool: toolOf(run.cast, prepared.tool_name),
    call: prepared,
    stored: await stores.threads.call(held.id, held.run, call.number),
    threadId: held.id,
    key,
    signal: run.abort.signal,
    attempt: run.attempt,
    now: () => stores.requests.now(),
    isShared,
    isSwitchedOff: (await host.switches.findNow("tool", prepared.tool_name)) !== undefined,
  });
  await onCrashPoint("after reconcile");
  return { ...shownResolution(resolution, run, prepared), left: nothingLeft };
}

/** What was found out is shown like what the tool would have returned. */
function shownResolution(resolution: Resolution, run: ThreadRun, call: ToolCall): Resolution {
  if (resolution.kind !== "arrived" || !("returned" in resolution.outcome)) return resolution;
  const tool = toolOf(run.cast, call.tool_name);
  run.secrets = callSecrets(run, call.parameters, tool?.declaration ?? {});
  const returned = shownReturn(resolution.outcome.returned, run.secrets, tool?.secretOutput);
  return { ...resolution, outcome: { ...resolution.outcome, returned } };
}

/** This process is still at work on the call, under a lease that it has lost meanwhile. */
async function awaited(run: ThreadRun, here: Promise<ToolOutcome>): Promise<Settled> {
  const outcome = await run.attempt(() => here);
  if (!outcome) return { kind: "cut_off", left: nothingLeft };
  if ("threw" in outcome) return { kind: "arrived", outcome, left: nothingLeft };
  const { returned, left } = outcome.returned as ToolOutcome;
  return { kind: "arrived", outcome: { returned }, left };
}
