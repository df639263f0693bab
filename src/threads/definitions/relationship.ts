// How a parent may use another agent as its child: one record, whichever generation of the specification it was written in.
import { trimmed } from "../../contracts/coerce.ts";
import { isMap, type UnknownMap } from "../../contracts/json.ts";
import { isWholeNumber } from "../whole-number.ts";
import { type Init, readInit } from "./init.ts";

export type Relationship = Init & {
  /** The agent that runs in the child thread. */
  readonly agent: string;
  /** The name under which it is shown, created and counted. */
  readonly as: string;
  readonly description: string;
  /** Which generation wrote it: over `maxInstances`, a blocking relationship of the second with one instance goes on with that. */
  readonly generation: 1 | 2;
  /** The parent waits for what the child comes to. */
  readonly blocking: boolean;
  /** False: an ordinary tool under its own name, and the child is gone once it has delivered. */
  readonly resumable: boolean;
  readonly receivesMessages: "side_a" | "side_b";
  /** Null: as many as wanted. */
  readonly maxInstances: number | null;
  readonly parentCommunication: "implicit" | "explicit";
  /** Created without being asked for, when its prompt becomes active. */
  readonly immediate:
    | false
    | { readonly nameEnv?: string; readonly descriptionEnv?: string; readonly scopedEnv: readonly string[] };
  /** The name of a flag in the environment without which it is not there. */
  readonly optional?: string;
  /** Only code may create it. */
  readonly hidden: boolean;
  readonly scopedEnv: readonly string[];
};

/** A relationship as the side of an agent lists it. */
export type SubagentInput = Init & {
  readonly agent: string;
  readonly as?: string;
  readonly description?: string;
  readonly blocking?: boolean;
  readonly hidden?: boolean;
  readonly maxInstances?: number;
  readonly parentCommunication?: "implicit" | "explicit";
  readonly receivesMessages?: "side_a" | "side_b";
  readonly immediate?: ImmediateInput;
  readonly optional?: string;
  readonly scopedEnv?: readonly string[];
};

export type ImmediateInput =
  | boolean
  | { readonly nameEnv?: string; readonly descriptionEnv?: string; readonly scopedEnv?: readonly string[] };

/** How a child that stays is spoken with. */
export type ResumableInput =
  | false
  | {
      readonly receives_messages?: "side_a" | "side_b";
      readonly maxInstances?: number;
      readonly parentCommunication?: "implicit" | "explicit";
    };

/**
 * A relationship from an entry among a prompt's tools: an ordinary tool that is waited for, unless it says otherwise. The
 * entry's fields have been checked.
 */
export function relationshipOfEntry(agent: string, entry: UnknownMap, description: string): Relationship {
  const stays = isMap(entry.resumable) ? entry.resumable : undefined;
  const immediate = readImmediate(entry.immediate);
  return Object.freeze({
    agent,
    as: agent,
    description,
    generation: 1,
    blocking: entry.blocking !== false,
    resumable: stays !== undefined,
    ...readManners(stays ?? {}, stays?.receives_messages),
    immediate,
    ...(trimmed(entry.optional) !== undefined && { optional: String(entry.optional).trim() }),
    hidden: false,
    scopedEnv: immediate === false ? [] : immediate.scopedEnv,
    ...readInit(entry),
  });
}

/** A relationship that a side lists, or what is wrong with it. Its description may have to come from the agent. */
export function readSubagent(given: unknown): Relationship | string {
  if (!isMap(given)) return " must be a map";
  const stray = Object.keys(given).find((field) => !Object.hasOwn(fields, field));
  if (stray !== undefined) return `.${stray} is no field of a subagent`;
  for (const [field, [kind, isOfKind]] of Object.entries(fields)) {
    if (given[field] !== undefined && !isOfKind(given[field])) return `.${field} must be ${kind}`;
  }
  const agent = trimmed(given.agent);
  if (agent === undefined) return ".agent must not be blank";
  const immediate = readImmediate(given.immediate);
  const listed = [...((given.scopedEnv ?? []) as string[]), ...(immediate === false ? [] : immediate.scopedEnv)];
  const scopedEnv = Object.freeze([...new Set(listed)]);
  return Object.freeze({
    agent,
    as: trimmed(given.as) ?? agent,
    description: trimmed(given.description) ?? "",
    generation: 2,
    blocking: given.blocking === true,
    resumable: true,
    ...readManners(given, given.receivesMessages),
    immediate: immediate === false ? false : { ...immediate, scopedEnv },
    ...(trimmed(given.optional) !== undefined && { optional: String(given.optional).trim() }),
    hidden: given.hidden === true,
    scopedEnv,
    ...readInit(given),
  });
}

