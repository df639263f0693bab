// `secret_ref` and `token_ref`: the name of an environment variable, never the secret itself.
import { type Environment, environmentValue, isVariableName } from "./environment.ts";
import type { Section } from "./sections/section.ts";

export type EnvironmentRef = { readonly name: string; readonly value: string };

/** Undefined when the setting is absent, or unusable; then it is a problem that shows no value. */
export function readEnvironmentRef(section: Section, key: string, env: Environment): EnvironmentRef | undefined {
  const node = section.node(key);
  const text = section.text(key);
  if (text === undefined) return undefined;
  const name = text.trim().replace(/^env:/, "");
  if (!isVariableName(name) || (node?.kind === "scalar" && node.origin === "environment")) {
    return section.problem(
      key,
      "takes the name of an environment variable, as NAME or env:NAME, never the secret itself.",
    );
  }
  const value = environmentValue(env, name);
  if (value !== undefined && value.trim() !== "") return { name, value };
  return section.problem(key, `names ${describe(name)}, which is not set or empty.`);
}

/** What is not written as variables are may be the secret itself. */
function describe(name: string): string {
  return /^[A-Z_][A-Z0-9_]{0,63}$/.test(name) ? `the environment variable ${name}` : "an environment variable";
}
