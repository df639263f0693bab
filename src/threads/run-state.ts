// The state of a thread for code that runs within a run of it: tools, and the hooks around them.
import { type JsonMap, snapshotMap } from "../contracts/json.ts";
import { standardMessages } from "../contracts/standard/standard-messages.ts";
import { type Invoking, invokeTool } from "./calls/invoke-tool.ts";
import { idempotencyKey } from "./calls/ledger.ts";
import type { HeldThread } from "./held-thread.ts";
import type { Host } from "./host.ts";
import { keepSecrets } from "./secrets/state-secrets.ts";
import { createThreadState } from "./state/create-thread-state.ts";
import type { StateBuffer } from "./state/state-buffer.ts";
import type { Execution, ThreadState } from "./state/thread-state.ts";
import type { ThreadRun } from "./thread-run.ts";
import type { Tool } from "./tool.ts";

/** `tool`: the one that the state is for, if it is a tool's. */
export function runState(host: Host, held: HeldThread, run: ThreadRun, buffer: StateBuffer, tool?: Tool): ThreadState {
  const { agent, prompt, entries } = run.cast;
  const entry = tool && entries.get(tool.name);
  const state: ThreadState = createThreadState(host, {
    thread: held.thread,
    arguments: () => argumentsOf(host, held),
    buffer,
    execution: executionOf(held, run, buffer),
    agent,
    hooks: run.hooks,
    promptEnv: prompt.env,
    ...(tool && { tool: { name: tool.name, uses: tool.uses, env: entry?.env ?? {} } }),
    invoke: (name, args) => invokeTool(invoking(), name, args),
    onSecret: (value) => run.known.add(value),
    context: run.context,
  });
  keepSecrets(state, () => run.secrets);
  return state;

  function invoking(): Invoking {
    const { id = "", number = 0 } = run.working.call ?? {};
    const key = idempotencyKey(held.state?.key ?? "", number);
    const { thread } = held;
    const { signal } = run.abort;
    const { cast, hooks, secrets } = run;
    return { host, thread, cast, buffer, state, signal, key, callId: id, hooks, secrets };
  }
}

/** What the thread was created with, unsealed. */
function argumentsOf({ sealing }: Host, { id, loaded }: HeldThread): JsonMap {
  return loaded.arguments === null ? {} : snapshotMap(JSON.parse(sealing.open(loaded.arguments, id)));
}

function executionOf(held: HeldThread, run: ThreadRun, buffer: StateBuffer): Execution {
  const standing = () => held.state?.standing;
  return {
    flowId: `${held.id}:${held.run}`,
    currentSide: run.cast.side,
    get stepCount() {
      const { a = 0, b = 0 } = standing()?.steps ?? {};
      return a + b;
    },
    get sideAStepCount() {
      return standing()?.steps.a ?? 0;
    },
    get sideBStepCount() {
      return standing()?.steps.b ?? 0;
    },
    get stopped() {
      return run.abort.signal.aborted || standing()?.control.stop === true;
    },
    get stoppedBy() {
      return run.abort.signal.aborted ? "user" : standing()?.control.stop ? "code" : null;
    },
    get messageHistory() {
      return standardMessages(
        run.working.transcript.map((envelope, index) => ({
          ...{ seq: held.seqs[index] ?? index, kind: "message", supersedes: null, envelope },
          ...{ at: 0, depth: 0, parent_seq: null, step: 0, run: held.run },
        })),
      );
    },
    promptPath: [promptOf(run), ...(held.state?.frames ?? []).map(({ prompt }) => prompt)],
    abortSignal: run.abort.signal,
    forceTurn: (side) => buffer.ask({ force: side }),
    stop: () => buffer.ask({ stop: true }),
  };
}

/** The prompt of the side, whichever it uses as a tool just now. */
function promptOf({ cast: { definition, prompt } }: ThreadRun): string {
  const { backing } = definition;
  if (backing.kind !== "prompt") return prompt.name;
  return typeof backing.prompt === "string" ? backing.prompt : backing.prompt.name;
}
