// What a call came to for which a prompt spoke: its words, what it called and whether all of that succeeded.
import { nonEmptyString } from "../coerce.ts";
import type { Message } from "../conversation/message.ts";
import { attachmentsIn } from "./attachment.ts";
import { contentText } from "./content-text.ts";
import { matchCalls, NUDGE } from "./pair-calls.ts";
import type { Attachment } from "./standard-message.ts";

/** How much of it whoever called the prompt is told. */
export type SubPromptUse = {
  readonly includeTextResponse: boolean;
  readonly includeToolCalls: boolean;
  readonly includeErrors: boolean;
};

type InnerCall = {
  readonly name: string;
  readonly parameters: string;
  readonly succeeded: boolean;
  readonly text: string;
};

/** One call that failed makes the whole fail. The files that the prompt gave along come with the result. */
export function subPromptResult(
  inner: readonly Message[],
  uses: SubPromptUse,
): { readonly success: boolean; readonly text: string; readonly attachments: readonly Attachment[] } {
  const said = inner.filter(isSaid);
  const calls = innerCalls(inner);
  const success = calls.every(({ succeeded }) => succeeded);
  const text = success ? successText(said, calls, uses) : failureText(calls, uses);
  return { success, text, attachments: said.flatMap(({ metadata }) => attachmentsIn(metadata)) };
}

function isSaid({ type, role, metadata }: Message): boolean {
  const isSpoken = type === "text" || type === "multimodal_part" || type === "final_result";
  return isSpoken && role === "assistant" && metadata.type !== NUDGE;
}

function innerCalls(inner: readonly Message[]): readonly InnerCall[] {
  const { answersOf } = matchCalls(inner);
  return inner.flatMap(({ type, payload }, index) => {
    if (type !== "tool_call") return [];
    const answers = (answersOf.get(index) ?? []).map((answer) => inner[answer]);
    const result = answers.find((answer) => answer?.type === "tool_result");
    if (result?.metadata.removed === true) return [];
    return [
      {
        name: nonEmptyString(payload.tool_name) ?? "a tool",
        parameters: JSON.stringify(payload.parameters ?? {}),
        succeeded: result !== undefined && result.payload.success !== false,
        text: result ? contentText(result.content) : "There is no result of this call.",
      },
    ];
  });
}

function successText(said: readonly Message[], calls: readonly InnerCall[], uses: SubPromptUse): string {
  const words = uses.includeTextResponse ? said.map(({ content }) => contentText(content).trim()) : [];
  const lines = calls.map(({ name, parameters, text }) => `- ${name}(${parameters}): ${text}`);
  const called = uses.includeToolCalls && lines.length > 0 ? ["Calls and their results:", ...lines].join("\n") : "";
  return [...words, called].filter((part) => part !== "").join("\n\n") || "The prompt was carried out.";
}

function failureText(calls: readonly InnerCall[], uses: SubPromptUse): string {
  const failed = calls.filter(({ succeeded }) => !succeeded).map(({ name, text }) => `- ${name}: ${text}`);
  const others = calls.filter(({ succeeded }) => succeeded).map(({ name }) => name);
  const head = calls.length === 1 ? "The call that the prompt made failed" : "Calls that the prompt made failed";
  const errors = uses.includeErrors ? [`${head}:`, ...failed] : [`${head}.`];
  const succeeded = uses.includeToolCalls && others.length > 0 ? [`These succeeded: ${others.join(", ")}.`] : [];
  return [...errors, ...succeeded].join("\n");
}
