// An agent that another one may hand the thread over to: the call says so, and after the step that agent acts.
import type { Write } from "../../backend/write.ts";
import { emptyMap, isMap, type JsonMap, snapshotMap, type UnknownMap } from "../../contracts/json.ts";
import { scopeOf } from "../calls/tool-scope.ts";
import type { ResolvedEntry } from "../definitions/prompt.ts";
import type { Host } from "../host.ts";
import { type Tool, tool } from "../tool.ts";
import { startOf } from "./init-payload.ts";

/** Under this name a thread keeps what it was handed over with, sealed. */
const HANDED_OVER = "holdfast:handed_over";

/** What the agent that acts now was handed the thread with; nothing for one that was not, or without arguments. */
export async function handedOverWith({ stores, sealing }: Host, threadId: string, agent: string): Promise<JsonMap> {
  const stored = await stores.state.value(threadId, HANDED_OVER);
  if (!stored) return emptyMap;
  const kept: unknown = JSON.parse(sealing.open(JSON.parse(stored), threadId));
  return isMap(kept) && kept.agent === agent ? snapshotMap(kept.arguments) : emptyMap;
}

/** The same for a thread that begins with the history of this one. */
export async function copiedHandover({ stores, sealing }: Host, from: string, to: string): Promise<readonly Write[]> {
  const stored = await stores.state.value(from, HANDED_OVER);
  if (!stored) return [];
  const sealed = sealing.seal(sealing.open(JSON.parse(stored), from), to);
  return [{ write: "value", thread_id: to, key: HANDED_OVER, value: JSON.stringify(sealed) }];
}

export function handoffTool({ registry }: Host, { agent, init }: Extract<ResolvedEntry, { kind: "handoff" }>): Tool {
  const target = registry.agents.get(agent);
  const schema = target && registry.promptOf(target, "a")?.requiredSchema;
  return tool({
    name: agent,
    description: target?.toolDescription || target?.description || `Hands the conversation over to ${agent}.`,
    ...(schema && { inputSchema: schema.json }),
    // It only says so: the commit that takes it down hands the thread over.
    idempotent: true,
    async execute(input: UnknownMap, context) {
      const { host, buffer, state, thread } = scopeOf(context);
      const { message, attachments } = await startOf(state, init, input);
      if (message !== undefined) await state.queueMessage({ role: "user", content: message, attachments });
      const sealed = host.sealing.seal(JSON.stringify({ agent, arguments: snapshotMap(input) }), thread.id);
      await buffer.write({ write: "value", thread_id: thread.id, key: HANDED_OVER, value: JSON.stringify(sealed) });
      buffer.ask({ handoff: agent });
      return "complete";
    },
  });
}
