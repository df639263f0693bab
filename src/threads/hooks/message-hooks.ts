// The hooks around messages: those that may change one before it is stored, and those that are told once it is.
import type { Message } from "../../contracts/conversation/message.ts";
import * as message from "../../contracts/conversation/message.ts";
import { standardMessages } from "../../contracts/standard/standard-messages.ts";
import type { Batch } from "../batch.ts";
import type { HeldThread } from "../held-thread.ts";
import type { Host } from "../host.ts";
import { runState } from "../run-state.ts";
import { directBuffer } from "../state/direct-buffer.ts";
import { KeptWrites } from "../state/state-buffer.ts";
import type { ThreadRun } from "../thread-run.ts";
import { hookedMessage, rowOf } from "./hooked-message.ts";
import { runHook } from "./run-hook.ts";

/** The message as hooks want it stored. What they leave behind goes into the commit that stores it. */
export async function beforeCreate(host: Host, held: HeldThread, run: ThreadRun, given: Message): Promise<Message> {
  if (!run.hooks.has("before_create_message")) return given;
  const buffer = new KeptWrites({ hasRun: true });
  const changed = await hookedMessage(run.hooks, { host, state: runState(host, held, run, buffer) }, given);
  const { writes, entries, events } = buffer;
  run.left = {
    ...run.left,
    writes: [...run.left.writes, ...writes],
    entries: [...run.left.entries, ...entries],
    events: [...run.left.events, ...events],
  };
  return changed;
}

/** Tells of what was just committed. Nothing that a hook does changes that. */
export async function tellCreated(host: Host, held: HeldThread, run: ThreadRun, batch: Batch): Promise<void> {
  if (!run.hooks.has("after_create_message")) return;
  const from = held.nextMessage - batch.messages.length;
  const rows = batch.messages.map((row, index) => ({
    ...rowOf(message.fromStored(row.envelope), from + index),
    ...{ kind: row.kind, supersedes: row.supersedes },
  }));
  const state = runState(host, held, run, directBuffer(host, held.id));
  for (const created of standardMessages(rows)) {
    await runHook(run.hooks, "after_create_message", { host, state }, created);
  }
}
