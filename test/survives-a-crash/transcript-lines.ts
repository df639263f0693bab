// A transcript as lines that can be compared: who said what, which tool was called, what came of it.
import type { Message } from "../../src/contracts/conversation/message.ts";
import { isMap } from "../../src/contracts/json.ts";
import type { ThreadMessage } from "../../src/threads/thread.ts";
import type { Line } from "./scenario.ts";

export function transcriptLines(messages: readonly ThreadMessage[]): readonly string[] {
  return messages.map(({ message }) => lineOf(message));
}

function lineOf({ type, role, content, payload }: Message): string {
  const tool = String(payload.tool_name ?? "");
  if (type === "tool_call") return `call ${tool}`;
  if (type === "tool_result") return `result ${tool}: ${outcomeOf(payload)}`;
  return type === "text" ? `${role}: ${content}` : `${type}: ${content}`;
}

function outcomeOf({ success, metadata }: Message["payload"]): string {
  if (success === true) return "success";
  return isMap(metadata) ? String(metadata.error_type ?? "error") : "error";
}

/** What is wrong with the lines, if anything. */
export function differences(lines: readonly string[], wanted: readonly Line[]): readonly string[] {
  let at = 0;
  for (const line of wanted) {
    const isOptional = typeof line === "object" && "maybe" in line;
    const pattern = isOptional ? line.maybe : line;
    if (fits(lines[at], pattern)) at++;
    else if (!isOptional) return [`message ${at} is "${lines[at]}" instead of "${pattern}": ${lines.join(" | ")}`];
  }
  return at === lines.length ? [] : [`there are ${lines.length - at} messages too many: ${lines.join(" | ")}`];
}

function fits(line: string | undefined, pattern: string | RegExp): boolean {
  if (line === undefined) return false;
  return typeof pattern === "string" ? line === pattern : pattern.test(line);
}
