// Values that people and programs write as text, where JSON is meant as such.
import type { Json } from "./json.ts";

/** What the text spells where it is JSON, and the text itself where it is not. */
export function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
