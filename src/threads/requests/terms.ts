// The terms under which an approval is asked: who may decide, and the version of the rules. Both are part of what the
// approval is bound to, so that a yes under other rules is no yes.
import type { RequestTerms } from "../../backend/request-store.ts";
import { sha256, sortedText } from "../../contracts/canonical-json.ts";
import { isMap } from "../../contracts/json.ts";
import { normalize as policyNamed } from "../../contracts/tools/action-policy.ts";
import type { ApproverRule } from "../../contracts/trust/approver-rule.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { Agent } from "../agent.ts";
import { runOptions } from "../agent.ts";
import { toolOf } from "../cast/cast.ts";
import { castOf } from "../cast/casting.ts";
import type { Host } from "../host.ts";
import type { Subject } from "../subject.ts";
import type { Tool } from "../tool.ts";

export function termsOf(agent: Agent, tool: Tool | undefined, { principal, workspace }: Subject): RequestTerms {
  const rule = approversOf(agent, tool);
  return {
    agent: agent.slug,
    creator: creatorOf(principal),
    workspace_type: workspace?.workspace_type ?? null,
    workspace_id: workspace?.workspace_id ?? null,
    policy_version: policyVersion(agent, tool),
    approvers: rule ? JSON.stringify(rule) : null,
  };
}

/** Who set off a call, in words; null when nobody is known. */
export function creatorOf({ acting_user_id }: Principal): string | null {
  return acting_user_id > 0 ? `user:${acting_user_id}` : null;
}

/** The tool's own rule, or that of the agent. */
export function approversOf(agent: Agent, tool: Tool | undefined): ApproverRule | undefined {
  return tool?.approvers ?? agent.approvers;
}

/**
 * Names everything that decides what a yes means: what the tool takes and how it may run, what the agent says about it,
 * and who may decide. Other words in a description are no other rule.
 */
export function policyVersion(agent: Agent, tool: Tool | undefined): string {
  const { actionPolicy = null } = runOptions(agent);
  const declaration = withoutWords(tool?.declaration ?? null);
  const rules = { declaration, action_policy: actionPolicy, approvers: approversOf(agent, tool) ?? null };
  return `policy-${sha256(sortedText(rules)).slice(0, 16)}`;
}

/** True for a tool that says of itself that a person has to agree, in some mode. */
export function asksItself({ declaration }: Tool): boolean {
  const fields = Object.entries(declaration).filter(([key]) => key.startsWith("action_policy"));
  return fields.some(([, policy]) => policyNamed(policy) === "preview");
}

/** Descriptions are for models, at every depth of a schema. */
function withoutWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutWords);
  if (!isMap(value)) return value;
  const entries = Object.entries(value).filter(([key, item]) => key !== "description" || typeof item !== "string");
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutWords(item)]));
}

/** The tool of this name that an agent may call, as this process knows it. */
export function toolNamed(host: Host, agent: Agent | undefined, name: string): Tool | undefined {
  return agent && toolsNamed(host, agent, name)[0];
}

/**
 * The tool that a request was made about: of several of one name, in several prompts of an agent, the one whose rules are
 * those under which it was asked. Undefined where no such tool is known.
 */
export function toolAsked(host: Host, { terms, tool_name }: Asked): Tool | undefined {
  const agent = host.agents.get(terms.agent);
  if (!agent) return undefined;
  return toolsNamed(host, agent, tool_name).find((tool) => policyVersion(agent, tool) === terms.policy_version);
}

/** True when the tool is known here, and its rules are no longer those under which it was asked. */
export function isOutdated(host: Host, { terms, tool_name }: Asked): boolean {
  const agent = host.agents.get(terms.agent);
  if (!agent) return false;
  const tools: readonly (Tool | undefined)[] = toolsNamed(host, agent, tool_name);
  // An agent that has no such tool any more would run nothing.
  const known = tools.length > 0 ? tools : [undefined];
  return known.every((tool) => policyVersion(agent, tool) !== terms.policy_version);
}

type Asked = { readonly terms: RequestTerms; readonly tool_name: string };

/** Whoever speaks for the agent may call other tools of that name: its sides, and the prompts that they use as tools. */
function toolsNamed(host: Host, agent: Agent, name: string): readonly Tool[] {
  const found = new Set<Tool>();
  for (const side of ["a", "b"] as const) {
    if (agent.sides[side].backing.kind !== "prompt") continue;
    const seen = new Set<string | undefined>();
    const look = (spoken: string | undefined): void => {
      if (seen.has(spoken)) return;
      seen.add(spoken);
      const cast = castOf(host, agent, side, spoken);
      const tool = toolOf(cast, name);
      if (tool) found.add(tool);
      for (const { prompt } of cast.prompts.values()) look(prompt.name);
    };
    look(undefined);
  }
  return [...found];
}
