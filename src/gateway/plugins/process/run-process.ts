// Runs a plugin process once: one text on stdin, what it prints up to a limit, and an end in every case.
//
// The process ends with its own exit, whatever its children still hold open: their output is read for a short moment
// more, then the rest of the group is killed. A child that left the group (setsid) is not found.
import { errorMessage } from "../../../contracts/error.ts";
import { boundedOutput } from "./bounded-output.ts";
import { signalGroup, trackGroup, untrackGroup } from "./process-group.ts";
import { type RunningProcess, type StartOptions, startProcess } from "./start-process.ts";

export const STDOUT_LIMIT = 10 * 1024 * 1024;
export const STDERR_LIMIT = 64 * 1024;
/** Between SIGTERM and SIGKILL. */
export const GRACE_MS = 5_000;
/** How long the output of children is awaited after the exit of the plugin itself. */
export const DRAIN_MS = 250;

/** Calls back once after the time, unless the function it returned was called before. */
export type After = (ms: number, callback: () => void) => () => void;

export type ProcessOptions = StartOptions & {
  readonly timeoutMs: number;
  /** Kills the group at once. */
  readonly signal: AbortSignal;
  readonly after?: After;
  readonly onSpawned?: () => void;
};

export type ProcessEnd = {
  /** `timed_out` also when it exited after SIGTERM; `overflowed` when it was killed because stdout exceeded the limit. */
  readonly kind: "exited" | "timed_out" | "aborted" | "overflowed" | "not_started";
  /** Null when a signal ended it, or no exit was seen. */
  readonly exitCode: number | null;
  /** Why it did not start; otherwise empty. */
  readonly error: string;
  readonly stdout: Uint8Array;
  readonly stderr: string;
};

/** Never rejects: that a program cannot be started is an end too. */
export async function runProcess(options: ProcessOptions): Promise<ProcessEnd> {
  const nothing = { exitCode: null, stdout: new Uint8Array(0), stderr: "" };
  if (options.signal.aborted) return { ...nothing, kind: "aborted", error: "" };
  try {
    const running = await startProcess(options);
    options.onSpawned?.();
    return await supervise(running, options);
  } catch (thrown) {
    return { ...nothing, kind: "not_started", error: errorMessage(thrown) };
  }
}

function supervise(running: RunningProcess, options: ProcessOptions): Promise<ProcessEnd> {
  const { pid, stdout, stderr } = running;
  const { signal, after = afterTimeout } = options;
  const printed = boundedOutput(STDOUT_LIMIT);
  const noise = boundedOutput(STDERR_LIMIT);
  const timers = new Set<() => void>();
  let verdict: "timed_out" | "aborted" | "overflowed" | undefined;
  let exit: { readonly code: number | null; readonly leavesOthers: boolean } | undefined;
  let isSettled = false;

  trackGroup(pid);
  return new Promise((resolve) => {
    running.onExit(onExit);
    stdout.on("data", onStdout).once("close", onClose);
    stderr.on("data", (chunk: Uint8Array) => void noise.add(chunk)).once("close", onClose);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    wait(options.timeoutMs, onDeadline);

    function onStdout(chunk: Uint8Array): void {
      if (printed.add(chunk)) return;
      stdout.destroy();
      if (!verdict) kill("overflowed");
    }

    function onDeadline(): void {
      // A process that has exited already, though the event loop has not said so yet, has completed in time.
      afterPolling(() => {
        if (exit || verdict) return;
        verdict = "timed_out";
        signalGroup(pid, "SIGTERM");
        wait(GRACE_MS, () => kill("timed_out"));
      });
    }

    function onAbort(): void {
      kill("aborted");
    }

    function kill(reason: NonNullable<typeof verdict>): void {
      verdict = reason;
      if (exit) {
        settle();
        return;
      }
      signalGroup(pid, "SIGKILL");
      // A process that does not end even so hangs in the kernel, or runs as another user.
      wait(GRACE_MS, settle);
    }

    function onExit(code: number | null): void {
      exit = { code, leavesOthers: signalGroup(pid, 0) };
      clearTimers();
      if (verdict === "timed_out") signalGroup(pid, "SIGKILL");
      if (verdict === "aborted" || verdict === "overflowed") settle();
      else if (stdout.closed && stderr.closed) settle();
      else wait(DRAIN_MS, drain);
    }

    /** Settles when nothing is left to read; what a child that escaped goes on to print ends at the limit of stdout. */
    function drain(): void {
      const size = printed.size();
      afterPolling(() => (printed.size() === size ? settle() : drain()));
    }

    function onClose(): void {
      if (exit && stdout.closed && stderr.closed) settle();
    }

    function settle(): void {
      if (isSettled) return;
      isSettled = true;
      clearTimers();
      signal.removeEventListener("abort", onAbort);
      // An empty group is never signalled later on: its number may be another's by then.
      if (!exit || exit.leavesOthers) signalGroup(pid, "SIGKILL");
      untrackGroup(pid);
      running.release();
      const kind = verdict ?? "exited";
      resolve({ kind, exitCode: exit?.code ?? null, error: "", stdout: printed.bytes(), stderr: noise.text() });
    }
  });

  function wait(ms: number, callback: () => void): void {
    timers.add(after(ms, callback));
  }

  function clearTimers(): void {
    for (const cancel of timers) cancel();
    timers.clear();
  }
}

/** Calls back when the event loop has polled at least once: what had happened before has been handled. */
function afterPolling(callback: () => void): void {
  setImmediate(() => setImmediate(callback));
}

/** Longer timers would go off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function afterTimeout(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, Math.min(ms, LONGEST_TIMER_MS));
  return () => clearTimeout(timer);
}
