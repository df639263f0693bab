// The options of a run that an agent carries, whichever way it is written: checked once, and the same for every run of it.
import type { Summarizer } from "../contracts/conversation/compaction.ts";
import { errorMessage, HoldfastError } from "../contracts/error.ts";
import { isEmpty, isMap, snapshot, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import type { ToolDeclaration } from "../contracts/tools/declaration.ts";
import { type ApproverRule, read as readApprovers } from "../contracts/trust/approver-rule.ts";
import * as principals from "../contracts/trust/principal.ts";
import { checkOptions, checkPolicies } from "../loop/check-options.ts";
import type { RunOptions } from "../loop/options.ts";
import { readDeclarations } from "../loop/read-declarations.ts";
import { countingBudgets, type Limits, limitsProblem } from "./funds/limits.ts";
import { isWholeNumber } from "./whole-number.ts";

/** Options of a run that are plain values, and are kept as frozen copies. */
const PLAIN = [
  "maxTurns",
  "budgets",
  "context",
  "principal",
  "workspace",
  "toolPolicy",
  "hidesWriteTools",
  "actionPolicy",
  "toolCallRules",
  "spinDetector",
  "identicalFailureTracker",
  "toolResultTruncator",
] as const;

/** Options of a run that hold functions, and are kept as they are. */
const LIVE = [
  "shouldContinue",
  "toolPolicyProviders",
  "toolAccessChecker",
  "actionPolicyProviders",
  "approvalMemory",
  "preToolMediator",
  "postToolResultDiagnostics",
  "completionPolicy",
  "overflowArchive",
  "abilities",
  "holdsCapability",
  "authorize",
  "namedToolExecutors",
] as const;

type Field = (typeof PLAIN)[number] | (typeof LIVE)[number];

/** What every agent may be given beside what it is. The options that a conversation has too mean the same here. */
export type AgentOptions = Pick<RunOptions, Field> & {
  /** What a run may use up at most: steps, calls, tokens, money, time. */
  readonly limits?: Limits;
  /** Most turns for one message: a thread goes on by itself, so it needs an end of its own. */
  readonly maxTurns?: number;
  /** How often a model is asked that fails, and how long to wait in between: doubled each time, up to the most. */
  readonly retry?: { readonly attempts?: number; readonly backoffMs?: number; readonly mostMs?: number };
  /** A compaction policy; one that is given is enabled unless it says otherwise. */
  readonly compaction?: UnknownMap;
  /** Writes the summaries that compaction needs; the agent's own model does unless given. */
  readonly summarizer?: Summarizer;
  /** How long a person may take to decide; 30 days unless given. */
  readonly approvalWaitMs?: number;
  /** Who may decide about calls that a person has to agree to; whoever is let at them unless given. */
  readonly approvers?: ApproverRule;
};

/** What is wrong with the options, in words that begin with the field; undefined when nothing is. */
export function optionsProblem(given: UnknownMap): string | undefined {
  for (const [field, kind, isOfKind] of checks) {
    if (given[field] !== undefined && !isOfKind(given[field])) return `${field} must be ${kind}`;
  }
  const approvers = given.approvers === undefined ? undefined : readApprovers(given.approvers);
  if (typeof approvers === "string") return `approvers ${approvers}`;
  const principal = given.principal === undefined ? undefined : principalProblem(given.principal);
  if (principal !== undefined) return principal;
  return given.limits === undefined ? undefined : limitsProblem(given.limits);
}

/** What an agent's principal need not say; a thread may bring another. */
export const usualPrincipal = { auth_source: "system", request_context: "runtime" } as const;

function principalProblem(given: unknown): string | undefined {
  try {
    principals.fromArray({ ...usualPrincipal, effective_agent_id: "agent", ...(given as UnknownMap) });
    return undefined;
  } catch (thrown) {
    return `principal cannot be used: ${thrown instanceof HoldfastError ? thrown.detail : errorMessage(thrown)}`;
  }
}

export const optionFields: readonly string[] = [
  ...["limits", "retry", "compaction", "summarizer", "approvalWaitMs", "approvers"],
  ...PLAIN,
  ...LIVE,
];

/** What a run needs of them, frozen. Throws what `invalid` makes of the words for what is wrong. */
export function runOptionsOf(
  given: AgentOptions & Pick<RunOptions, "hooks">,
  known: { readonly maxTurns: number; readonly limits: Limits; readonly declarations: readonly ToolDeclaration[] },
  invalid: (detail: string, cause?: unknown) => Error,
): RunOptions {
  const { compaction, summarizer, hooks } = given;
  const copied = (value: unknown, field: string) => {
    try {
      return snapshot(value);
    } catch (thrown) {
      throw invalid(`${field} ${errorMessage(thrown)}`, thrown);
    }
  };
  const counting = countingBudgets(known.limits);
  const options: RunOptions = Object.freeze({
    ...definedOf(given, LIVE, (value) => value),
    ...definedOf(given, PLAIN, copied),
    ...(hooks !== undefined && { hooks }),
    ...(counting.length > 0 && { budgets: Object.freeze([...(given.budgets ?? []), ...counting]) }),
    maxTurns: given.maxTurns ?? known.maxTurns,
    toolDeclarations: Object.freeze([...known.declarations]),
    ...(compaction && {
      compactionPolicy: copied({ enabled: true, ...compaction }, "compaction") as UnknownMap,
      ...(summarizer && { summarizer }),
    }),
  });
  try {
    checkOptions(options);
    checkPolicies(snapshotMap(options.context));
  } catch (thrown) {
    throw invalid(thrown instanceof HoldfastError ? thrown.detail : errorMessage(thrown), thrown);
  }
  const [rejected] = readDeclarations(options).rejected;
  if (rejected) throw invalid(`tools cannot all be used: ${rejected.name}: ${rejected.reason}`);
  return options;
}

type Check = readonly [field: keyof AgentOptions, kind: string, isOfKind: (value: unknown) => boolean];

const checks: readonly Check[] = [
  ["retry", "{ attempts?, backoffMs?, mostMs? } with whole numbers", isRetry],
  ["maxTurns", "a whole number from 1", (value) => isWholeNumber(value, 1)],
  ["approvalWaitMs", "a whole number of milliseconds", (value) => isWholeNumber(value, 1)],
  ["compaction", "a map", isMap],
  ["context", "a map", isMap],
  ["principal", "a map", isMap],
  ["workspace", "a map", isMap],
  ["budgets", "a list", Array.isArray],
  ["spinDetector", "a map", isMap],
  ["identicalFailureTracker", "a map", isMap],
  ["toolResultTruncator", "a map", isMap],
  ["summarizer", "a function", isFunction],
  ["shouldContinue", "a function or null", (value) => value === null || isFunction(value)],
  ["postToolResultDiagnostics", "a function", isFunction],
  ["completionPolicy", "a function", isFunction],
  ["overflowArchive", "a function", isFunction],
  ["namedToolExecutors", "a map of functions", (value) => isMap(value) && Object.values(value).every(isFunction)],
];

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isRetry(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { attempts = 1, backoffMs = 0, mostMs = 0, ...unknown } = value;
  const areWhole = isWholeNumber(attempts, 1) && isWholeNumber(backoffMs, 0) && isWholeNumber(mostMs, 0);
  return areWhole && isEmpty(unknown);
}

function definedOf<Name extends Field>(
  given: Pick<RunOptions, Field>,
  names: readonly Name[],
  read: (value: RunOptions[Name], field: Name) => unknown,
): Pick<RunOptions, Name> {
  const entries = names.flatMap((field) => {
    const value = given[field];
    return value === undefined ? [] : [[field, read(value, field)]];
  });
  return Object.fromEntries(entries);
}
