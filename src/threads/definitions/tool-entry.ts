// The entries of a prompt's tools, read: tools and prompts as they are, and names with what is said beside them.
import { trimmed } from "../../contracts/coerce.ts";
import { errorMessage } from "../../contracts/error.ts";
import { emptyMap, isMap, type JsonMap, snapshotMap, type UnknownMap } from "../../contracts/json.ts";
import { declaredName } from "../../contracts/standard/names.ts";
import { isTool, type Tool } from "../tool.ts";
import { type Init, readInit } from "./init.ts";
import { isPrompt, type Prompt, type PromptUse, type ToolEntry } from "./prompt.ts";
import { entryProblem, type ImmediateInput, type ResumableInput } from "./relationship.ts";

/**
 * What a prompt may list: the name of a tool, a prompt or an agent, one of these with settings, or a tool or prompt itself.
 * An agent that converses with people is handed over to; one that converses with itself runs as a subagent.
 */
export type ToolEntryInput =
  | string
  | Tool
  | Prompt
  | ({ readonly name: string } & ToolSettings & PromptSettings & SubagentSettings)
  | ({ readonly tool: Tool } & ToolSettings)
  | ({ readonly prompt: Prompt } & PromptSettings & Init);

type ToolSettings = {
  /** Values of variables for this tool alone. */
  readonly env?: Readonly<Record<string, string>>;
  /** Handed to the tool as they are. */
  readonly options?: JsonMap;
};

type PromptSettings = {
  readonly includeTextResponse?: boolean;
  readonly includeToolCalls?: boolean;
  readonly includeErrors?: boolean;
};

type SubagentSettings = Init & {
  readonly blocking?: boolean;
  readonly immediate?: ImmediateInput;
  /** The name of a flag in the environment without which it is not there. */
  readonly optional?: string;
  readonly resumable?: ResumableInput;
};

/** The entries of a list, or what is wrong with it, in words that begin with the place. */
export function readEntries(given: unknown): readonly ToolEntry[] | string {
  if (given === undefined) return [];
  if (!Array.isArray(given)) return "tools must be a list";
  const entries: ToolEntry[] = [];
  const names = new Set<string>();
  for (const [index, each] of given.entries()) {
    const entry = readEntry(each);
    if (typeof entry === "string") return `tools[${index}]${entry}`;
    const name = entryName(entry);
    if (names.has(declaredName(name))) return `tools[${index}] has the name ${name} of another`;
    names.add(declaredName(name));
    entries.push(Object.freeze(entry));
  }
  return Object.freeze(entries);
}

function entryName(entry: ToolEntry): string {
  if (entry.kind === "tool") return entry.tool.name;
  return entry.kind === "prompt" ? entry.prompt.name : entry.name;
}

/** How a prompt is used as a tool: all of what it comes to is shown, unless the entry says otherwise. */
export function promptUse(given: UnknownMap): PromptUse {
  return Object.freeze({
    includeTextResponse: given.includeTextResponse !== false,
    includeToolCalls: given.includeToolCalls !== false,
    includeErrors: given.includeErrors !== false,
    ...readInit(given),
  });
}

/** What a tool is told by its entry. */
export function toolEntry(tool: Tool, given: UnknownMap): Extract<ToolEntry, { kind: "tool" }> {
  const env = (isMap(given.env) ? given.env : emptyMap) as Readonly<Record<string, string>>;
  return Object.freeze({ kind: "tool", tool, env, options: snapshotMap(given.options) });
}

const OF_TOOLS = ["env", "options"];
const OF_PROMPTS = ["includeTextResponse", "includeToolCalls", "includeErrors"];
const OF_SUBAGENTS = ["blocking", "immediate", "optional", "resumable"];
const OF_INIT = ["initUserMessageProperty", "initAttachmentsProperty", "initAgentNameProperty"];

const OF_KINDS = {
  tool: OF_TOOLS,
  prompt: [...OF_PROMPTS, ...OF_INIT],
  handoff: OF_INIT,
  subagent: [...OF_SUBAGENTS, ...OF_INIT],
} as const;

/** A setting of the entry that says nothing to what its name turned out to be. */
export function strayField(given: UnknownMap, kind: keyof typeof OF_KINDS): string | undefined {
  return Object.keys(given).find((field) => !OF_KINDS[kind].includes(field));
}

/** What is wrong begins with the field below the entry. */
function readEntry(given: unknown): ToolEntry | string {
  if (isTool(given)) return toolEntry(given, emptyMap);
  if (isPrompt(given)) return { kind: "prompt", prompt: given, uses: promptUse(emptyMap) };
  if (typeof given === "string") return named(trimmed(given), emptyMap);
  if (!isMap(given)) return " must be made by tool() or prompt(), or be a name, alone or in a map";
  const { name, tool, prompt, ...settings } = given;
  const problem = settingsProblem(settings);
  if (problem !== undefined) return `.${problem}`;
  if (tool !== undefined) {
    if (!isTool(tool)) return ".tool must be made by tool()";
    return name === undefined && prompt === undefined ? toolEntry(tool, copied(settings)) : " must name one thing";
  }
  if (prompt !== undefined) {
    if (!isPrompt(prompt)) return ".prompt must be made by prompt()";
    return name === undefined ? { kind: "prompt", prompt, uses: promptUse(settings) } : " must name one thing";
  }
  return named(trimmed(name), copied(settings));
}

function named(name: string | undefined, given: JsonMap): ToolEntry | string {
  return name === undefined ? ".name must not be blank" : { kind: "named", name, given };
}

function copied(settings: UnknownMap): JsonMap {
  return snapshotMap(settings);
}

function settingsProblem(settings: UnknownMap): string | undefined {
  const known = [...OF_TOOLS, ...OF_PROMPTS, ...OF_SUBAGENTS, ...OF_INIT];
  const stray = Object.keys(settings).find((field) => !known.includes(field));
  if (stray !== undefined) return `${stray} is no field of an entry`;
  const { env, options } = settings;
  if (env !== undefined && !isTextMap(env)) return "env must be a map of texts";
  if (options !== undefined && !isMap(options)) return "options must be a map";
  const flag = OF_PROMPTS.find((field) => settings[field] !== undefined && typeof settings[field] !== "boolean");
  if (flag !== undefined) return `${flag} must be true or false`;
  try {
    snapshotMap(options);
  } catch (thrown) {
    return `options ${errorMessage(thrown)}`;
  }
  return entryProblem(settings);
}

/** True for a map whose values are all texts. */
export function isTextMap(value: unknown): value is Readonly<Record<string, string>> {
  return isMap(value) && Object.values(value).every((each) => typeof each === "string");
}
