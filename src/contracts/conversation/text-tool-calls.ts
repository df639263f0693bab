// Tool calls that a model wrote into its text, because its provider has no other way to say them.
import { sortedText } from "../canonical-json.ts";
import { trim } from "../coerce.ts";
import { isContainer, isMap, seal, type UnknownMap } from "../json.ts";
import { normalizeMany, type ProviderToolCall } from "./provider-tool-call.ts";
import { readJson } from "./text-tool-calls/read-json.ts";
import { readNamedTags } from "./text-tool-calls/read-named-tags.ts";
import { readOneLine } from "./text-tool-calls/read-one-line.ts";
import { readXml } from "./text-tool-calls/read-xml.ts";
import type { TextToolCall } from "./text-tool-calls/text-tool-call.ts";

const MOST_TEXTS = 8;
const none: readonly ProviderToolCall[] = seal([]);

/**
 * The tool calls of an answer: those it lists, or else those its texts contain. The same call is returned once. Each text
 * numbers its own calls, so two of them may have one id. A list with an unusable call throws; text never does.
 */
export function extractToolCalls(result: UnknownMap): readonly ProviderToolCall[] {
  const listed = result.tool_calls;
  if (listed != null) return isContainer(listed) ? normalizeMany(listed) : none;
  const calls = new Map<string, ProviderToolCall>();
  for (const text of textsOf(result)) {
    for (const call of readText(text)) {
      // Whatever the order of its parameters: a call that is written twice must not be run twice.
      const key = `${call.name} ${sortedText(call.parameters)}`;
      if (!calls.has(key)) calls.set(key, seal(call));
    }
  }
  return calls.size === 0 ? none : seal([...calls.values()]);
}

function textsOf(result: UnknownMap): Iterable<string> {
  const { content, text, output_text, message } = result;
  const texts = new Set<string>();
  for (const value of [content, text, output_text, isMap(message) ? message.content : undefined]) {
    if (typeof value === "string" && trim(value) !== "" && texts.size < MOST_TEXTS) texts.add(value);
  }
  return texts;
}

/** Every reader reads the whole text, so a line of prose around a marked call may count as a call of its own. */
function readText(text: string): readonly TextToolCall[] {
  return [...readXml(text), ...readJson(text), ...readNamedTags(text), ...readOneLine(text)];
}
