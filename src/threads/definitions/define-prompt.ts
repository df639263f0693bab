// Defining a prompt: what is given is checked once, and every default is filled in.
import { trimmed } from "../../contracts/coerce.ts";
import { errorMessage } from "../../contracts/error.ts";
import { isMap, type JsonMap, snapshotMap, type UnknownMap } from "../../contracts/json.ts";
import { isAcceptedName } from "../../contracts/standard/names.ts";
import type { ModelChoices } from "../../models/model-choice.ts";
import { declaredParameters } from "../schemas/parameters-schema.ts";
import { type ReadSchema, readSchema, type ToolSchema } from "../schemas/tool-schema.ts";
import { isWholeNumber } from "../whole-number.ts";
import { invalidDefinition } from "./invalid-definition.ts";
import { CHOICE, isChoice } from "./is-choice.ts";
import { marked, type Prompt, type PromptPart, type ToolEntry } from "./prompt.ts";
import { readParts } from "./prompt-parts.ts";
import { isTextMap, readEntries, type ToolEntryInput } from "./tool-entry.ts";
import { readVariables, type VariableInput } from "./variable.ts";

export type PromptDefinition = {
  /** Small letters, digits and underscores; also its name as a tool. */
  readonly name: string;
  /** What it is for, where it is used as a tool. */
  readonly toolDescription?: string;
  /** The words of the system prompt, as they are, or pieces that are joined without anything in between. */
  readonly prompt: string | readonly (string | PromptPart)[];
  /** The name of a model definition, or a choice as an agent makes it. The environment decides when there is none. */
  readonly model?: ModelChoices;
  /** Shows the conversation so far; false unless given. */
  readonly includeChat?: boolean;
  /** Shows what was called in it, and with what result; false unless given. */
  readonly includePastTools?: boolean;
  /** Told to providers that ask for it. Calls always run one after another. */
  readonly parallelToolCalls?: boolean;
  readonly toolChoice?: "auto" | "none" | "required";
  /** What it is called with as a tool, or as the first side of an agent that runs as one. */
  readonly requiredSchema?: ToolSchema;
  readonly tools?: readonly ToolEntryInput[];
  readonly variables?: readonly VariableInput[];
  /** Values of variables that nobody else has one for. */
  readonly env?: Readonly<Record<string, string>>;
  /** An older name of `env`. */
  readonly tenvs?: Readonly<Record<string, string>>;
  readonly reasoning?: NonNullable<Prompt["reasoning"]>;
  /** So many of the newest messages keep their images; 10 unless given. */
  readonly recentImageThreshold?: number;
  /** Laid over those of the model, key by key. */
  readonly providerOptions?: JsonMap;
  /** Ids of hooks; when there are any they replace those of the agent. */
  readonly hooks?: readonly string[];
  /** Every prompt can be used as a tool; this says nothing any more. */
  readonly exposeAsTool?: boolean;
};

/** Defines a prompt. Throws `invalid_definition` with the field that is wrong; a field that there is not is wrong too. */
export function prompt(definition: PromptDefinition): Prompt {
  const given: UnknownMap = isMap(definition) ? definition : {};
  const name = trimmed(given.name);
  const invalid = (detail: string, cause?: unknown) => invalidDefinition("prompt", name, detail, cause);
  if (name === undefined || !isAcceptedName(name)) throw invalid("name must be small letters, digits and underscores");
  const unknown = Object.keys(given).find((field) => !fields.has(field));
  if (unknown !== undefined) throw invalid(`${unknown} is no field of a prompt`);
  for (const [field, kind, isOfKind] of checks) {
    if (given[field] !== undefined && !isOfKind(given[field])) throw invalid(`${field} must be ${kind}`);
  }
  const parts = readParts(given.prompt);
  if (typeof parts === "string") throw invalid(parts);
  const tools = readEntries(given.tools);
  if (typeof tools === "string") throw invalid(tools);
  const variables = readVariables(given.variables);
  if (typeof variables === "string") throw invalid(variables);
  const { model, parallelToolCalls, reasoning, providerOptions } = definition;
  const requiredSchema = schemaOf(given.requiredSchema, invalid);
  return marked({
    name,
    toolDescription: trimmed(given.toolDescription) ?? "",
    parts,
    ...(model !== undefined && { model }),
    includeChat: given.includeChat === true,
    includePastTools: given.includePastTools === true,
    ...(parallelToolCalls !== undefined && { parallelToolCalls }),
    toolChoice: definition.toolChoice ?? "auto",
    ...(requiredSchema && { requiredSchema }),
    tools,
    variables,
    env: Object.freeze({ ...definition.tenvs, ...definition.env }),
    ...(reasoning && { reasoning: Object.freeze({ ...reasoning }) }),
    recentImageThreshold: definition.recentImageThreshold ?? RECENT_IMAGES,
    ...(providerOptions && { providerOptions: copied(providerOptions, invalid) }),
    hooks: Object.freeze([...(definition.hooks ?? [])]),
  });
}

