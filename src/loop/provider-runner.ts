// A provider adapter in the place of a turn runner: builds its request each turn and reads its answer.
import * as message from "../contracts/conversation/message.ts";
import * as providerTurn from "../contracts/conversation/provider-turn.ts";
import { type JsonMap, seal, snapshotMap } from "../contracts/json.ts";
import type { ConfiguredRun } from "./configure.ts";
import type { EffectOrder } from "./next.ts";
import type { ProviderTurnAdapter, RunOptions } from "./options.ts";

type ModelOrder = Extract<EffectOrder, { kind: "call_model" }>;

/** Runs one turn through the adapter. An answer that is no provider turn result throws, like an adapter that throws. */
export async function runProviderTurn(
  adapter: ProviderTurnAdapter,
  order: ModelOrder,
  run: ConfiguredRun,
  options: RunOptions,
): Promise<JsonMap> {
  const { onProviderDelta, signal } = options;
  const request = providerTurn.request({
    messages: order.messages,
    tool_declarations: order.tools,
    model: completed(options.model, order.context, ["provider_id", "model_id", "temperature"]),
    runtime: completed(options.runtime, order.context, ["runtime_id", "runtime_context", "request_kind"]),
    context: order.context,
    budgets: limits(order.budgets),
    run_id: run.runId,
    session_id: run.sessionId,
    metadata: run.request.metadata,
    ...(run.structuredOutput && { structured_output: run.structuredOutput }),
  });
  const answered = await adapter(request, {
    ...(onProviderDelta && { onDelta: onProviderDelta }),
    ...(signal && { signal }),
  });
  const { message: own, ...answer } = providerTurn.result(answered);
  const content = answer.content || textOf(own);
  if (run.config.mediates) return seal({ ...answer, content }) as JsonMap;
  return unmediated(order.messages, own, content, answer);
}

/** Without tools to run, the adapter's words become the transcript themselves. */
function unmediated(
  messages: message.Message[],
  own: message.Message | null,
  content: string,
  answer: Omit<providerTurn.ProviderTurnResult, "message">,
): JsonMap {
  const { continuation_messages, tool_calls: _ignored, ...rest } = answer;
  const said = own ?? (content === "" ? undefined : message.text("assistant", content));
  const events = continuation_messages.map(({ role }) => ({ type: "continuation_message_added", metadata: { role } }));
  return { ...rest, content, messages: [...messages, ...(said ? [said] : []), ...continuation_messages], events };
}

function limits(budgets: ModelOrder["budgets"]): JsonMap {
  const { values, fromEntries } = Object;
  return fromEntries(values(budgets).map(({ name, current, ceiling }) => [name, { current, limit: ceiling }]));
}

function completed(given: unknown, context: JsonMap, keys: readonly string[]): JsonMap {
  const own = snapshotMap(given);
  const fromContext: Record<string, JsonMap[string]> = {};
  for (const key of keys) {
    const value = context[key];
    if (own[key] === undefined && value !== undefined) fromContext[key] = value;
  }
  return { ...own, ...fromContext };
}

function textOf(own: message.Message | null): string {
  return typeof own?.content === "string" ? own.content : "";
}
