// `<function_calls><invoke name="…"><parameter name="…">…</parameter></invoke></function_calls>`
import { trim } from "../../coerce.ts";
import { decodeEntities } from "./entities.ts";
import { tagBodies } from "./tag-bodies.ts";
import { MOST_MATCHES, type TextToolCall, textToolCall } from "./text-tool-call.ts";

/** The invocations inside the wrapper; without one, `<invoke>` is just something the model talks about. */
export function readXml(text: string): readonly TextToolCall[] {
  const start = text.search(/<function_calls>/i);
  if (start === -1) return [];
  return tagBodies(text.slice(start), "invoke", MOST_MATCHES)
    .map(({ name, body }, index) => textToolCall(name, parametersOf(body), `xml-tool-call-${index + 1}`))
    .filter((call) => call !== undefined);
}

function parametersOf(body: string): [string, string][] {
  return tagBodies(body, "parameter").map((parameter) => [parameter.name, plainText(parameter.body)]);
}

function plainText(body: string): string {
  return decodeEntities(trim(body.replace(/<[A-Za-z/!?][^<>]*>/g, "")));
}