/** The prompt of an agent that has none: its instructions, with all of the conversation. */
export function implicitPrompt(given: {
  readonly name: string;
  readonly instructions: string | undefined;
  readonly model: ModelChoices | undefined;
  readonly tools: readonly ToolEntry[];
}): Prompt {
  const { name, instructions, model, tools } = given;
  return marked({
    name,
    toolDescription: "",
    parts: instructions === undefined ? [] : [{ type: "text", content: instructions }],
    ...(model !== undefined && { model }),
    includeChat: true,
    includePastTools: true,
    toolChoice: "auto",
    tools,
    variables: [],
    env: {},
    recentImageThreshold: RECENT_IMAGES,
    hooks: [],
  });
}

const RECENT_IMAGES = 10;

type Check = readonly [field: keyof PromptDefinition, kind: string, isOfKind: (value: unknown) => boolean];

const checks: readonly Check[] = [
  ["toolDescription", "text", (value) => typeof value === "string"],
  ["model", CHOICE, isChoice],
  ["includeChat", "true or false", isFlag],
  ["includePastTools", "true or false", isFlag],
  ["parallelToolCalls", "true or false", isFlag],
  ["exposeAsTool", "true or false", isFlag],
  ["toolChoice", "auto, none or required", (value) => ["auto", "none", "required"].includes(value as string)],
  ["env", "a map of texts", isTextMap],
  ["tenvs", "a map of texts", isTextMap],
  ["reasoning", "{ effort?, maxTokens?, exclude?, include? }", isReasoning],
  ["recentImageThreshold", "a whole number from 0", (value) => isWholeNumber(value, 0)],
  ["providerOptions", "a map", isMap],
  ["hooks", "a list of ids", isListOfNames],
];

const fields: ReadonlySet<string> = new Set([
  ...["name", "prompt", "tools", "variables", "requiredSchema"],
  ...checks.map(([field]) => field),
]);

type Invalid = (detail: string, cause?: unknown) => Error;

function schemaOf(given: unknown, invalid: Invalid): ReadSchema | undefined {
  if (given === undefined) return undefined;
  let read: ReadSchema | undefined;
  try {
    read = readSchema(given);
  } catch (thrown) {
    throw invalid(`requiredSchema cannot be read: ${errorMessage(thrown)}`, thrown);
  }
  if (!read) throw invalid("requiredSchema must be a zod schema, a Standard Schema or a JSON Schema");
  if (!declaredParameters(read.json)) throw invalid("requiredSchema must describe a map of arguments");
  return read;
}

function copied(value: unknown, invalid: Invalid): JsonMap {
  try {
    return snapshotMap(value);
  } catch (thrown) {
    throw invalid(`providerOptions ${errorMessage(thrown)}`, thrown);
  }
}

function isFlag(value: unknown): boolean {
  return typeof value === "boolean";
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => trimmed(name) !== undefined);
}

function isReasoning(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { effort = "low", maxTokens = 1, exclude = false, include = false, ...unknown } = value;
  const isLevel = ["low", "medium", "high"].includes(effort as string);
  return (
    isLevel && isWholeNumber(maxTokens, 1) && isFlag(exclude) && isFlag(include) && Object.keys(unknown).length === 0
  );
}
