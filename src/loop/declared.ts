// What the machine knows of a tool by the name that the model used, and what it tells those who judge a call of it.
import { type JsonMap, seal } from "../contracts/json.ts";
import { canonicalName, type ToolDeclaration, type ToolMap } from "../contracts/tools/declaration.ts";
import { REDACTED } from "../contracts/tools/sensitive-keys.ts";
import type { Step } from "./step.ts";

/** What a policy is told of the run. */
export function policyContext({ config, context }: Step, more: JsonMap = {}): JsonMap {
  return seal({ ...config.policyContext, ...context, ...more });
}

/** What the calls of this turn may call: what the model sees, unless they were queued for the run and are not its own. */
export function callableTools({ config, state, working }: Step): ToolMap {
  return state.batch.queued ? config.tools : working.tools;
}

/** The declaration behind the name that a call used, if it may call such a tool. */
export function declarationOf(step: Step, name: string): ToolDeclaration | null {
  return findIn(callableTools(step), name);
}

/** True for a tool that is meant to be called over and over, such as one that polls: guards do not count its calls. */
export function isRepeatable({ config }: Step, name: string): boolean {
  return findIn(config.tools, name)?.repeatable === true;
}

/** The declaration that says what of a call is secret: a tool that the model does not see has secrets too. */
export function hidingDeclarationOf(step: Step, name: string): ToolDeclaration | null {
  return declarationOf(step, name) ?? findIn(step.config.tools, name);
}

/** The parameters of a call to a tool that there is not, hidden; undefined when they may be shown as they are declared. */
export function hiddenParameters(step: Step, name: string, parameters: JsonMap): JsonMap | undefined {
  if (step.config.rules.undeclared === "show" || hidingDeclarationOf(step, name)) return undefined;
  return seal(Object.fromEntries(Object.keys(parameters).map((key) => [key, REDACTED])));
}

function findIn(tools: ToolMap, name: string): ToolDeclaration | null {
  const canonical = canonicalName(name, tools);
  return (Object.hasOwn(tools, canonical) && tools[canonical]) || null;
}
