// How the tour looks in a terminal: 90 columns, and colour only where the terminal wants it (NO_COLOR is respected).
import { styleText } from "node:util";
import type { ConversationResult, Message } from "holdfast";

const WIDTH = 90;
const LABEL = 12;

export function heading(text: string): void {
  console.log(`\n${styleText("bold", text)}`);
}

export function paragraph(text: string): void {
  for (const line of wrap(text, WIDTH)) console.log(line);
}

/** A line with something at its left margin; what does not fit goes on below, in the same column. */
export function labelled(label: string, text: string): void {
  const [first = "", ...rest] = wrap(text, WIDTH - LABEL - 2);
  console.log(`  ${styleText("cyan", label.padEnd(LABEL))}${first}`);
  for (const line of rest) console.log(`${" ".repeat(LABEL + 2)}${line}`);
}

export function transcript(messages: readonly Message[]): void {
  for (const { type, role, content, payload, metadata } of messages) {
    if (type === "tool_call") labelled("model", `calls ${payload.tool_name} ${JSON.stringify(payload.parameters)}`);
    else if (type === "tool_result") labelled(String(payload.tool_name), String(content));
    else if (type === "approval_required") labelled("to approve", String(content));
    else if (metadata.type === "run_stopped") labelled("caller", String(content));
    else labelled(role === "assistant" ? "model" : "customer", String(content));
  }
}

export function outcome({ run_outcome, budget }: ConversationResult): void {
  const which = budget === undefined ? "" : ` (${budget})`;
  labelled("result", styleText("green", `${run_outcome.status}${which}`));
}

/** The trace that may be shown to anybody: who called what and how it ended, with a hash in place of every value. */
export function auditTrail({ tool_audit_events }: ConversationResult): void {
  for (const { tool_name, success, error_type, parameters_sha256 } of tool_audit_events) {
    labelled(
      "audit",
      `${tool_name} ${success ? "success" : error_type}, parameters ${parameters_sha256.slice(0, 19)}…`,
    );
  }
}

function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line === "") lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
