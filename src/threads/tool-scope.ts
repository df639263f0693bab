// What the tools that come with the runtime know beside what every tool is told: kept apart from the context, which is
// everybody's.
import type { Thread } from "../backend/thread-store.ts";
import type { Cast } from "./cast.ts";
import type { HookSet } from "./hook-set.ts";
import type { Host } from "./host.ts";
import type { StateBuffer } from "./state/state-buffer.ts";
import type { ThreadState } from "./state/thread-state.ts";
import type { ToolContext } from "./tool.ts";

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

const scopes = new WeakMap<ToolContext, ToolScope>();

export function keepScope(context: ToolContext, scope: ToolScope): void {
  scopes.set(context, scope);
}

export function scopeOf(context: ToolContext): ToolScope {
  const scope = scopes.get(context);
  if (!scope) throw new Error("This tool runs only on a thread.");
  return scope;
}
