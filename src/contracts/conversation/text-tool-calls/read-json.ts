// `<tool_call>{"name": …, "arguments": …}</tool_call>`, and code fences that hold such an object.
import { nonEmptyString, trim } from "../../coerce.ts";
import { emptyMap, isContainer, isMap, type Json, type JsonMap } from "../../json.ts";
import { tagBodies } from "./tag-bodies.ts";
import { MOST_MATCHES, parseBody, parseMap, type TextToolCall, textToolCall } from "./text-tool-call.ts";

/** The calls in tagged and fenced objects, each of which is one call or `{ tool_calls: […] }`. */
export function readJson(text: string): readonly TextToolCall[] {
  const calls: TextToolCall[] = [];
  for (const [index, payload] of payloadsOf(text).entries()) {
    const parsed = parseBody(payload);
    if (parsed === undefined) continue;
    const listed = Array.isArray(parsed.tool_calls) ? parsed.tool_calls.slice(0, MOST_MATCHES) : [parsed];
    for (const [position, call] of listed.entries()) {
      const read = readCall(call, `json-tool-call-${index + 1}-${position + 1}`);
      if (read !== undefined) calls.push(read);
    }
  }
  return calls;
}

function payloadsOf(text: string): readonly string[] {
  const tagged = tagBodies(text, "tool_call", MOST_MATCHES).map(({ body }) => trim(body));
  const fenced = fencedBlocks(text).filter(isObjectText).take(MOST_MATCHES);
  return [...tagged.filter(isObjectText), ...fenced].slice(0, MOST_MATCHES);
}

/** What stands between fences that belong together. A block in another language than JSON is there to be read. */
function* fencedBlocks(text: string): Generator<string> {
  let open = text.indexOf("```");
  while (open !== -1) {
    const close = text.indexOf("```", open + 3);
    if (close === -1) return;
    yield trim(text.slice(open + 3, close).replace(/^json/i, ""));
    open = text.indexOf("```", close + 3);
  }
}

function isObjectText(payload: string): boolean {
  return payload.startsWith("{") && payload.endsWith("}");
}

function readCall(call: Json, givenId: string): TextToolCall | undefined {
  if (!isMap(call)) return undefined;
  const { function: callee, name, arguments: args, parameters, id } = call;
  const called = isMap(callee) ? callee : emptyMap;
  const read = readArguments(called.arguments ?? args ?? parameters);
  if (read === undefined) return undefined;
  return textToolCall(called.name ?? name, Object.entries(read), nonEmptyString(id) ?? givenId);
}

/** Undefined for arguments that cannot be read: to call the tool without them would not be what the model asked. */
function readArguments(value: Json | undefined): JsonMap | undefined {
  if (value == null) return emptyMap;
  if (typeof value === "string") return trim(value) === "" ? emptyMap : parseMap(value);
  if (!isContainer(value)) return undefined;
  return isMap(value) ? value : emptyMap;
}
