// One side of an agent: who speaks for it, and when its turn and the session end.
import { trimmed } from "../../contracts/coerce.ts";
import { isMap, type UnknownMap } from "../../contracts/json.ts";
import { type Binding, readBinding } from "../../contracts/standard/lifecycle-binding.ts";
import { isWholeNumber } from "../whole-number.ts";
import { isPrompt, type Prompt } from "./prompt.ts";
import { type Relationship, readSubagent, type SubagentInput } from "./relationship.ts";

export type { Binding };

export type Backing = { readonly kind: "human" } | { readonly kind: "prompt"; readonly prompt: string | Prompt };

export type SideDefinition = {
  readonly backing: Backing;
  readonly label: string;
  readonly stopOnResponse: boolean;
  readonly stopTool?: string;
  readonly stopToolResponseProperty?: string;
  /** Null: as many as the run allows. */
  readonly maxSteps: number | null;
  readonly sessionStop?: Binding;
  readonly sessionFail?: Binding;
  readonly sessionStatus?: Binding;
  readonly subagents: readonly Relationship[];
};

type BindingInput = string | Binding;

/** A side as an agent is given it. Either `prompt` or `human` says who speaks. */
export type SideInput = {
  /** The name of a prompt, or a prompt. */
  readonly prompt?: string | Prompt;
  readonly human?: true;
  readonly label?: string;
  /** Words without a call end its turn; true unless given. */
  readonly stopOnResponse?: boolean;
  /** Calling this tool ends its turn. */
  readonly stopTool?: string;
  /** The argument of that tool that becomes what the side says. */
  readonly stopToolResponseProperty?: string;
  /** Steps of this side in a run. */
  readonly maxSteps?: number;
  /** The tool with which the session ends well, */
  readonly sessionStop?: BindingInput;
  /** ends badly, */
  readonly sessionFail?: BindingInput;
  /** or tells how it is going. */
  readonly sessionStatus?: BindingInput;
  readonly subagents?: readonly SubagentInput[];
  /** Older names of the three bindings. */
  readonly endSessionTool?: BindingInput;
  readonly failSessionTool?: BindingInput;
  readonly statusTool?: BindingInput;
};

/** A person's side, about which there is nothing to say. */
export function humanSide(label = "human"): SideDefinition {
  return Object.freeze({
    backing: Object.freeze({ kind: "human" }),
    label,
    stopOnResponse: true,
    maxSteps: null,
    subagents: [],
  });
}

/** The side of a prompt, with every rule as it is unless somebody says otherwise. */
export function promptSide(prompt: Prompt): SideDefinition {
  return Object.freeze({ ...humanSide(prompt.name), backing: Object.freeze({ kind: "prompt", prompt }) });
}

/** A side, or what is wrong with it, in words that begin with the field. */
export function readSide(given: unknown, field: "sideA" | "sideB"): SideDefinition | string {
  if (!isMap(given)) return `${field} must be a map`;
  const stray = Object.keys(given).find((name) => !fields.has(name));
  if (stray !== undefined) return `${field}.${stray} is no field of a side`;
  for (const [name, kind, isOfKind] of checks) {
    if (given[name] !== undefined && !isOfKind(given[name])) return `${field}.${name} must be ${kind}`;
  }
  const backing = readBacking(given);
  if (typeof backing === "string") return `${field}${backing}`;
  const subagents: Relationship[] = [];
  for (const [index, each] of ((given.subagents ?? []) as readonly unknown[]).entries()) {
    const relationship = readSubagent(each);
    if (typeof relationship === "string") return `${field}.subagents[${index}]${relationship}`;
    if (subagents.some(({ as }) => as === relationship.as)) {
      return `${field}.subagents[${index}] has the name ${relationship.as} of another`;
    }
    subagents.push(relationship);
  }
  const { stopTool, stopToolResponseProperty, maxSteps } = given as SideInput;
  return Object.freeze({
    backing,
    label: trimmed(given.label) ?? nameOf(backing),
    stopOnResponse: given.stopOnResponse !== false,
    ...(stopTool !== undefined && { stopTool: stopTool.trim() }),
    ...(stopToolResponseProperty !== undefined && { stopToolResponseProperty: stopToolResponseProperty.trim() }),
    maxSteps: maxSteps ?? null,
    ...readBindings(given),
    subagents: Object.freeze(subagents),
  });
}

/** Undefined names are as good as none: the new field counts where both are set. */
function readBindings(given: UnknownMap) {
  const sessionStop = readBinding(given.sessionStop ?? given.endSessionTool);
  const sessionFail = readBinding(given.sessionFail ?? given.failSessionTool);
  const sessionStatus = readBinding(given.sessionStatus ?? given.statusTool);
  return {
    ...(sessionStop && { sessionStop }),
    ...(sessionFail && { sessionFail }),
    ...(sessionStatus && { sessionStatus }),
  };
}

/** What is wrong goes on from the side's own name. */
function readBacking({ prompt, human, handler }: UnknownMap): Backing | string {
  if (handler !== undefined) return ".handler is not supported: let a prompt or a person speak for the side";
  const given = [prompt, human].filter((each) => each !== undefined && each !== false);
  if (given.length !== 1) return " must have either prompt or human";
  if (human !== undefined && human !== false) {
    return human === true || isMap(human) ? Object.freeze({ kind: "human" }) : ".human must be true";
  }
  const named = isPrompt(prompt) ? prompt : trimmed(prompt);
  return named === undefined
    ? ".prompt must be the name of a prompt, or made by prompt()"
    : Object.freeze({ kind: "prompt", prompt: named });
}

function nameOf(backing: Backing): string {
  if (backing.kind !== "prompt") return backing.kind;
  return typeof backing.prompt === "string" ? backing.prompt : backing.prompt.name;
}

type Check = readonly [field: keyof SideInput, kind: string, isOfKind: (value: unknown) => boolean];

const isText = (value: unknown) => typeof value === "string";
const isName = (value: unknown) => trimmed(value) !== undefined;
const isBound = (value: unknown) => readBinding(value) !== undefined;
const BINDING = "the name of a tool, or { name, messageProperty?, attachmentsProperty? }";

const checks: readonly Check[] = [
  ["label", "text", isText],
  ["stopOnResponse", "true or false", (value) => typeof value === "boolean"],
  ["stopTool", "the name of a tool", isName],
  ["stopToolResponseProperty", "the name of an argument", isName],
  ["maxSteps", "a whole number from 1", (value) => isWholeNumber(value, 1)],
  ["sessionStop", BINDING, isBound],
  ["sessionFail", BINDING, isBound],
  ["sessionStatus", BINDING, isBound],
  ["endSessionTool", BINDING, isBound],
  ["failSessionTool", BINDING, isBound],
  ["statusTool", BINDING, isBound],
  ["subagents", "a list", Array.isArray],
];

const fields: ReadonlySet<string> = new Set(["prompt", "human", "handler", ...checks.map(([field]) => field)]);
