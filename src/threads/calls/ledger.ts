// The ledger of tool calls: that a call begins is written down before it begins. What is found begun after a crash may
// have happened; this decides what becomes of it, and never runs it a second time in silence.
import type { StoredCall } from "../../backend/thread-rows.ts";
import { sha256 } from "../../contracts/canonical-json.ts";
import type { Outcome } from "../../contracts/outcome.ts";
import type { ToolCall } from "../../contracts/tools/call.ts";
import type { Attempted } from "../../loop/attempt.ts";
import type { OpenCall } from "../../loop/working.ts";
import { type Reconciled, readReconciled, type Tool } from "../tool.ts";
import { nothingLeft } from "./left-behind.ts";
import { LONGEST_PAUSE_MS, type ToolOutcome } from "./run-tool.ts";

/** A tool that says no more may take this long before it counts as given up. */
const DEFAULT_TIMEOUT_MS = 300_000;

const A_YEAR_MS = 31_536_000_000;

/** How long one attempt at a call may take. */
export function timeoutOf(tool: Tool | undefined): number {
  return tool?.timeoutMs ?? DEFAULT_TIMEOUT_MS;
}

/** How long whoever began a call may be at work on it, at most: all attempts, and the pauses between them. */
export function longestWorkOf(tool: Tool | undefined): number {
  const { attempts, backoffMs } = tool?.retry ?? { attempts: 1, backoffMs: 0 };
  const pauses = attempts - 1;
  const pausing = Math.min(backoffMs * (2 ** Math.min(pauses, 100) - 1), pauses * LONGEST_PAUSE_MS);
  return Math.min(attempts * timeoutOf(tool) + pausing, A_YEAR_MS);
}

/** The same for every attempt at this call, and for no other call of any run or fork. */
export function idempotencyKey(runKey: string, callNumber: number): string {
  return `hf_${sha256(`${runKey}\n${callNumber}`).slice(0, 40)}`;
}

/** What is known of a call that somebody began and nobody settled. */
export type Unsettled = {
  readonly tool: Tool | undefined;
  readonly call: ToolCall;
  readonly stored: StoredCall | undefined;
  readonly threadId: string;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly attempt: (call: () => unknown) => Attempted;
  /** Microseconds on the database's clock. */
  readonly now: () => Promise<number>;
  /** True when whoever began it may still be alive. */
  readonly isShared: boolean;
  /** True when it must not run again: what it did the first time is still asked for. */
  readonly isSwitchedOff?: boolean;
};

/** `arrived`: its outcome. `rerun`: with the same key. `ask_later`: after so many milliseconds. */
export type Resolution =
  | { readonly kind: "arrived"; readonly outcome: Outcome }
  | { readonly kind: "rerun"; readonly mayHaveRun: boolean }
  | { readonly kind: "ask_later"; readonly after: number }
  /** Somebody wants it to stop, or the lease is lost: nobody was told anything. */
  | { readonly kind: "cut_off" };

/** Asks the tool what came of it; without an answer an idempotent tool runs again, and any other stays unknown. */
export async function resolveUnsettled(about: Unsettled): Promise<Resolution> {
  const { tool } = about;
  // Asking somebody outside has no effect of its own: the request is stored when the call waits.
  if (tool && !tool.execute) return { kind: "rerun", mayHaveRun: false };
  if (tool?.reconcile) {
    const reconciled = await ask(tool, about);
    if (!reconciled) return { kind: "cut_off" };
    if (reconciled.status === "done") return { kind: "arrived", outcome: { returned: reconciled.result } };
    if (reconciled.status === "absent") {
      const left = await timeLeft(about);
      return left > 0 ? { kind: "ask_later", after: left } : { kind: "rerun", mayHaveRun: false };
    }
  }
  if (tool?.idempotent && !about.isSwitchedOff) return { kind: "rerun", mayHaveRun: true };
  return { kind: "arrived", outcome: { returned: unknownOutcome(about.call) } };
}

/** Undefined when it was cut off: that is no answer. */
async function ask(tool: Tool, about: Unsettled): Promise<Reconciled | undefined> {
  const asked = await about.attempt(() => reconcile(tool, about));
  if (!asked || about.signal.aborted) return undefined;
  return readReconciled("returned" in asked ? asked.returned : undefined);
}

type Asked = Pick<Unsettled, "call" | "key" | "signal" | "threadId">;

/** Asks once. An answer that does not come in time is none, and reads as unknown. */
async function reconcile(tool: Tool, { call, key, signal, threadId }: Asked): Promise<Reconciled> {
  const input = await tool.validateInput(call.parameters);
  if (!input.ok) return readReconciled(undefined);
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutOf(tool));
    timer.unref();
  });
  try {
    const about = { idempotencyKey: key, input: input.value, signal, threadId };
    return readReconciled(await Promise.race([tool.reconcile?.(about), timeUp]));
  } catch {
    return readReconciled(undefined);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * What a call has done whose time was up, if its tool says that it is done. One that is absent is not run again: its code may
 * be at work still. Nobody cuts this off, so that this process counts as at work on the call for as long as it asks.
 */
export async function askAboutLate(tool: Tool, late: ToolOutcome, about: Asked): Promise<ToolOutcome> {
  const reconciled = await reconcile(tool, about);
  return reconciled.status === "done" ? { returned: reconciled.result ?? null, left: nothingLeft } : late;
}

/** That a call is absent counts only when whoever began it cannot be about to make it. */
async function timeLeft({ stored, isShared, now }: Unsettled): Promise<number> {
  if (!isShared || !stored) return 0;
  return Math.max(0, stored.certain_at - (await now())) / 1000;
}

function unknownOutcome({ tool_name }: ToolCall) {
  const error = "The process stopped while the tool was at work; what it did is unknown.";
  return { success: false, tool_name, error, metadata: { error_type: "outcome_unknown" } };
}

/** The call that is open, as it will be run. */
export function preparedCall({ number, prepared }: OpenCall): ToolCall {
  if (!prepared.ready) throw new Error(`Call ${number} cannot have begun.`);
  return prepared.tool_call;
}
