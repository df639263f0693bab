// An agent written as two sides: which kind it is follows from who speaks for them.
import { trimmed } from "../../contracts/coerce.ts";
import { isMap, type UnknownMap } from "../../contracts/json.ts";
import { isAcceptedName, isStandardName } from "../../contracts/standard/names.ts";
import { isWholeNumber } from "../whole-number.ts";
import { humanSide, readSide, type SideDefinition, type SideInput } from "./side.ts";
import { isTextMap } from "./tool-entry.ts";

/** A hook that an agent installs on the threads that have it for a child. */
export type ParentHook = {
  readonly hook: string;
  readonly reason: string;
  readonly stage: "before_parent" | "after_parent";
};

/** What a Standard agent is defined with, beside the options that every agent may have. */
export type SidesInput = {
  /** Small letters, digits and underscores: the name under which threads are opened, and which they keep. */
  readonly name: string;
  /** `ai_human`: side A is a model's and side B a person's. `dual_ai`: both are models'. The sides tell unless given. */
  readonly type?: "ai_human" | "dual_ai";
  readonly sideA: SideInput;
  readonly sideB?: SideInput;
  /** How often both sides may have had their turn before a session ends. */
  readonly maxSessionTurns?: number;
  /** Lets other prompts call it; needs a `toolDescription`. */
  readonly exposeAsTool?: boolean;
  readonly toolDescription?: string;
  /** Values of variables that neither the thread, its user nor this installation has one for. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ids of hooks, for prompts that list none. */
  readonly hooks?: readonly string[];
  readonly parentHooks?: readonly {
    readonly hook: string;
    readonly reason?: string;
    readonly stage?: "before_parent" | "after_parent";
  }[];
  /** False: not among those that people choose from. */
  readonly primary?: boolean;
  readonly title?: string;
  readonly description?: string;
  readonly icon?: string;
  /** What is said of it where it is packed. */
  readonly packageName?: string;
  readonly version?: string;
  readonly author?: string;
  readonly license?: string;
};

/** What both ways of writing an agent come to. */
export type Character = {
  /** What it is called; for people, its title. */
  readonly title: string;
  readonly description: string;
  readonly icon?: string;
  readonly sides: { readonly a: SideDefinition; readonly b: SideDefinition };
  /** Both sides are models'. */
  readonly isDual: boolean;
  /** Null: as many as wanted. */
  readonly maxSessionTurns: number | null;
  readonly exposeAsTool: boolean;
  readonly toolDescription: string;
  readonly env: Readonly<Record<string, string>>;
  readonly hooks: readonly string[];
  readonly parentHooks: readonly ParentHook[];
  readonly primary: boolean;
};

/** The agent's character, or what is wrong with it, in words that begin with the field. */
export function readCharacter(given: UnknownMap): Character | string {
  for (const [field, kind, isOfKind] of checks) {
    if (given[field] !== undefined && !isOfKind(given[field])) return `${field} must be ${kind}`;
  }
  const sides = readSides(given);
  if (typeof sides === "string") return sides;
  const toolDescription = trimmed(given.toolDescription) ?? "";
  if (given.exposeAsTool === true && toolDescription === "") return "toolDescription must be given with exposeAsTool";
  const { name, env = {}, hooks = [], parentHooks = [], icon, maxSessionTurns } = given as SidesInput;
  return {
    title: trimmed(given.title) ?? name,
    description: trimmed(given.description) ?? "",
    ...(icon !== undefined && { icon }),
    sides: Object.freeze(sides),
    isDual: sides.a.backing.kind === "prompt" && sides.b.backing.kind === "prompt",
    maxSessionTurns: maxSessionTurns ?? null,
    exposeAsTool: given.exposeAsTool === true,
    toolDescription,
    env: Object.freeze({ ...env }),
    hooks: Object.freeze([...hooks]),
    parentHooks: Object.freeze(
      parentHooks.map(({ hook, reason = "", stage = "after_parent" }) => Object.freeze({ hook, reason, stage })),
    ),
    primary: given.primary !== false,
  };
}

/** The character of an agent that says nothing of it: a model's side and a person's. */
export function plainCharacter(name: string, side: SideDefinition): Character {
  return {
    title: name,
    description: "",
    sides: Object.freeze({ a: side, b: humanSide() }),
    isDual: false,
    maxSessionTurns: null,
    exposeAsTool: false,
    toolDescription: "",
    env: {},
    hooks: [],
    parentHooks: [],
    primary: true,
  };
}

/** The name, or undefined when it cannot be one. */
export function readAgentName(given: unknown): string | undefined {
  const name = trimmed(given);
  return name !== undefined && (isStandardName(name) || isAcceptedName(name)) ? name : undefined;
}

function readSides({ type, sideA, sideB }: UnknownMap): Character["sides"] | string {
  const a = readSide(sideA, "sideA");
  if (typeof a === "string") return a;
  const b = readSideB(type, sideB);
  if (typeof b === "string") return b;
  if (type !== undefined && a.backing.kind !== "prompt") return `sideA.prompt must be given for ${String(type)}`;
  if (a.backing.kind !== "prompt" && b.backing.kind !== "prompt") return "sideA or sideB must have a prompt";
  return { a, b };
}

/** The first generation says by the type who stands on side B, the second by the side itself. */
function readSideB(type: unknown, given: unknown): SideDefinition | string {
  if (type === "dual_ai") {
    if (given === undefined) return "sideB must be given for dual_ai";
    const side = readSide(given, "sideB");
    return typeof side === "string" || side.backing.kind === "prompt" ? side : "sideB.prompt must be given for dual_ai";
  }
  if (given === undefined) return humanSide();
  const saysWho = isMap(given) && ["prompt", "human", "handler"].some((field) => given[field] !== undefined);
  const side = readSide(saysWho || !isMap(given) ? given : { ...given, human: true }, "sideB");
  if (typeof side === "string" || type === undefined || side.backing.kind === "human") return side;
  return "sideB is a person's for ai_human: leave its prompt or handler out, or write dual_ai";
}

type Check = readonly [field: keyof SidesInput, kind: string, isOfKind: (value: unknown) => boolean];

const isFlag = (value: unknown) => typeof value === "boolean";
const isText = (value: unknown) => typeof value === "string";

const checks: readonly Check[] = [
  ["type", "ai_human or dual_ai", (value) => value === "ai_human" || value === "dual_ai"],
  ["maxSessionTurns", "a whole number from 1", (value) => isWholeNumber(value, 1)],
  ["exposeAsTool", "true or false", isFlag],
  ["toolDescription", "text", isText],
  ["env", "a map of texts", isTextMap],
  ["hooks", "a list of ids", (value) => Array.isArray(value) && value.every((id) => trimmed(id) !== undefined)],
  ["parentHooks", "a list of { hook, reason?, stage? }", (value) => Array.isArray(value) && value.every(isParentHook)],
  ["primary", "true or false", isFlag],
  ["title", "text", isText],
  ["description", "text", isText],
  ["icon", "text", isText],
  ["packageName", "text", isText],
  ["version", "text", isText],
  ["author", "text", isText],
  ["license", "text", isText],
];

export const characterFields: readonly string[] = ["name", "sideA", "sideB", ...checks.map(([field]) => field)];

function isParentHook(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { hook, reason = "", stage = "after_parent", ...unknown } = value;
  const isStage = stage === "before_parent" || stage === "after_parent";
  return trimmed(hook) !== undefined && isText(reason) && isStage && Object.keys(unknown).length === 0;
}