/** What is wrong with `resumable`, `immediate` or one of the other fields of an entry; undefined when nothing is. */
export function entryProblem(entry: UnknownMap): string | undefined {
  const { resumable } = entry;
  if (resumable !== undefined && resumable !== false && !isMap(resumable)) return "resumable must be false or a map";
  if (isMap(resumable)) {
    const { receives_messages = "side_a", ...rest } = resumable;
    if (!isSide(receives_messages)) return "resumable.receives_messages must be side_a or side_b";
    const manners = ["maxInstances", "parentCommunication"] as const;
    const stray = Object.keys(rest).find((field) => !(manners as readonly string[]).includes(field));
    if (stray !== undefined) return `resumable.${stray} is no field of a subagent that stays`;
    for (const field of manners) {
      const [kind, isOfKind] = fields[field];
      if (rest[field] !== undefined && !isOfKind(rest[field])) return `resumable.${field} must be ${kind}`;
    }
  }
  for (const field of ["blocking", "immediate", "optional", ...INIT] as const) {
    const [kind, isOfKind] = fields[field];
    if (entry[field] !== undefined && !isOfKind(entry[field])) return `${field} must be ${kind}`;
  }
  return undefined;
}

const INIT = ["initUserMessageProperty", "initAttachmentsProperty", "initAgentNameProperty"] as const;

type Field = keyof Required<SubagentInput>;

const aName = ["a name", (value: unknown) => trimmed(value) !== undefined] as const;
const aFlag = ["true or false", (value: unknown) => typeof value === "boolean"] as const;

const fields: Readonly<Record<Field, readonly [kind: string, isOfKind: (value: unknown) => boolean]>> = {
  agent: aName,
  as: aName,
  description: ["text", (value) => typeof value === "string"],
  blocking: aFlag,
  hidden: aFlag,
  maxInstances: ["a whole number from 1", (value) => isWholeNumber(value, 1)],
  parentCommunication: ["implicit or explicit", (value) => value === "implicit" || value === "explicit"],
  receivesMessages: ["side_a or side_b", isSide],
  immediate: ["true, false or { nameEnv?, descriptionEnv?, scopedEnv? }", isImmediate],
  optional: ["the name of a variable", (value) => trimmed(value) !== undefined],
  scopedEnv: ["a list of names", isListOfNames],
  initUserMessageProperty: ["the name of an argument", (value) => trimmed(value) !== undefined],
  initAttachmentsProperty: ["the name of an argument", (value) => trimmed(value) !== undefined],
  initAgentNameProperty: ["the name of an argument", (value) => trimmed(value) !== undefined],
};

function readManners(given: UnknownMap, receives: unknown) {
  return {
    receivesMessages: receives === "side_b" ? "side_b" : "side_a",
    maxInstances: typeof given.maxInstances === "number" ? given.maxInstances : null,
    parentCommunication: given.parentCommunication === "explicit" ? "explicit" : "implicit",
  } as const;
}

function readImmediate(given: unknown): Relationship["immediate"] {
  if (given === true) return { scopedEnv: [] };
  if (!isMap(given)) return false;
  const nameEnv = trimmed(given.nameEnv);
  const descriptionEnv = trimmed(given.descriptionEnv);
  return {
    ...(nameEnv !== undefined && { nameEnv }),
    ...(descriptionEnv !== undefined && { descriptionEnv }),
    scopedEnv: Object.freeze([...((given.scopedEnv ?? []) as string[])]),
  };
}

function isSide(value: unknown): boolean {
  return value === "side_a" || value === "side_b";
}

function isImmediate(value: unknown): boolean {
  if (typeof value === "boolean") return true;
  if (!isMap(value)) return false;
  const { nameEnv = "x", descriptionEnv = "x", scopedEnv = [], ...unknown } = value;
  const areNames = trimmed(nameEnv) !== undefined && trimmed(descriptionEnv) !== undefined;
  return areNames && isListOfNames(scopedEnv) && Object.keys(unknown).length === 0;
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => trimmed(name) !== undefined);
}
