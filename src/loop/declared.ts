// What the machine knows of a tool by the name that the model used, and what it tells those who judge a call of it.
import { type JsonMap, seal } from "../contracts/json.ts";
import { canonicalName, type ToolDeclaration, type ToolMap } from "../contracts/tools/declaration.ts";
import type { Step } from "./step.ts";

/** What a policy is told of the run. */
export function policyContext({ config, context }: Step, more: JsonMap = {}): JsonMap {
  return seal({ ...config.policyContext, ...context, ...more });
}

/** The declaration behind the name that the model used, if it sees such a tool. */
export function declarationOf({ working }: Step, name: string): ToolDeclaration | null {
  return findIn(working.tools, name);
}

/** The declaration that says what of a call is secret: a tool that the model does not see has secrets too. */
export function hidingDeclarationOf(step: Step, name: string): ToolDeclaration | null {
  return declarationOf(step, name) ?? findIn(step.config.tools, name);
}

function findIn(tools: ToolMap, name: string): ToolDeclaration | null {
  const canonical = canonicalName(name, tools);
  return (Object.hasOwn(tools, canonical) && tools[canonical]) || null;
}
