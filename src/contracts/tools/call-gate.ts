// Rules about the order of tool calls: after an anchor tool only so many calls of others before a required one, and no
// end of the run before the required one was called. What was called so far is kept as one small tally per rule, so
// that a judgement costs the same in a long conversation as in a short one.
import { scalarText, stringList, trim, trimmed, truthy, wholeNumber } from "../coerce.ts";
import * as message from "../conversation/message.ts";
import { emptyMap, isMap, type JsonMap, type UnknownMap } from "../json.ts";

/** One usable rule. */
export type CallRule = {
  readonly id: string;
  /** The anchor; `""` when the rule has none. */
  readonly after_tool: string;
  readonly limited_tools: readonly string[];
  readonly max_calls: number;
  readonly require_one_of: readonly string[];
  readonly require_tool_use: boolean;
  readonly min_tool_calls: number;
  readonly gate_calls: boolean;
  readonly gate_completion: boolean;
};

/** What one rule has to know about the tool calls so far. */
export type Tally = {
  /** Calls of a required tool, or of any tool when the rule requires none by name. */
  readonly tool_calls_seen: number;
  readonly anchor_seen: boolean;
  /** Since the last call of the anchor, which itself does not count. */
  readonly limited_count: number;
  readonly required_since_last_anchor: boolean;
  /** Since the first call of the anchor, which counts when it is itself a required tool. */
  readonly required_since_first_anchor: boolean;
};

/** Whether something may go on; when not, `reason` tells the model and `context` names the rule. */
export type GateVerdict =
  | { readonly allowed: true; readonly reason: ""; readonly context: JsonMap }
  | { readonly allowed: false; readonly reason: string; readonly context: JsonMap };

const allowed: GateVerdict = Object.freeze({ allowed: true, reason: "", context: emptyMap });

const nothingSeen: Tally = Object.freeze({
  tool_calls_seen: 0,
  anchor_seen: false,
  limited_count: 0,
  required_since_last_anchor: false,
  required_since_first_anchor: false,
});

/** Turns the name of a tool as somebody wrote it into the one under which it is declared. */
type NameOf = (toolName: string) => string;

const asGiven: NameOf = (toolName) => toolName;

/** The usable rules of a list; a rule that could never hold anything back is dropped. */
export function normalizeRules(value: unknown, nameOf: NameOf = asGiven): readonly CallRule[] {
  const given = Array.isArray(value) ? value : [];
  return Object.freeze(given.flatMap((rule, index) => (isMap(rule) ? usable(normalizeRule(rule, index, nameOf)) : [])));
}

/** The tallies of rules before any call. */
export function startTally(rules: readonly CallRule[]): readonly Tally[] {
  return Object.freeze(rules.map(() => nothingSeen));
}

/** The tallies after one more tool-call message. */
export function count(rules: readonly CallRule[], tallies: readonly Tally[], toolName: string): readonly Tally[] {
  return Object.freeze(rules.map((rule, index) => countOne(rule, tallies[index] ?? nothingSeen, toolName)));
}

/**
 * The tallies after these message envelopes, as `count` builds them call by call; those before them are `from`. A message
 * has the name that the model used; `nameOf` tells the one that rules use.
 */
export function tallyMessages(
  rules: readonly CallRule[],
  messages: readonly UnknownMap[],
  from: readonly Tally[] = startTally(rules),
  nameOf: NameOf = asGiven,
): readonly Tally[] {
  let tallies = from;
  for (const said of messages) {
    const toolName = calledTool(said);
    if (toolName !== undefined) tallies = count(rules, tallies, nameOf(toolName));
  }
  return tallies;
}

/** Whether a tool may be called now; the tallies are those from before the call. */
export function judgeCall(rules: readonly CallRule[], tallies: readonly Tally[], toolName: string): GateVerdict {
  for (const [index, rule] of rules.entries()) {
    const tally = tallies[index] ?? nothingSeen;
    if (gatesCalls(rule) && isOverLimit(rule, tally, toolName)) return callRejected(rule, tally, toolName);
  }
  return allowed;
}

/** Whether the run may complete now. */
export function judgeCompletion(rules: readonly CallRule[], tallies: readonly Tally[]): GateVerdict {
  for (const [index, rule] of rules.entries()) {
    if (!rule.gate_completion) continue;
    const tally = tallies[index] ?? nothingSeen;
    if (rule.require_tool_use) {
      // Such a rule asks for nothing else: its anchor, if it has one, is about calls.
      if (tally.tool_calls_seen < rule.min_tool_calls) return tooFewCalls(rule, tally);
      continue;
    }
    if (tally.anchor_seen && !tally.required_since_first_anchor) return requiredToolMissing(rule);
  }
  return allowed;
}

/** `judgeCall` over a transcript and rules as they were given, plain rows too; null when no rule is usable. */
export function evaluateCall(
  rules: unknown,
  toolName: string,
  priorMessages: readonly UnknownMap[],
): GateVerdict | null {
  const usableRules = normalizeRules(rules);
  if (usableRules.length === 0) return null;
  return judgeCall(usableRules, tallyMessages(usableRules, envelopes(priorMessages)), toolName);
}

/** `judgeCompletion` over a transcript and rules as they were given, plain rows too; null when no rule is usable. */
export function evaluateCompletion(rules: unknown, messages: readonly UnknownMap[]): GateVerdict | null {
  const usableRules = normalizeRules(rules);
  if (usableRules.length === 0) return null;
  return judgeCompletion(usableRules, tallyMessages(usableRules, envelopes(messages)));
}

