// What a tool is: how a model is told about it, how what it is called with is checked, how it runs, and how to find out
// whether it has run.
import { createBrand } from "../contracts/brand.ts";
import { trimmed } from "../contracts/coerce.ts";
import type { Message } from "../contracts/conversation/message.ts";
import { errorMessage, HoldfastError, holdfastError } from "../contracts/error.ts";
import { isEmpty, isMap, type JsonMap, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import { declaredName, isPlainName } from "../contracts/standard/names.ts";
import { type ActionPolicy, normalize as readPolicy } from "../contracts/tools/action-policy.ts";
import {
  normalize,
  normalizeForServer,
  providerSafeName,
  type ToolDeclaration,
} from "../contracts/tools/declaration.ts";
import { type ApproverRule, read as readApprovers } from "../contracts/trust/approver-rule.ts";
import { readVariables, type Variable, type VariableInput } from "./definitions/variable.ts";
import { declaredParameters, markedOutput, markedSecrets } from "./schemas/parameters-schema.ts";
import { type Accepted, type ReadSchema, readSchema, type ToolSchema, type Validate } from "./schemas/tool-schema.ts";
import { type SecretMarks, secretMarks } from "./secrets/secret-marks.ts";
import type { ThreadState } from "./state/thread-state.ts";
import { isWholeNumber } from "./whole-number.ts";

/** What a tool may do besides returning a result. What it queues is committed together with its outcome, or not at all. */
export type ToolContext = {
  /** The same for every attempt at this call, also after a crash; another one for every other call. */
  readonly idempotencyKey: string;
  /** Fires when the call is stopped or its time is up. */
  readonly signal: AbortSignal;
  readonly threadId: string;
  readonly callId: string;
  readonly toolName: string;
  /** Counted from 1. */
  readonly attempt: number;
  /** Adds a message to the thread's inbox; text alone is a user's. */
  queueMessage(content: string | MessageInput, options?: { readonly silent?: boolean }): void;
  /** Has another tool run after the calls that are already open. */
  queueTool(name: string, parameters: JsonMap): void;
  /** What stands beside the tool where a prompt lists it. */
  readonly options: JsonMap;
  /** The thread: its messages, files, values, variables, effects, parent and children. */
  readonly state: ThreadState;
};

/** A message as a tool may write it; its role is `user` unless given. */
export type MessageInput = {
  readonly role?: string;
  readonly content: Message["content"];
  readonly metadata?: JsonMap;
};

/** What came of a call whose outcome nobody saw: it happened, it never did, or that cannot be found out. */
export type Reconciled =
  | { readonly status: "done"; readonly result: unknown }
  | { readonly status: "absent" }
  | { readonly status: "unknown" };

/** What `reconcile` is asked about. */
export type ReconcileRequest<Input = unknown> = {
  readonly idempotencyKey: string;
  readonly input: Input;
  readonly signal: AbortSignal;
  readonly threadId: string;
};

export type ToolDefinition<Input extends ToolSchema = UnknownMap> = {
  /**
   * `<namespace>/<slug>`; `client/<slug>` for a tool that the client runs. A plain name, in small letters, digits and
   * underscores, is what models call the tool by; it is declared as `standard/<name>`.
   */
  readonly name: string;
  readonly description: string;
  /** What the tool is called with: zod, any Standard Schema, or JSON Schema. Any map unless given. */
  readonly inputSchema?: Input;
  /** What it returns. A result that does not fit is an error. */
  readonly outputSchema?: ToolSchema;
  /** Runs the tool. Without it the tool is the client's: the run waits for whoever submits the result. */
  readonly execute?: (input: Accepted<Input>, context: ToolContext) => unknown;
  /** Finds out what came of a call that a crash cut off, or that took too long. */
  readonly reconcile?: (about: ReconcileRequest<Accepted<Input>>) => Reconciled | Promise<Reconciled>;
  /** True when running twice with one idempotency key is the same as running once; a call that was cut off then reruns. */
  readonly idempotent?: boolean;
  /** How long one attempt may take; as long as the runtime lets any tool unless given. */
  readonly timeoutMs?: number;
  /** How often to try when the tool throws: only for a tool that has done nothing when it throws, or that is idempotent. */
  readonly retry?: { readonly attempts: number; readonly backoffMs?: number };
  /** Says that the same call may well be made more than once. */
  readonly repeatable?: boolean;
  /** Whether it runs at once (`direct`), once a person has agreed (`preview`), or not at all (`forbidden`). */
  readonly actionPolicy?: ActionPolicy;
  /** Who may decide about a call that a person has to agree to; in place of the agent's rule. */
  readonly approvers?: ApproverRule;
  /** How long a call waits for somebody outside: for ever unless given, or for a person's yes as long as the agent says. */
  readonly waitMs?: number;
  /** Dotted paths of parameters that are hidden wherever calls are shown; `*` stands for the items of a list. */
  readonly sensitive?: readonly string[];

  /** Names of the tools that its code may queue or invoke; any unless given. */
  readonly uses?: readonly string[];
  /** What its code needs of the environment. */
  readonly variables?: readonly VariableInput[];

  /** Where the tool comes from; its namespace unless given. */
  readonly source?: string;
  readonly categories?: readonly string[];
  readonly modes?: readonly string[];
  /** True when no policy may hide it, except by denying it. */
  readonly mandatory?: boolean;
  /** True when it changes something, so that it can be hidden from runs on nobody's behalf. */
  readonly write?: boolean;
  readonly requiredCapability?: string;
  readonly parameterBindings?: UnknownMap;
  readonly parameterDefaults?: UnknownMap;
  readonly runtime?: UnknownMap;
};

/** A tool, ready for agents. */
export type Tool = {
  /** As it is declared, with a namespace. */
  readonly name: string;
  readonly declaration: ToolDeclaration;
  /** Absent for a tool of the client. */
  readonly execute?: (input: unknown, context: ToolContext) => unknown;
  readonly reconcile?: (about: ReconcileRequest) => unknown;
  readonly idempotent: boolean;
  readonly repeatable: boolean;
  readonly timeoutMs?: number;
  readonly waitMs?: number;
  readonly approvers?: ApproverRule;
  readonly retry: { readonly attempts: number; readonly backoffMs: number };
  /** Checks what a call is made with; its value is what `execute` gets. */
  readonly validateInput: Validate;
  readonly validateOutput: Validate;
  /** What its output schema marks as secret. */
  readonly secretOutput?: SecretMarks;
  /** Absent: any. */
  readonly uses?: readonly string[];
  readonly variables: readonly Variable[];
};

const tools = createBrand();

/** True for what `tool` has made. */
export function isTool(value: unknown): value is Tool {
  return isMap(value) && tools.has(value);
}

/** Defines a tool. Throws `invalid_tool` with the field that is wrong; a field that there is not is wrong too. */
export function tool<const Input extends ToolSchema = UnknownMap>(definition: ToolDefinition<Input>): Tool {
  const given: UnknownMap = isMap(definition) ? definition : {};
  const name = trimmed(given.name);
  if (name === undefined || trimmed(given.description) === undefined) {
    throw invalid(name, `${name === undefined ? "name" : "description"} must not be blank`);
  }
  for (const [field, kind, isOfKind] of checks) {
    if (given[field] !== undefined && !isOfKind(given[field])) throw invalid(name, `${field} must be ${kind}`);
  }
  const unknown = Object.keys(given).find((field) => !fields.has(field));
  if (unknown !== undefined) throw invalid(name, `${unknown} is no field of a tool`);
  const variables = readVariables(given.variables);
  if (typeof variables === "string") throw invalid(name, variables);
  const { execute, reconcile, idempotent = false, repeatable = false, timeoutMs, waitMs, retry } = definition;
  const { uses } = definition;
  const approvers = given.approvers === undefined ? undefined : readApprovers(given.approvers);
  if (typeof approvers === "string") throw invalid(name, `approvers ${approvers}`);
  if (execute === undefined) checkClientTool(given, name);
  else if (name.startsWith("client/"))
    throw invalid(name, "name must not begin with client/ beside an execute function");
  const input = schemaOf(given, "inputSchema", name);
  const output = schemaOf(given, "outputSchema", name);
  const declaration = declare(given, input, name);
  const secretOutput = output && secretMarks(markedOutput(output.json));
  const made = {
    name: declaration.name,
    declaration,
    ...(execute && { execute }),
    ...(reconcile && { reconcile }),
    idempotent,
    repeatable,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(waitMs !== undefined && { waitMs }),
    ...(approvers && { approvers }),
    retry: Object.freeze({ attempts: retry?.attempts ?? 1, backoffMs: retry?.backoffMs ?? DEFAULT_BACKOFF_MS }),
    validateInput: input?.validate ?? acceptAny,
    validateOutput: output?.validate ?? acceptAny,
    ...(secretOutput && { secretOutput }),
    ...(uses && { uses: Object.freeze([...uses]) }),
    variables,
    // The input that execute and reconcile are called with is what the schema has accepted.
  } as Tool;
  tools.mark(made);
  return Object.freeze(made);
}

/** What a `reconcile` has answered. Whatever is none of the three answers leaves the outcome unknown. */
export function readReconciled(value: unknown): Reconciled {
  try {
    const { status, result } = isMap(value) ? value : ({} as UnknownMap);
    if (status === "done") return { status, result };
    if (status === "absent") return { status };
  } catch {
    // An answer that cannot even be read tells nothing.
  }
  return { status: "unknown" };
}

const DEFAULT_BACKOFF_MS = 1_000;

// A longer timer would overflow and fire at once. Waits are kept in the database and may be longer.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const acceptAny: Validate = (value) => ({ ok: true, value });

type Check = readonly [field: keyof ToolDefinition, kind: string, isOfKind: (value: unknown) => boolean];

const checks: readonly Check[] = [
  ["execute", "a function", isFunction],
  ["reconcile", "a function", isFunction],
  ["idempotent", "true or false", isFlag],
  ["repeatable", "true or false", isFlag],
  ["mandatory", "true or false", isFlag],
  ["write", "true or false", isFlag],
  ["timeoutMs", "from 1 to 2147483647 milliseconds", (value) => isWholeNumber(value, 1, LONGEST_TIMER_MS)],
  ["waitMs", "a whole number of milliseconds", (value) => isWholeNumber(value, 1)],
  ["retry", "{ attempts, backoffMs? } with whole numbers", isRetry],
  ["actionPolicy", "direct, preview or forbidden", (value) => typeof value === "string" && readPolicy(value) === value],
  ["sensitive", "a list of paths", isListOfNames],
  ["categories", "a list of names", isListOfNames],
  ["modes", "a list of names", isListOfNames],
  ["uses", "a list of names", isListOfNames],
  ["requiredCapability", "a name", (value) => trimmed(value) !== undefined],
  ["parameterBindings", "a map", isMap],
  ["parameterDefaults", "a map", isMap],
  ["runtime", "a map", isMap],
];

const fields: ReadonlySet<string> = new Set([
  ...["name", "description", "inputSchema", "outputSchema", "source", "variables", "approvers"],
  ...checks.map(([field]) => field),
]);

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isFlag(value: unknown): boolean {
  return typeof value === "boolean";
}

function isRetry(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { attempts, backoffMs = 0, ...unknown } = value;
  return isEmpty(unknown) && isWholeNumber(attempts, 1) && isWholeNumber(backoffMs, 0);
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => trimmed(name) !== undefined);
}

