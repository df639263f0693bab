// What a model may be chosen by. Which of them can be asked turns out when the runtime starts.
import { trimmed } from "../../contracts/coerce.ts";
import { isMap } from "../../contracts/json.ts";

export const CHOICE = 'a name such as "openai/gpt-5", a model object of the AI SDK, a function, or a list of these';

export function isChoice(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((each) => !Array.isArray(each) && isChoice(each));
  return typeof value === "function" || trimmed(value) !== undefined || isMap(value);
}
