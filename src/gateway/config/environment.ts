// Values of environment variables in the texts of a configuration.

import type { LocatedNode, ScalarNode } from "../../yaml/located-node.ts";
import type { Report } from "../../yaml/report.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The value of a variable; undefined when it is not set. */
export function environmentValue(env: Environment, name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

export function isVariableName(name: string): boolean {
  return NAME.test(name);
}

/**
 * Puts the values of variables where `${NAME}` stands in a text; `$${` stands for `${`. Keys stay as they are, and what
 * a value itself contains is not looked at again. A variable that is not set is a problem.
 */
export function interpolate(node: LocatedNode, env: Environment, report: Report): LocatedNode {
  const below = (part: LocatedNode) => interpolate(part, env, report);
  if (node.kind === "list") return { ...node, items: node.items.map(below) };
  if (node.kind === "map") {
    return { ...node, entries: new Map([...node.entries].map(([key, entry]) => [key, below(entry)])) };
  }
  return typeof node.value === "string" && node.value.includes("${") ? interpolateText(node, env, report) : node;
}

const ESCAPED_OR_VARIABLE = /\$\$\{|\$\{([^}]*)(\}?)/g;

function interpolateText(node: ScalarNode, env: Environment, report: Report): LocatedNode {
  let origin: ScalarNode["origin"] = node.origin;
  const value = String(node.value).replace(ESCAPED_OR_VARIABLE, (match, name: string | undefined, end: string) => {
    if (name === undefined) return "${";
    const replacement = end === "" || !isVariableName(name) ? undefined : environmentValue(env, name);
    if (replacement === undefined) report.problem(node.place, whyMissing(name, end));
    if (replacement === undefined) origin = "unusable";
    else origin ??= "environment";
    return replacement ?? match;
  });
  return { ...node, value, ...(origin !== undefined && { origin }) };
}

function whyMissing(name: string, end: string): string {
  if (end === "") return "A ${ is never closed; write $${ for the two characters themselves.";
  if (!isVariableName(name)) {
    return "After ${ stands the name of an environment variable; write $${ for the two characters themselves.";
  }
  return `The environment variable ${name} is not set.`;
}
