// `<function_calls><invoke name="…"><parameter name="…">…</parameter></invoke></function_calls>`
import { trim } from "../../coerce.ts";
import { tagBodies } from "./tag-bodies.ts";
import { MOST_MATCHES, type TextToolCall, textToolCall } from "./text-tool-call.ts";

/** The invocations inside the wrapper; without one, `<invoke>` is just something the model talks about. */
export function readXml(text: string): readonly TextToolCall[] {
  const start = text.indexOf("<function_calls>");
  if (start === -1) return [];
  return tagBodies(text.slice(start), "invoke", MOST_MATCHES)
    .map(({ name, body }, index) => textToolCall(name, parametersOf(body), `xml-tool-call-${index + 1}`))
    .filter((call) => call !== undefined);
}

function parametersOf(body: string): [string, string][] {
  return tagBodies(body, "parameter").map((parameter) => [parameter.name, plainText(parameter.body)]);
}

function plainText(body: string): string {
  const bare = trim(body.replace(/<[A-Za-z/!?][^<>]*>/g, ""));
  return bare.replace(/&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#[xX]([\dA-Fa-f]{1,6}));/g, decodeEntity);
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decodeEntity(entity: string, name?: string, decimal?: string, hexadecimal?: string): string {
  if (name !== undefined) return named[name] ?? entity;
  const codePoint = decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal);
  const isCharacter = codePoint > 0 && codePoint <= 0x10ffff && !(codePoint >= 0xd800 && codePoint <= 0xdfff);
  return isCharacter ? String.fromCodePoint(codePoint) : entity;
}
