// A model that says what a script tells it to, in order: for tests and tours, without a network and without chance.
import type { Message } from "../../contracts/conversation/message.ts";
import { text } from "../../contracts/conversation/message.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { whenReady } from "../../contracts/when-ready.ts";
import type { ModelOptions } from "../model.ts";

/** What the model answers one time it is asked. */
export type ScriptedAnswer = {
  readonly content: string;
  readonly tool_calls: readonly ScriptedCall[];
  readonly usage?: JsonMap;
};

type ScriptedCall = { readonly name: string; readonly parameters: JsonMap; readonly id?: string };

/** An answer, or a function that makes one of what the model is shown; what it throws, the model throws. */
export type ScriptedStep =
  | ScriptedAnswer
  | ((messages: readonly Message[], options: Partial<ModelOptions>) => ScriptedAnswer | Promise<ScriptedAnswer>);

/**
 * A model. Asked for the answer of a step, it returns the answer's `content`. Without one it returns the transcript it
 * was shown with the content added, so that it also serves a conversation without tools.
 */
export type ScriptedModel = (
  messages: readonly Message[],
  context?: JsonMap,
  options?: Partial<ModelOptions>,
) => ScriptedTurn | Promise<ScriptedTurn>;

type ScriptedTurn = Pick<ScriptedAnswer, "tool_calls" | "usage"> &
  ({ readonly content: string } | { readonly messages: readonly Message[] });

/** An answer in words. */
export function says(content: string, { usage }: { readonly usage?: JsonMap } = {}): ScriptedAnswer {
  return { content, tool_calls: [], ...(usage && { usage }) };
}

/** An answer that calls a tool. A call without an id gets one from the loop: its turn and its place in the answer. */
export function callsTool(
  name: string,
  parameters: JsonMap = {},
  { id }: { readonly id?: string } = {},
): ScriptedAnswer {
  return { content: "", tool_calls: [{ name, parameters, ...(id !== undefined && { id }) }] };
}

/** Several answers as one: what they say, line by line, and all their calls. The last usage that is given counts. */
export function calls(...answers: readonly ScriptedAnswer[]): ScriptedAnswer {
  const usage = answers.findLast((answer) => answer.usage)?.usage;
  return {
    content: answers.flatMap(({ content }) => (content === "" ? [] : [content])).join("\n"),
    tool_calls: answers.flatMap(({ tool_calls }) => tool_calls),
    ...(usage && { usage }),
  };
}

/**
 * A model that gives one answer of the script each time it is asked: the one that its `step` names, otherwise the next.
 * Where deltas are wanted, it streams the answer word by word first. It throws `script_ended` when there is no answer.
 */
export function scriptedModel(script: readonly ScriptedStep[]): ScriptedModel {
  let asked = 0;
  return (messages, _context, options = {}) => {
    // A step is counted by the thread, so a process that takes over after a crash goes on at the right answer.
    const { step } = options;
    const place = step ?? asked++;
    const scripted = script[place];
    if (!scripted) throw ended(place, script);
    const answer = typeof scripted === "function" ? scripted(messages, options) : scripted;
    return whenReady(answer, ({ content, tool_calls, usage }) => {
      for (const words of wordByWord(content)) options.onDelta?.({ type: "text", text: words });
      const said = step === undefined ? { messages: withWords(messages, content) } : { content };
      return { ...said, tool_calls, ...(usage && { usage }) };
    });
  };
}

function withWords(messages: readonly Message[], content: string): readonly Message[] {
  return content === "" ? messages.slice() : [...messages, text("assistant", content)];
}

/** Pieces that make up the content again when they are joined: each word with the space behind it, the first also with that before it. */
function wordByWord(content: string): readonly string[] {
  return content.match(/^\s*\S+\s*|\S+\s*/g) ?? (content === "" ? [] : [content]);
}

function ended(place: number, script: readonly ScriptedStep[]) {
  return holdfastError("script_ended", `There is no answer ${place + 1} in a script of ${script.length}.`);
}
