// A parent and the subagents that it may have, for scenarios: what their models say stands in the tests.
import type { Message } from "../../src/contracts/conversation/message.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import type { StandardMessage } from "../../src/contracts/standard/standard-message.ts";
import type { Holdfast } from "../../src/holdfast.ts";
import type { Model, ModelOptions } from "../../src/models/model.ts";
import { callsTool, type ScriptedAnswer, says } from "../../src/models/scripted/scripted-model.ts";
import { type Agent, agent, type StandardAgentDefinition } from "../../src/threads/agent.ts";
import { type PromptDefinition, prompt } from "../../src/threads/definitions/define-prompt.ts";
import type { SideInput } from "../../src/threads/definitions/side.ts";
import type { ToolEntryInput } from "../../src/threads/definitions/tool-entry.ts";
import type { ChildEntry } from "../../src/threads/state/thread-state.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";
import { type Tool, tool } from "../../src/threads/tool.ts";
import { inShort } from "../held.ts";

/** What a model was shown one time it was asked. */
export type Shown = {
  readonly lines: readonly string[];
  readonly messages: readonly Message[];
  readonly tools: readonly string[];
  readonly instructions: string;
};

type Line = string | ScriptedAnswer | ((shown: Shown) => string | ScriptedAnswer | Promise<string | ScriptedAnswer>);

/** A model that says one line of its part each time it is asked, the last one again and again, and keeps what it was shown. */
export function actor(...lines: readonly Line[]): { readonly model: Model; readonly shown: Shown[] } {
  const shown: Shown[] = [];
  const model: Model = async (messages, _context, options) => {
    const line = lines[Math.min(shown.length, lines.length - 1)] ?? "Nothing.";
    const now = shownTo(messages, options);
    shown.push(now);
    const said = typeof line === "function" ? await line(now) : line;
    return typeof said === "string" ? says(said) : said;
  };
  return { model, shown };
}

function shownTo(messages: readonly Message[], { tools, instructions = "" }: ModelOptions): Shown {
  const names = Object.keys(tools).map((name) => name.replace(/^standard\//, ""));
  return { messages, lines: inShort(messages), tools: names, instructions };
}

const words = { type: "object", properties: { text: { type: "string" } } };
const wordsAndFiles = {
  type: "object",
  properties: { text: { type: "string" }, files: { type: "array", items: { type: "string" } } },
};

const finish = tool({ name: "finish", description: "Ends.", inputSchema: wordsAndFiles, execute: () => "ended" });
const giveUp = tool({ name: "give_up", description: "Fails.", inputSchema: wordsAndFiles, execute: () => "given up" });
const report = tool({ name: "report", description: "Tells how it stands.", inputSchema: words, execute: () => "told" });

/** A model, alone or with its price. */
type Voice = NonNullable<PromptDefinition["model"]>;

type WorkerParts = Partial<Omit<StandardAgentDefinition, "sideA" | "sideB">> & {
  readonly tools?: readonly ToolEntryInput[];
  readonly prompt?: Partial<PromptDefinition>;
  readonly sideA?: Partial<SideInput>;
  readonly sideB?: Partial<SideInput>;
  readonly checker?: Voice;
};

/** A subagent. It ends with `finish`, fails with `give_up`, and tells with `report` how it stands. */
export function worker(model: Voice, parts: WorkerParts = {}): Agent {
  const { name = "worker", tools = [], prompt: more, sideA, sideB, checker = () => "Go on.", ...rest } = parts;
  const own = [finish, giveUp, report].filter((each) => !tools.some((other) => nameOf(other) === each.name));
  return agent({
    name,
    type: "dual_ai",
    sideA: {
      prompt: prompt({ ...speaking(`${name}_does`, model), tools: [...own, ...tools], ...more }),
      sessionStop: { name: "finish", messageProperty: "text", attachmentsProperty: "files" },
      sessionFail: { name: "give_up", messageProperty: "text", attachmentsProperty: "files" },
      sessionStatus: { name: "report", messageProperty: "text" },
      ...sideA,
    },
    sideB: { prompt: prompt(speaking(`${name}_checks`, checker)), ...sideB },
    exposeAsTool: true,
    toolDescription: `Does what ${name} does.`,
    ...rest,
  });
}

function nameOf(entry: ToolEntryInput): string {
  return typeof entry === "object" && "declaration" in entry ? (entry as Tool).name : "";
}

/** The parent: a model's side and a person's. */
export function lead(
  model: Voice,
  tools: readonly ToolEntryInput[],
  { prompt: more, ...side }: Partial<Omit<SideInput, "prompt">> & { readonly prompt?: Partial<PromptDefinition> } = {},
): Agent {
  return agent({ name: "lead", sideA: { prompt: prompt({ ...speaking("leads", model), tools, ...more }), ...side } });
}

function speaking(name: string, model: Voice): PromptDefinition {
  return { name, prompt: `You are ${name}.`, model, includeChat: true, includePastTools: true };
}

/** A worker that stays, as the parent's prompt lists it. */
export function staying(name: string, { resumable, ...more }: JsonMap = {}): ToolEntryInput {
  return { name, resumable: { receives_messages: "side_a", ...(resumable as JsonMap) }, ...more };
}

/** Creates a worker. */
export function creates(parts: JsonMap = {}): ScriptedAnswer {
  return callsTool("subagent_create", {
    ...{ agent: "worker", message: "Do it.", attachments: [], name: "First" },
    ...parts,
  });
}

/** Writes to a worker. */
export function writesTo(referenceId: string, parts: JsonMap = {}): ScriptedAnswer {
  return callsTool("subagent_message", { referenceId, message: "Once more.", attachments: [], ...parts });
}

export const finishes = (text: string, files?: readonly string[]) =>
  callsTool("finish", { text, ...(files && { files }) });
export const givesUp = (text: string) => callsTool("give_up", { text });
export const reports = (text: string) => callsTool("report", { text });

/** The messages as the thread's readers see them, silent ones included. */
export async function history(thread: ThreadHandle): Promise<readonly StandardMessage[]> {
  return (await (await thread.state()).getMessages({ includeSilent: true, limit: 1_000 })).messages;
}

/** The results of tools, in order. */
export async function results(thread: ThreadHandle): Promise<readonly StandardMessage[]> {
  return (await history(thread)).filter(({ role }) => role === "tool");
}

/** The only child, and its thread. */
export async function onlyChild(
  { threads }: Holdfast,
  parent: ThreadHandle,
): Promise<ChildEntry & { readonly thread: ThreadHandle }> {
  const children = await parent.children();
  const [child] = children;
  if (!child || children.length > 1) throw new Error(`There are ${children.length} children.`);
  return { ...child, thread: await threads.get(child.reference) };
}
