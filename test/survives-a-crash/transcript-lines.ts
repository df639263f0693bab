// A transcript as lines that can be compared: who said what, which tool was called, what came of it.
import type { Message } from "../../src/contracts/conversation/message.ts";
import { isMap } from "../../src/contracts/json.ts";
import type { DeeperMessage } from "../../src/testing/deeper-messages.ts";
import { withoutIds } from "../../src/testing/without-ids.ts";
import type { ThreadMessage } from "../../src/threads/thread.ts";
import type { Line } from "./scenario.ts";

/** What stands deeper than the conversation itself has `> ` before it. */
export function transcriptLines(messages: readonly (ThreadMessage | DeeperMessage)[]): readonly string[] {
  const inOrder = messages.toSorted((one, other) => one.seq - other.seq);
  return inOrder.map(
    ({ message, ...about }) => `${"depth" in about ? "> ".repeat(about.depth) : ""}${lineOf(message)}`,
  );
}

function lineOf({ type, role, content, payload }: Message): string {
  const tool = String(payload.tool_name ?? "");
  if (type === "tool_call") return `call ${tool}`;
  if (type === "tool_result") return `result ${tool}: ${outcomeOf(payload)}`;
  return withoutIds(type === "text" ? `${role}: ${content}` : `${type}: ${content}`);
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
