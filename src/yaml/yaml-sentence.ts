// What the YAML parser complains about, as a sentence. Never with the text it stumbled over, which may be a secret.
import type { ErrorCode } from "yaml";

const byCode: Partial<Record<ErrorCode, string>> = {
  ALIAS_PROPS: "An alias can have neither a tag nor an anchor of its own.",
  BAD_DIRECTIVE: "This directive is not understood; write YAML 1.2 without directives.",
  BAD_DQ_ESCAPE: "This escape sequence does not exist; inside double quotes a backslash is written twice.",
  BAD_SCALAR_START: "A plain value cannot begin with this character; put the value in quotes.",
  BAD_COLLECTION_TYPE: "The tag does not fit what follows it; leave it out.",
  BLOCK_AS_IMPLICIT_KEY: "A second key or a list cannot stand on the line of a key; begin a new line, or use quotes.",
  KEY_OVER_1024_CHARS: "A key has at most 1024 characters.",
  MULTILINE_IMPLICIT_KEY: "A key has to stand on one line, followed by a colon and a space.",
  RESOURCE_EXHAUSTION: "This is nested too deeply.",
  TAB_AS_INDENT: "Tabs cannot indent YAML; use spaces.",
  TAG_RESOLVE_FAILED: "This tag is not known, or does not fit its value; leave it out.",
};

const byMessage: Readonly<Record<string, string>> = {
  'Missing closing "quote': "A double quote is not closed.",
  "Missing closing 'quote": "A single quote is not closed.",
  "Implicit map keys need to be followed by map values": "A key has to be followed by a colon and a space.",
  "Unexpected block-seq-ind on same line with key": "A list begins on a line of its own.",
  "Unexpected scalar at node end": "The value has ended before this; put all of it in quotes.",
};

/** What the parser calls a character. */
const tokens: Readonly<Record<string, string>> = {
  "flow-seq-start": "[",
  "flow-seq-end": "]",
  "flow-map-start": "{",
  "flow-map-end": "}",
  "map-value-ind": "colon",
  "seq-item-ind": "dash",
  "explicit-key-ind": "question mark",
  comma: "comma",
  scalar: "text",
};

/** A sentence for an error of the parser. */
export function yamlSentence(code: ErrorCode, message: string): string {
  const token = /^Unexpected ([\w-]+) token/.exec(message)?.[1] ?? "";
  if (Object.hasOwn(tokens, token)) return `This ${tokens[token]} is not expected here.`;
  return byMessage[message] ?? byCode[code] ?? `This is not valid YAML: ${withoutSource(message)}.`;
}

/** The parser puts the source behind a colon that follows a word. */
function withoutSource(message: string): string {
  return message.replace(/(?<=\w): [\s\S]*$/, "");
}
