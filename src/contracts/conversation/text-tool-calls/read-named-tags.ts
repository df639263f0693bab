// `<tool_call name="…">{…}</tool_call>`
import { tagBodies } from "./tag-bodies.ts";
import { MOST_MATCHES, parseBody, type TextToolCall, textToolCall } from "./text-tool-call.ts";

/** The calls whose tag names the tool and whose body is the map of parameters. */
export function readNamedTags(text: string): readonly TextToolCall[] {
  const calls: TextToolCall[] = [];
  for (const [index, { name, body }] of tagBodies(text, "named_tool_call", MOST_MATCHES).entries()) {
    const parameters = parseBody(body);
    if (parameters === undefined) continue;
    const call = textToolCall(name, Object.entries(parameters), `tag-tool-call-${index + 1}`);
    if (call !== undefined) calls.push(call);
  }
  return calls;
}
