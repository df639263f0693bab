// `tool_name key=value other="two words"`, when that is all the text there is.
import { trim } from "../../coerce.ts";
import { type TextToolCall, textToolCall } from "./text-tool-call.ts";

const FIRST_WORD = /^[A-Za-z0-9_/.:-]{1,128}(?=[ \t])/;
const PAIR = /[ \t]([A-Za-z_][A-Za-z0-9_-]{0,127})=(?:"([^"]*)"|'([^']*)'|([^\s"']\S*))/g;

/** The call that a single line spells. Words between the pairs are passed over, so prose with a pair counts as a call. */
export function readOneLine(text: string): readonly TextToolCall[] {
  const line = trim(text);
  const name = FIRST_WORD.exec(line)?.[0];
  if (name === undefined || !line.includes("=") || line.includes("\n") || line.includes("\r")) return [];
  const pairs = pairsOf(line.slice(name.length));
  const call = textToolCall(name, pairs, "text-tool-call-1");
  return pairs.length === 0 || call === undefined ? [] : [call];
}

function pairsOf(rest: string): [string, string][] {
  return Array.from(rest.matchAll(PAIR), ([, key = "", double, single, bare]) => [key, double ?? single ?? bare ?? ""]);
}
