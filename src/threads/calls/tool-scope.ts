// What the tools that come with the runtime know beside what every tool is told: kept apart from the context, which is
// everybody's.
import type { Thread } from "../../backend/thread-rows.ts";
import type { Cast } from "../cast/cast.ts";
import type { HookSet } from "../hooks/hook-set.ts";
import type { Host } from "../host.ts";
import type { StateBuffer } from "../state/state-buffer.ts";
import type { ThreadState } from "../state/thread-state.ts";
import type { ToolContext } from "../tool.ts";

export type ToolScope = {
  readonly host: Host;
  readonly thread: Thread;
  readonly cast: Cast;
  readonly buffer: StateBuffer;
  readonly state: ThreadState;
  /** The number of the run, and the id under which a result of this call is waited for. */
  readonly run: number;
  readonly requestId: string;
  /** True for a call that code makes: it may use what models are not told of. */
  readonly byCode: boolean;
  /** The message with the call, so that what one message creates can be told to belong together. */
  readonly messageId: string | null;
  readonly hooks: HookSet;
};

const scopes = new WeakMap<ToolContext, ToolScope | (() => ToolScope)>();

/** Most tools never look at the thread: what they could see of it may be made when one does. */
export function keepScope(context: ToolContext, scope: ToolScope | (() => ToolScope)): void {
  scopes.set(context, scope);
}

export function scopeOf(context: ToolContext): ToolScope {
  const kept = scopes.get(context);
  if (!kept) throw new Error("This tool runs only on a thread.");
  if (typeof kept !== "function") return kept;
  const scope = kept();
  scopes.set(context, scope);
  return scope;
}