/** What only means something where the tool runs here. */
const RUNS_HERE = ["reconcile", "idempotent", "timeoutMs", "retry", "requiredCapability", "uses", "variables"] as const;

function checkClientTool(given: UnknownMap, name: string): void {
  const field = RUNS_HERE.find((each) => given[each] !== undefined);
  if (field !== undefined) throw invalid(name, `${field} needs an execute function`);
  if (!name.startsWith("client/")) throw invalid(name, "execute must be given, or name must be client/<slug>");
}

function schemaOf(given: UnknownMap, field: "inputSchema" | "outputSchema", name: string) {
  if (given[field] === undefined) return undefined;
  try {
    const read = readSchema(given[field]);
    if (read) return read;
  } catch (thrown) {
    throw invalid(name, `${field} cannot be read: ${errorMessage(thrown)}`, thrown);
  }
  throw invalid(name, `${field} must be a zod schema, a Standard Schema or a JSON Schema`);
}

function declare(given: UnknownMap, input: ReadSchema | undefined, name: string): ToolDeclaration {
  const parameters = input && declaredParameters(input.json);
  if (input && !parameters) throw invalid(name, "inputSchema must describe a map of parameters");
  const { sensitive, execute, source } = given;
  const secrets = [...new Set([...((sensitive ?? []) as string[]), ...(input ? markedSecrets(input.json) : [])])];
  const isPlain = isPlainName(name);
  const declared = isPlain ? declaredName(name) : name;
  const safeName = providerSafeName(name);
  const declaration = {
    name: declared,
    description: given.description,
    parameters,
    action_policy: given.actionPolicy,
    categories: given.categories,
    modes: given.modes,
    mandatory: given.mandatory,
    write: given.write,
    repeatable: given.repeatable,
    required_capability: given.requiredCapability,
    parameter_bindings: given.parameterBindings,
    parameter_defaults: given.parameterDefaults,
    runtime: given.runtime,
    sensitive_parameters: secrets.length > 0 ? secrets : undefined,
    // Models call it by the name it was given, as far as every provider takes that.
    ...(isPlain && { provider_safe_name: safeName }),
    ...(isPlain && safeName !== name && { provider_aliases: [name] }),
  };
  try {
    // An undefined field would count as one that is there.
    const stated = snapshotMap(declaration);
    if (execute === undefined) return normalize({ ...stated, source, executor: "client", scope: "run" });
    return normalizeForServer({ ...stated, source: source ?? declared.split("/")[0] });
  } catch (thrown) {
    const detail = thrown instanceof HoldfastError ? thrown.detail : errorMessage(thrown);
    if (detail.split(", ").includes("name"))
      throw invalid(name, "name must be <namespace>/<slug> in small letters, or a plain name", thrown);
    throw invalid(name, `${detail} cannot be used`, thrown);
  }
}

function invalid(name: string | undefined, detail: string, cause?: unknown): HoldfastError {
  return holdfastError("invalid_tool", name === undefined ? detail : `${detail} (${name})`, cause);
}
