// A message as hooks want it stored.
import type { Message } from "../../contracts/conversation/message.ts";
import * as message from "../../contracts/conversation/message.ts";
import { standardMessages } from "../../contracts/standard/standard-messages.ts";
import type { HookSet } from "./hook-set.ts";
import { type HookScope, runHook } from "./run-hook.ts";

/** They may change its words, and whether people are shown it; who wrote it stands. */
export async function hookedMessage(hooks: HookSet, scope: HookScope, given: Message): Promise<Message> {
  if (!hooks.has("before_create_message")) return given;
  const [shown] = standardMessages([rowOf(given, 0)]);
  if (!shown) return given;
  const outcome = await runHook(hooks, "before_create_message", scope, shown);
  const changed = "value" in outcome ? outcome.value : shown;
  if (changed.content === shown.content && changed.silent === shown.silent) return given;
  const { silent: _silent, ...metadata } = given.metadata;
  return message.normalize({
    ...given,
    content: changed.content,
    metadata: { ...metadata, ...(changed.silent && { silent: true }) },
  });
}

/** A row that is not stored yet. */
export function rowOf(envelope: Message, seq: number) {
  const place = { at: 0, depth: 0, parent_seq: null, step: 0, run: 0 };
  return { seq, kind: "message" as const, supersedes: null, envelope, ...place };
}