function envelopes(messages: readonly UnknownMap[]): readonly message.Message[] {
  return messages.filter(isMap).map(message.normalize);
}

function normalizeRule(given: UnknownMap, index: number, nameOf: NameOf): CallRule {
  return Object.freeze({
    id: given.id == null ? `tool-call-rule-${index}` : slug(scalarText(given.id) ?? ""),
    after_tool: nameOf(trimmed(given.after_tool) ?? ""),
    limited_tools: Object.freeze(stringList(given.limited_tools ?? given.limited_tool_names).map(nameOf)),
    max_calls: wholeNumber(given.max_calls, 0) ?? 0,
    require_one_of: Object.freeze(stringList(given.require_one_of ?? given.then_require_one_of).map(nameOf)),
    require_tool_use: flag(given.require_tool_use, false),
    min_tool_calls: wholeNumber(given.min_tool_calls, 1) ?? 1,
    gate_calls: flag(given.gate_calls, true),
    gate_completion: flag(given.gate_completion, true),
  });
}

function usable(rule: CallRule): CallRule[] {
  const hasSubject = rule.require_tool_use
    ? rule.gate_completion
    : rule.after_tool !== "" && rule.require_one_of.length > 0;
  return hasSubject && (rule.gate_completion || gatesCalls(rule)) ? [rule] : [];
}

function gatesCalls(rule: CallRule): boolean {
  return rule.gate_calls && rule.after_tool !== "" && rule.limited_tools.length > 0 && rule.max_calls > 0;
}

function slug(id: string): string {
  const dashed = id.replace(/[^A-Za-z0-9_-]/gu, "-");
  let start = 0;
  let end = dashed.length;
  while (start < end && dashed[start] === "-") start++;
  while (end > start && dashed[end - 1] === "-") end--;
  return dashed.slice(start, end) || "tool-call-rule";
}

const falseWords: ReadonlySet<string> = new Set(["", "0", "false", "no", "off"]);

function flag(value: unknown, fallback: boolean): boolean {
  if (typeof value === "string") return !falseWords.has(trim(value).toLowerCase());
  return truthy(value ?? fallback);
}

function countOne(rule: CallRule, tally: Tally, toolName: string): Tally {
  const isRequired = rule.require_one_of.includes(toolName);
  const seen = isRequired || rule.require_one_of.length === 0 ? 1 : 0;
  const tool_calls_seen = tally.tool_calls_seen + seen;
  const isAnchor = toolName === rule.after_tool;
  if (isAnchor) {
    return Object.freeze({
      tool_calls_seen,
      anchor_seen: true,
      limited_count: 0,
      required_since_last_anchor: false,
      required_since_first_anchor: tally.required_since_first_anchor || isRequired,
    });
  }
  if (!tally.anchor_seen) return seen === 0 ? tally : Object.freeze({ ...tally, tool_calls_seen });
  const isLimited = rule.limited_tools.includes(toolName);
  if (seen === 0 && !isRequired && !isLimited) return tally;
  return Object.freeze({
    tool_calls_seen,
    anchor_seen: true,
    limited_count: tally.limited_count + (isLimited ? 1 : 0),
    required_since_last_anchor: tally.required_since_last_anchor || isRequired,
    required_since_first_anchor: tally.required_since_first_anchor || isRequired,
  });
}

function calledTool({ type, payload }: UnknownMap): string | undefined {
  if (type !== "tool_call" || !isMap(payload)) return undefined;
  const { tool_name } = payload;
  return typeof tool_name === "string" && tool_name !== "" ? tool_name : undefined;
}

function isOverLimit(rule: CallRule, tally: Tally, toolName: string): boolean {
  if (!tally.anchor_seen || tally.required_since_last_anchor || rule.require_one_of.includes(toolName)) return false;
  return tally.limited_count >= rule.max_calls;
}

function callRejected(rule: CallRule, { limited_count }: Tally, toolName: string): GateVerdict {
  const { id, after_tool, limited_tools, max_calls, require_one_of } = rule;
  const wayOut = require_one_of.length > 0 ? `; now call ${oneOf(require_one_of)}` : "";
  return rejected(
    `${toolName} was not called: after ${after_tool}, ${limited_count} of ${max_calls} permitted calls of ` +
      `${oneOf(limited_tools)} are used${wayOut}.`,
    { rule_id: id, after_tool, limited_tools, limited_count, max_calls, require_one_of, rejected_tool: toolName },
  );
}

function tooFewCalls(rule: CallRule, { tool_calls_seen }: Tally): GateVerdict {
  const { id, min_tool_calls, require_one_of } = rule;
  const wanted = require_one_of.length > 0 ? oneOf(require_one_of) : "a tool";
  return rejected(
    `This cannot end yet: call ${wanted} at least ${min_tool_calls} times; ${tool_calls_seen} calls were made.`,
    { rule_id: id, require_tool_use: true, min_tool_calls, tool_calls_seen, require_one_of },
  );
}

function requiredToolMissing({ id, after_tool, require_one_of }: CallRule): GateVerdict {
  return rejected(`This cannot end yet: after ${after_tool}, call ${oneOf(require_one_of)}.`, {
    rule_id: id,
    after_tool,
    require_one_of,
  });
}

function rejected(reason: string, context: JsonMap): GateVerdict {
  return Object.freeze({ allowed: false, reason, context: Object.freeze(context) });
}

function oneOf(tools: readonly string[]): string {
  return tools.length === 1 ? tools.join() : `one of ${tools.join(", ")}`;
}
