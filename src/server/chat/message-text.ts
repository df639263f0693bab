// What a message says in words, whichever form its content has.
import { isMap, type JsonMap } from "../../contracts/json.ts";

/** A message of a thread, as far as doors look into it. */
export type ThreadMessage = {
  readonly type: string;
  readonly role: string;
  readonly content: unknown;
  readonly payload: JsonMap;
  readonly metadata: JsonMap;
  readonly id?: string;
};

export function textOf({ content }: Pick<ThreadMessage, "content">): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.flatMap((part: unknown) =>
    isMap(part) && part.type === "text" && typeof part.text === "string" ? [part.text] : [],
  );
  return texts.join("\n");
}

/** True for what a person said: what tools bring has the same role, and the other side of an agent too. */
export function isOfUser({ type, role, metadata }: ThreadMessage): boolean {
  return role === "user" && isSaid(type) && metadata.side === undefined;
}

/** True for what the agent said. */
export function isOfAgent({ type, role, metadata }: ThreadMessage): boolean {
  return isSaid(type) && (role === "assistant" || (role === "user" && metadata.side === "b"));
}

/** Some messages are for models only. */
export function isShown({ metadata }: ThreadMessage): boolean {
  return metadata.silent !== true;
}

function isSaid(type: string): boolean {
  return type === "text" || type === "multimodal_part" || type === "final_result";
}
