// A model that says what a script tells it to, in order: for tests and tours, without a network and without chance.
import type { Message } from "../../contracts/conversation/message.ts";
import { text } from "../../contracts/conversation/message.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { JsonMap } from "../../contracts/json.ts";

/** What the model answers one time it is asked. */
export type ScriptedAnswer = {
  readonly content: string;
  readonly tool_calls: readonly ScriptedCall[];
  readonly usage?: JsonMap;
};

type ScriptedCall = { readonly name: string; readonly parameters: JsonMap; readonly id?: string };

/** A turn runner; what it returns carries the transcript it was shown, so that it also serves a run without tools. */
export type ScriptedModel = (messages: readonly Message[]) => {
  readonly messages: readonly Message[];
  readonly tool_calls: readonly ScriptedCall[];
  readonly usage?: JsonMap;
};

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
 * A model that gives one answer of the script each time it is asked, whatever it is asked. It throws `script_ended`
 * when none is left.
 */
export function scriptedModel(script: readonly ScriptedAnswer[]): ScriptedModel {
  let asked = 0;
  return (messages) => {
    const answer = script[asked++];
    if (!answer) throw holdfastError("script_ended", `There is no answer ${asked} in a script of ${script.length}.`);
    const { content, tool_calls, usage } = answer;
    const said = content === "" ? [] : [text("assistant", content)];
    return { messages: [...messages, ...said], tool_calls, ...(usage && { usage }) };
  };
}
