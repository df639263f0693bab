// YAML text to the parser's document. The parser runs token by token, so that what is nested too deeply or broken all
// over ends early.
import { Composer, type CST, type Document, Lexer, LineCounter, Parser, type YAMLError } from "yaml";
import { DEEPEST } from "./located-node.ts";
import type { Place } from "./place.ts";
import { MOST_PROBLEMS, type ProblemReport, type YamlCode } from "./report.ts";
import { yamlSentence } from "./yaml-sentence.ts";

/** Larger files are refused. */
export const MOST_BYTES = 1_048_576;

export type YamlDocument = {
  readonly contents: Document.Parsed["contents"];
  placeAt(offset: number): Place;
};

/** Undefined when the text is not one document of valid YAML; the report says why. */
export function parseYamlDocument(text: string, file: string, report: ProblemReport): YamlDocument | undefined {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  if (Buffer.byteLength(text) > MOST_BYTES) {
    report.problem(placeAt(0), TOO_LARGE, "too_large");
    return undefined;
  }
  const tokens = readTokens(text, lines);
  if ("tooDeepAt" in tokens) {
    report.problem(placeAt(tokens.tooDeepAt), TOO_DEEP, "nested_too_deep");
    return undefined;
  }
  const errors = [...controlCharacters(text), ...severalDocuments(tokens.tokens), ...oldVersions(tokens.tokens)];
  for (const { offset, sentence, code } of errors) report.problem(placeAt(offset), sentence, code);
  const [document] = compose(tokens.tokens, text);
  if (document === undefined) return undefined;
  const refused = [...document.errors, ...document.warnings.filter(({ code }) => seriousWarnings.has(code))];
  for (const { pos, code, message } of refused) {
    report.problem(placeAt(pos[0]), yamlSentence(code, message), ownCodes[code] ?? "invalid_yaml");
  }
  return refused.length + errors.length > 0 ? undefined : { contents: document.contents, placeAt };
}

export const TOO_LARGE = "The file is larger than 1 MiB, which is the most that is read.";
export const TOO_DEEP = `Maps and lists are nested at most ${DEEPEST} levels deep.`;

/** Those that change what the text means. */
const seriousWarnings = new Set<YAMLError["code"]>(["TAG_RESOLVE_FAILED", "BAD_COLLECTION_TYPE", "BAD_DIRECTIVE"]);

/** Those of the parser's codes for which there is one of ours. */
const ownCodes: Partial<Record<YAMLError["code"], YamlCode>> = {
  TAG_RESOLVE_FAILED: "unsupported_tag",
  BAD_COLLECTION_TYPE: "unsupported_tag",
  RESOURCE_EXHAUSTION: "nested_too_deep",
};

function readTokens(text: string, lines: LineCounter): { tokens: CST.Token[] } | { tooDeepAt: number } {
  const tokens: CST.Token[] = [];
  const parser = new Parser((offset) => offset > 0 && lines.addNewLine(offset));
  let broken = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      tokens.push(token);
      if (token.type === "error") broken++;
    }
    // The stack holds the document, one entry for each open map or list, and perhaps a scalar.
    const tooDeep = parser.stack.length > DEEPEST + 2 ? parser.stack[DEEPEST + 1] : undefined;
    if (tooDeep !== undefined) return { tooDeepAt: tooDeep.offset };
    if (broken > MOST_PROBLEMS) break;
  }
  return { tokens: [...tokens, ...parser.end()] };
}

// Duplicate keys are looked for when the nodes are read: the composer compares every key with every other.
function compose(tokens: readonly CST.Token[], text: string) {
  const options = { uniqueKeys: false, schema: "core", resolveKnownTags: false, logLevel: "silent" } as const;
  return new Composer(options).compose(tokens, true, text.length);
}

type TextError = { readonly offset: number; readonly sentence: string; readonly code: YamlCode };

function* controlCharacters(text: string): Generator<TextError> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const offset = text.search(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/);
  if (offset < 0) return;
  const code = text.charCodeAt(offset).toString(16).toUpperCase().padStart(4, "0");
  yield { offset, sentence: `The control character U+${code} cannot stand in YAML; leave it out.`, code: "not_text" };
}

function* severalDocuments(tokens: readonly CST.Token[]): Generator<TextError> {
  const second = tokens.filter(({ type }) => type === "document")[1];
  if (second === undefined) return;
  yield {
    offset: second.offset,
    sentence: "A file holds one YAML document; a second one begins here.",
    code: "invalid_yaml",
  };
}

/** In YAML 1.1 `on` is a boolean. */
function* oldVersions(tokens: readonly CST.Token[]): Generator<TextError> {
  for (const token of tokens) {
    if (token.type !== "directive" || !/^%YAML\s+1\.1\b/.test(token.source)) continue;
    yield {
      offset: token.offset,
      sentence: "The file is read as YAML 1.2; leave this directive out.",
      code: "invalid_yaml",
    };
  }
}
