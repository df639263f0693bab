// The pieces of a system prompt, read. Older names of the same pieces are understood too.
import { trimmed } from "../../contracts/coerce.ts";
import { isMap } from "../../contracts/json.ts";
import type { PromptPart } from "./prompt.ts";

/** The pieces in order, or what is wrong with them, in words that begin with the field. */
export function readParts(given: unknown): readonly PromptPart[] | string {
  if (typeof given === "string") return Object.freeze([text(given)]);
  if (!Array.isArray(given)) return "prompt must be text or a list of pieces";
  const parts: PromptPart[] = [];
  for (const [index, each] of given.entries()) {
    const part = typeof each === "string" ? text(each) : readPart(each);
    if (!part) return `prompt[${index}] must be text, or a piece of the type text, include, env or variable`;
    parts.push(part);
  }
  return Object.freeze(parts);
}

function text(content: string): PromptPart {
  return Object.freeze({ type: "text", content });
}

function readPart(given: unknown): PromptPart | undefined {
  if (!isMap(given)) return undefined;
  const { type, content, prompt, property, name } = given;
  if (type === "text" || type === "string") return typeof content === "string" ? text(content) : undefined;
  const [included, variable, environment] = [trimmed(prompt), trimmed(name), trimmed(property)];
  if (type === "include" || type === "prompt") {
    return included === undefined ? undefined : Object.freeze({ type: "include", prompt: included });
  }
  if (type === "env") return environment === undefined ? undefined : Object.freeze({ type, property: environment });
  if (type === "variable") return variable === undefined ? undefined : Object.freeze({ type, name: variable });
  return undefined;
}
