// Tools that code has run: queued behind the calls that are open, or at once.
import { holdfastError } from "../../contracts/error.ts";
import { snapshotMap } from "../../contracts/json.ts";
import { checkName } from "../check-arguments.ts";
import type { Host } from "../host.ts";
import { createEntry } from "../new-entry.ts";
import { requireLive } from "./require-live.ts";
import type { StateScope } from "./state-scope.ts";
import type { ThreadState, ToolOutcomeView } from "./thread-state.ts";

type ToolState = Pick<ThreadState, "queueTool" | "invokeTool">;

export function toolState(host: Host, scope: StateScope): ToolState {
  const { buffer, thread, tool, invoke, execution } = scope;

  /** What is wrong with a tool that this one may not use; undefined when it may. */
  function refusal(name: string): string | undefined {
    if (!tool?.uses || tool.uses.some((allowed) => plain(allowed) === plain(name))) return undefined;
    return `The tool "${tool.name}" may not use "${name}".`;
  }

  return {
    async queueTool(name, args = {}) {
      checkName("name", name);
      const refused = refusal(name);
      if (refused !== undefined) throw holdfastError("tool_not_allowed", refused);
      await requireLive(host, scope);
      const { sealing } = host;
      await buffer.leave(createEntry.queuedTool(name, args, { sealing, threadId: thread.id }));
    },
    async invokeTool(name, args = {}) {
      checkName("name", name);
      const refused = refusal(name);
      if (refused !== undefined) return { status: "error", error: refused };
      await requireLive(host, scope);
      if (!invoke) return { status: "error", error: "No tool can be invoked here." };
      const outcome = await invoke(name, snapshotMap(args));
      if (execution === null) await buffer.leave(createEntry.injected(invocation(name, outcome), {}));
      return outcome;
    },
  };
}

/** A tool with a plain name is declared within a namespace of its own; code may call it by either. */
function plain(name: string): string {
  return name.startsWith("standard/") ? name.slice("standard/".length) : name;
}

/** Outside of a run nothing else would tell that the tool ran. What it was given and said may be secret, and is left out. */
function invocation(name: string, { status }: ToolOutcomeView) {
  const metadata = { silent: true, status_kind: "runtime_tool_invocation", tool_name: name, tool_status: status };
  return { role: "system", content: `The tool "${name}" was run by code: ${status}.`, metadata };
}
