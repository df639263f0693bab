// The Markdown files of a workspace: what a run knows, written so that people and planners can read it.
import { isMap, type Json, type JsonMap } from "../../../contracts/json.ts";
import type { Action, Frame } from "../planner/planner.ts";

/** `memory.md`: the definition of done, what was learned and where the run stands. */
export type Memory = {
  readonly todo: readonly string[];
  readonly evidence: readonly string[];
  readonly notes: string;
  readonly learned: readonly { readonly step: number; readonly fact: string }[];
  readonly status: string;
};

const MOST_FACTS = 100;
const MOST_ITEMS = 100;
const LONGEST_FACT = 500;
const LONGEST_TEXT = 8_000;

export function renderContext(goal: string, context: JsonMap): string {
  const entries = Object.entries(context).map(([key, value]) => `- ${oneLine(key)}: ${oneLine(shown(value))}`);
  const lines = ["# Goal", "", goal, ...(entries.length > 0 ? ["", "# Context", "", ...entries] : [])];
  return `${lines.join("\n")}\n`;
}

export function framedMemory(memory: Memory, frame: Frame): Memory {
  return { ...memory, todo: frame.todo, evidence: frame.evidence, notes: frame.notes };
}

/** The memory with what a step has taught. Facts of the same step are replaced: the turn may be a repeated one. */
export function learnedMemory(memory: Memory, step: number, facts: readonly string[], status: string): Memory {
  const learned = [...learnedBefore(memory, step).learned, ...facts.map((fact) => ({ step, fact }))];
  return { ...memory, learned: learned.slice(-MOST_FACTS), status };
}

/** The memory as it was before a step was judged. */
export function learnedBefore(memory: Memory, step: number): Memory {
  return { ...memory, learned: memory.learned.filter((each) => each.step < step) };
}

export function renderMemory({ todo, evidence, notes, learned, status }: Memory): string {
  return sections("# Memory", [
    ["Definition of done", todo.slice(0, MOST_ITEMS).map((item) => `- [ ] ${clipped(item, LONGEST_FACT)}`)],
    ["Evidence", evidence.slice(0, MOST_ITEMS).map((item) => `- ${clipped(item, LONGEST_FACT)}`)],
    ["Notes", paragraph(notes)],
    ["Learned", learned.map(({ step, fact }) => `- (step ${step}) ${clipped(fact, LONGEST_FACT)}`)],
    ["Status", paragraph(status)],
  ]);
}

export const emptyMemory: Memory = { todo: [], evidence: [], notes: "", learned: [], status: "" };

/** Reads what `renderMemory` wrote; lines that it would not have written are passed over. */
export function parseMemory(text: string): Memory {
  const parts = new Map<string, string[]>();
  let lines: string[] = [];
  for (const line of text.split("\n")) {
    if (!line.startsWith("## ")) {
      lines.push(line);
      continue;
    }
    lines = [];
    parts.set(line.slice(3).trim(), lines);
  }
  const part = (name: string) => parts.get(name) ?? [];
  const items = (name: string, mark: string) =>
    part(name).flatMap((line) => (line.startsWith(mark) ? [line.slice(mark.length)] : []));
  const learned = part("Learned").flatMap((line) => {
    const [, step, fact = ""] = /^- \(step (\d{1,6})\) (.*)$/.exec(line) ?? [];
    return step === undefined ? [] : [{ step: Number(step), fact }];
  });
  return {
    todo: items("Definition of done", "- [ ] "),
    evidence: items("Evidence", "- "),
    notes: part("Notes").join(" ").trim(),
    learned,
    status: part("Status").join(" ").trim(),
  };
}

/** `plan.md`: the steps ahead, exactly one next action, and why. */
export function renderPlan(step: number, steps: readonly string[], action: Action): string {
  const { tool, tool_command, tool_payload, rationale } = action;
  return sections("# Plan", [
    ["Steps", steps.slice(0, MOST_ITEMS).map((each, index) => `${index + 1}. ${clipped(each, LONGEST_FACT)}`)],
    [
      `Next action (step ${step})`,
      [
        `- tool: ${oneLine(tool)}`,
        ...(tool_command === null ? [] : [`- command: ${oneLine(tool_command)}`]),
        `- payload: ${clipped(shown(tool_payload), LONGEST_TEXT)}`,
      ],
    ],
    ["Rationale", paragraph(rationale)],
  ]);
}

/** The plan if its next action is that of the step; a turn that was not committed may have left the next one's. */
export function planOfStep(text: string, step: number): string {
  return text.includes(`\n## Next action (step ${step})\n`) ? text : "";
}

function sections(title: string, parts: readonly (readonly [string, readonly string[]])[]): string {
  const filled = parts.filter(([, lines]) => lines.length > 0);
  return `${[title, ...filled.map(([name, lines]) => `## ${name}\n\n${lines.join("\n")}`)].join("\n\n")}\n`;
}

function paragraph(text: string): readonly string[] {
  const line = clipped(text, LONGEST_TEXT);
  return line === "" ? [] : [line];
}

function clipped(text: string, longest: number): string {
  const line = oneLine(text);
  return line.length > longest ? `${line.slice(0, longest).toWellFormed()}…` : line;
}

/** What stands in one line cannot begin a section of its own. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function shown(value: Json): string {
  return typeof value === "string"
    ? value
    : isMap(value) || Array.isArray(value)
      ? JSON.stringify(value)
      : String(value);
}
