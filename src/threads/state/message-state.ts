// The messages of a thread, as its state offers them.
import { holdfastError } from "../../contracts/error.ts";
import { isMap, type Json, type JsonMap } from "../../contracts/json.ts";
import { selectMessages } from "../../contracts/standard/standard-messages.ts";
import { checkText } from "../check-arguments.ts";
import { type HookSet, hooksFor, noHooks } from "../hooks/hook-set.ts";
import { hookedMessage } from "../hooks/hooked-message.ts";
import { runHook } from "../hooks/run-hook.ts";
import type { Host } from "../host.ts";
import { readLogs } from "../logs/logs.ts";
import { createEntry, readMessage } from "../new-entry.ts";
import type { MessageInput } from "../tool.ts";
import { deleteMessage, updateMessage } from "./change-message.ts";
import { messageAttachments } from "./message-attachments.ts";
import { listMessages } from "./message-rows.ts";
import { requireLive } from "./require-live.ts";
import type { StateScope } from "./state-scope.ts";
import type { StateMessageInput, ThreadState } from "./thread-state.ts";

type MessageState = Pick<
  ThreadState,
  "getMessages" | "getMessage" | "injectMessage" | "queueMessage" | "updateMessage" | "deleteMessage" | "getLogs"
>;

export function messageState(host: Host, scope: StateScope, state: () => ThreadState): MessageState {
  const { buffer, thread } = scope;

  function hooks(): HookSet {
    const { agent } = scope;
    if (scope.hooks || !agent) return scope.hooks ?? noHooks;
    return hooksFor(host.registry, { agent: agent.hooks, prompt: host.registry.promptOf(agent, "a")?.hooks ?? [] });
  }

  /** The message as it is stored, once its files are. */
  async function prepared(given: string | StateMessageInput): Promise<MessageInput> {
    const input: StateMessageInput = typeof given === "string" ? { content: given } : given;
    const role = checkInput(input);
    await requireLive(host, scope);
    const { attachments, writes } = await messageAttachments(host, scope, input.attachments ?? []);
    if (writes.length > 0) await buffer.write(...writes);
    const metadata: JsonMap = {
      ...input.metadata,
      ...(input.silent === true && { silent: true }),
      ...(attachments.length > 0 && { attachments: attachments as readonly Json[] }),
      ...(scope.effect && { scheduledEffect: { id: scope.effect.id, name: scope.effect.name } }),
    };
    return { role, content: input.content, metadata };
  }

  return {
    async getMessages(query = {}) {
      return selectMessages(await listMessages(host, scope), query);
    },
    async getMessage(id) {
      return (await listMessages(host, scope)).find((each) => each.id === id) ?? null;
    },
    async injectMessage(given) {
      const injected = readMessage(await prepared(given));
      const entry = createEntry.injected(
        await hookedMessage(hooks(), { host, state: state(), throws: true }, injected),
        {},
      );
      await buffer.leave(entry);
      return { id: entry.id };
    },
    async queueMessage(given) {
      const entry = createEntry.queuedMessage(await prepared(given), {});
      await buffer.leave(entry);
      return { id: entry.id };
    },
    async updateMessage(id, updates) {
      const set = hooks();
      if (set.size === 0) return await updateMessage(host, scope, id, updates);
      const about = { host, state: state() };
      if (!(await about.state.getMessage(id))) return false;
      const changed = await runHook(set, "before_update_message", about, id, updates);
      const isUpdated = await updateMessage(host, scope, id, "value" in changed ? changed.value : updates);
      const updated = isUpdated && (await about.state.getMessage(id));
      if (updated) await runHook(set, "after_update_message", about, updated);
      return isUpdated;
    },
    deleteMessage: (id) => deleteMessage(host, scope, id),
    getLogs: (query = {}) => readLogs(host, thread.id, query),
  };
}

const roles: readonly unknown[] = ["user", "assistant", "system"];

/** The role; throws `invalid_argument` for what no message may be. */
function checkInput(input: StateMessageInput): string {
  if (!isMap(input)) throw holdfastError("invalid_argument", "message must be a text or a map.");
  const { role = "user", content, attachments } = input;
  if (!roles.includes(role)) throw holdfastError("invalid_argument", "role must be user, assistant or system.");
  checkText("content", content);
  if (attachments !== undefined && !Array.isArray(attachments)) {
    throw holdfastError("invalid_argument", "attachments must be a list.");
  }
  return role;
}
