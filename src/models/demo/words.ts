// Everything that the demo model says. Each text says first who speaks, so that nobody takes it for a real model's.
import type { ToolDeclaration, ToolMap } from "../../contracts/tools/declaration.ts";

/** With this every answer in words begins. */
export const LABEL = "Demo model:";

const ASKS = `${LABEL} to use `;

/** Asks for the parameters that the user has not given, in a form that is understood for sure. */
export function askFor(tool: ToolDeclaration, missing: readonly string[]): string {
  const form = missing.map((name) => `${name}: …`).join(", ");
  return `${ASKS}${tool.name} I need ${joined(missing)}. Please say it as "${form}".`;
}

/** True for what `askFor` has said. */
export function isQuestion(text: string): boolean {
  return text.startsWith(ASKS);
}

/** What it is and what it can do, when there is nothing to do. */
export function introduce(tools: ToolMap): string {
  const names = Object.keys(tools);
  const more = names.length > MOST_NAMES ? [`${names.length - MOST_NAMES} more`] : [];
  const can = names.length === 0 ? "have no tools here" : `can use ${joined([...names.slice(0, MOST_NAMES), ...more])}`;
  return `${LABEL} I answer offline, by simple rules, and ${can}; for a real model set HOLDFAST_MODEL=openai/gpt-5 and OPENAI_API_KEY.`;
}

const MOST_NAMES = 8;

/** What was said so far, for whoever asks for a summary of it. */
export function summarise(lines: readonly string[]): string {
  return [`${LABEL} this is what was said, each line cut to its beginning.`, ...lines].join("\n");
}

function joined(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}
