// Announces a run to run control, and tells it how the run ended: only a run that was begun here is finished here.
import type { Run, RunStatus } from "../contracts/conversation/run-control.ts";
import { snapshot } from "../contracts/json.ts";
import { isOperationError, type OperationError } from "../contracts/operation-error.ts";
import { attempt, attemptLast } from "./attempt.ts";
import type { ConfiguredRun } from "./configure.ts";
import { wordsAndCode } from "./failure.ts";
import type { RunOptions } from "./options.ts";

/** A run that may go on, or why it may not. Without run control, a run id or a session there is nobody to ask. */
export type Begun =
  | { readonly kind: "begun"; finish(status: RunStatus): Promise<void> }
  | { readonly kind: "stopped" }
  | { readonly kind: "refused"; readonly message: string; readonly code: string };

/** Starts the run. One that starts only after the caller has stopped it is finished as interrupted. */
export async function beginRun(run: ConfiguredRun, options: RunOptions): Promise<Begun> {
  const { runControl, signal } = options;
  const { runId: run_id, sessionId: session_id } = run;
  if (signal?.aborted) return { kind: "stopped" };
  if (!runControl || run_id === "" || session_id === "") return { kind: "begun", finish: async () => undefined };
  const finish = (status: RunStatus) => attemptLast(() => runControl.finish(run_id, status), signal);
  const metadata = { source: "conversation_loop" };
  let starting: Promise<Run | OperationError> | undefined;
  const started = await attempt(() => {
    starting = runControl.start({ run_id, session_id, metadata });
    return starting;
  }, signal);
  if (!started) {
    finishLater(starting, () => finish("interrupted"));
    return { kind: "stopped" };
  }
  const refusal = refusalOf(started);
  return refusal ? { kind: "refused", ...wordsAndCode(refusal) } : { kind: "begun", finish };
}

/** What was thrown or returned in place of a run. An answer that cannot even be read is taken as a refusal. */
function refusalOf(started: { returned: unknown } | { threw: unknown }): unknown {
  if ("threw" in started) return started.threw ?? new Error("It was refused without a reason.");
  try {
    const answer = snapshot(started.returned);
    return isOperationError(answer) ? answer : undefined;
  } catch (thrown) {
    return thrown;
  }
}

function finishLater(starting: Promise<Run | OperationError> | undefined, finish: () => Promise<void>): void {
  Promise.resolve(starting).then(
    (answer) => (answer === undefined || isOperationError(answer) ? undefined : finish()),
    () => undefined,
  );
}
