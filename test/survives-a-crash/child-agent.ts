// Agents of the scenarios with subagents: one that has children, and children that come to an end by a tool.
import type { Message } from "../../src/contracts/conversation/message.ts";
import { type ScriptedStep, scriptedModel } from "../../src/models/scripted/scripted-model.ts";
import { type Agent, agent } from "../../src/threads/agent.ts";
import { prompt } from "../../src/threads/definitions/define-prompt.ts";
import type { SubagentInput } from "../../src/threads/definitions/relationship.ts";
import type { ToolEntryInput } from "../../src/threads/definitions/tool-entry.ts";
import type { VariableInput } from "../../src/threads/definitions/variable.ts";
import { tool } from "../../src/threads/tool.ts";

type Parts = {
  /** What its models answer, step by step, whichever side or prompt is asked. */
  readonly script: readonly ScriptedStep[];
  readonly tools?: readonly ToolEntryInput[];
};

type ParentParts = Parts & { readonly subagents?: readonly SubagentInput[] };

type ChildParts = Parts & {
  /** Those of the side that judges. */
  readonly judgesWith?: readonly ToolEntryInput[];
  readonly variables?: readonly VariableInput[];
};

const shown = { includeChat: true, includePastTools: true };

/** An agent that converses with a user. */
export function parentAgent(name: string, { script, tools = [], subagents = [] }: ParentParts): Agent {
  const leads = prompt({ name: `${name}_leads`, prompt: "You lead.", model: scriptedModel(script), tools, ...shown });
  return agent({ name, sideA: { prompt: leads, subagents } });
}

/** Two models that converse with each other until the first one calls `finish`, with a text, and files if it likes. */
export function childAgent(name: string, { script, tools = [], judgesWith = [], variables = [] }: ChildParts): Agent {
  const about = { model: scriptedModel(script), ...shown };
  const works = prompt({ name: `${name}_works`, prompt: "You work.", tools: [finish, ...tools], variables, ...about });
  const judges = prompt({ name: `${name}_judges`, prompt: "You judge.", tools: judgesWith, ...about });
  const sessionStop = { name: "finish", messageProperty: "text", attachmentsProperty: "files" };
  return agent({
    name,
    type: "dual_ai",
    sideA: { prompt: works, sessionStop },
    sideB: { prompt: judges },
    maxSessionTurns: 5,
    exposeAsTool: true,
    toolDescription: "Works on something.",
  });
}

const finish = tool({
  name: "finish",
  description: "Ends the session.",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string" }, files: { type: "array", items: { type: "string" } } },
  },
  idempotent: true,
  execute: () => "Over.",
});

/** The last id of a thread, or path of a file, that a model was shown. */
export function lastShown(messages: readonly Message[], what: "id" | "path"): string {
  const pattern = what === "id" ? /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g : /\/attachments\/[\w-]+\.txt/g;
  const found = messages.flatMap(({ content }) => (typeof content === "string" ? (content.match(pattern) ?? []) : []));
  return found.at(-1) ?? "nowhere";
}
