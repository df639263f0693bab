// The messages of a thread as its state lists them, a line each.
import type { StandardMessage } from "../../src/contracts/standard/standard-message.ts";
import type { MessageQuery } from "../../src/threads/state/thread-state.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";

export async function stored(thread: ThreadHandle, query: MessageQuery = {}): Promise<readonly StandardMessage[]> {
  return (await (await thread.state()).getMessages({ limit: 10_000, ...query })).messages;
}

/** Who said what, which tools were called with it, and what came of them. */
export async function listed(thread: ThreadHandle, query: MessageQuery = {}): Promise<readonly string[]> {
  return (await stored(thread, query)).map(inOneLine);
}

export function inOneLine({ role, content, tool_calls, tool_status, name }: StandardMessage): string {
  const calls = (tool_calls ?? []).map((call) => ` [${call.function.name}]`).join("");
  return role === "tool" ? `${tool_status} ${name}: ${content}` : `${role}: ${content}${calls}`;
}
