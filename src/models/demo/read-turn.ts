// Where a conversation stands, as far as the demo model has to know: what the user wants, and what has come of it.
import type { Message } from "../../contracts/conversation/message.ts";
import { isMap } from "../../contracts/json.ts";
import { isQuestion } from "./words.ts";

export type Turn = {
  /** What the user said last, with what they said before the model asked back. */
  readonly wish: string;
  /** Results of tools that came since then. */
  readonly results: readonly Message[];
};

export function readTurn(messages: readonly Message[]): Turn {
  const last = messages.findLastIndex(isUsers);
  const results = messages.slice(last + 1).filter(({ type }) => type === "tool_result");
  const said: string[] = [];
  for (let index = last; index >= 0; index--) {
    const each = messages[index] as Message;
    // An answer to our own question only makes sense behind what the question was about.
    if (isUsers(each)) said.unshift(contentOf(each));
    else if (!isQuestion(contentOf(each))) break;
  }
  return { wish: said.join("\n"), results };
}

function isUsers({ role, type }: Message): boolean {
  return role === "user" && type !== "tool_result";
}

/** The words of a message, without what else it holds, such as images. */
export function contentOf({ content }: Message): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content : [content];
  return parts.flatMap((part) => (isMap(part) && typeof part.text === "string" ? [part.text] : [])).join("\n");
}
