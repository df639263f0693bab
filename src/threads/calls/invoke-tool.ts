// A tool that code runs at once: it belongs to the call, effect or request that the code runs for, and leaves no message of
// its own.

import type { Thread } from "../../backend/thread-rows.ts";
import { errorMessage } from "../../contracts/error.ts";
import { type JsonMap, snapshot } from "../../contracts/json.ts";
import { declaredName } from "../../contracts/standard/names.ts";
import { build, validateRequired } from "../../contracts/tools/parameters.ts";
import type { Cast } from "../cast/cast.ts";
import { type HookSet, noHooks } from "../hooks/hook-set.ts";
import type { Host } from "../host.ts";
import { inWords } from "../schemas/in-words.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";
import type { StateBuffer } from "../state/state-buffer.ts";
import type { ThreadState, ToolOutcomeView } from "../state/thread-state.ts";
import { traceInvoked } from "../telemetry/trace-invoked.ts";
import type { Tool, ToolContext } from "../tool.ts";
import { invocationContext } from "./invocation-context.ts";
import { invocationRefusal } from "./may-invoke.ts";
import { parameterMarks } from "./shown-outcome.ts";
import { standardResult } from "./standard-result.ts";
import { switchedOff } from "./switched-off.ts";
import { keepScope } from "./tool-scope.ts";

export type Invoking = {
  readonly host: Host;
  readonly thread: Thread;
  readonly cast: Cast;
  readonly buffer: StateBuffer;
  readonly state: ThreadState;
  readonly signal: AbortSignal;
  /** Of the call that the code runs for, and the same for every attempt at it. */
  readonly key: string;
  readonly callId?: string;
  readonly hooks?: HookSet;
  /** What it is given and gives back is the code's; nobody else is to be shown the secrets of it. */
  readonly secrets?: KnownSecrets;
};

/** Never throws: what goes wrong is what it came to. */
export async function invokeTool(within: Invoking, name: string, args: JsonMap): Promise<ToolOutcomeView> {
  const tool = within.cast.tools.get(declaredName(name)) ?? within.host.registry.tools.get(name);
  if (!tool) return { status: "error", error: `There is no tool "${name}".` };
  if (!tool.execute || within.cast.prompts.has(tool.name)) {
    return { status: "error", error: `The tool "${name}" cannot be run from code.` };
  }
  try {
    const known = await invocationContext(within);
    // As for a call of a model: what is bound to the thread counts, whatever the code passes.
    const parameters = build(args, known.context, tool.declaration);
    within.secrets?.addFrom(parameters, parameterMarks(tool.declaration));
    const { missing } = validateRequired(parameters, tool.declaration);
    if (missing.length > 0) {
      return { status: "error", error: `Tool '${name}' is missing required parameters: ${missing.join(", ")}` };
    }
    const input = await tool.validateInput(parameters);
    if (!input.ok) {
      return { status: "error", error: `The parameters of '${name}' are not valid: ${inWords(input.problems)}` };
    }
    const { host, cast } = within;
    const refusal = await invocationRefusal({ host, cast, tool }, parameters, known);
    if (refusal !== undefined) return { status: "error", error: refusal };
    const off = await host.switches.findNow("tool", tool.name);
    if (off) return { status: "error", error: switchedOff(tool.name, off) };
    const returned = await traceInvoked(within, tool.name, async () =>
      standardResult(await tool.execute?.(input.value, contextFor(within, tool))),
    );
    if (returned.success) {
      const result = snapshot(returned.result ?? null);
      within.secrets?.addFrom(result, tool.secretOutput);
      return { status: "success", result };
    }
    return { status: "error", error: returned.error };
  } catch (thrown) {
    return { status: "error", error: errorMessage(thrown) };
  }
}

/** How many tools the code has run so far. Each attempt at it writes to a buffer of its own, and counts anew. */
const invoked = new WeakMap<StateBuffer, number>();

function contextFor(within: Invoking, tool: Tool): ToolContext {
  const { host, thread, cast, buffer, state, signal, callId = "", hooks = noHooks } = within;
  const before = invoked.get(buffer) ?? 0;
  invoked.set(buffer, before + 1);
  const context: ToolContext = {
    idempotencyKey: `${within.key}:invoked:${before}`,
    signal,
    threadId: thread.id,
    callId,
    toolName: tool.name,
    attempt: 1,
    options: cast.entries.get(tool.name)?.options ?? {},
    queueMessage: (content, options) =>
      void state.queueMessage(typeof content === "string" ? content : ({ ...content, ...options } as never)),
    queueTool: (name, parameters) => void state.queueTool(name, parameters),
    state,
  };
  const of = { host, thread, cast, buffer, state, hooks };
  // Nobody can wait for it: whoever runs it wants its result at once.
  keepScope(context, { ...of, run: thread.run, requestId: "", byCode: true, messageId: null });
  return Object.freeze(context);
}
