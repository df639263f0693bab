// The system prompt that a model is given, put together from the parts of a prompt.
import type { Json } from "../json.ts";

/** A piece of a system prompt. They are joined without anything in between. */
export type SystemPart =
  | { readonly type: "text"; readonly content: string }
  | { readonly type: "include"; readonly prompt: string }
  | { readonly type: "env"; readonly property: string }
  | { readonly type: "variable"; readonly name: string };

/** The parts of the prompt of that name. */
type Include = (name: string) => readonly SystemPart[] | undefined;

type SystemSources = {
  readonly include: Include;
  readonly env: (name: string) => string | undefined;
  readonly variable: (name: string) => Json | undefined;
};

/**
 * The text of the parts. A prompt that is not there is named in its place, one that would include itself is passed over; an
 * environment variable without a value is nothing, and a variable without one stays as `{{name}}`.
 */
export function renderSystemPrompt(parts: readonly SystemPart[], { include, env, variable }: SystemSources): string {
  return flatten(parts, include)
    .map((part) => {
      if (part.type === "text") return part.content;
      if (part.type === "env") return env(part.property) ?? "";
      const value = variable(part.name);
      if (value === undefined) return `{{${part.name}}}`;
      return typeof value === "string" ? value : JSON.stringify(value);
    })
    .join("");
}

/** The environment variables that the parts and what they include ask for, each once. */
export function envNames(parts: readonly SystemPart[], include: Include): string[] {
  const names = flatten(parts, include).flatMap((part) => (part.type === "env" ? [part.property] : []));
  return [...new Set(names)];
}

/** True when a variable stands in the parts, or in what they include. */
export function asksForVariables(parts: readonly SystemPart[], include: Include): boolean {
  return flatten(parts, include).some(({ type }) => type === "variable");
}

type FlatPart = Exclude<SystemPart, { readonly type: "include" }>;

function flatten(parts: readonly SystemPart[], include: Include): readonly FlatPart[] {
  const within = (inner: readonly SystemPart[], path: readonly string[]): readonly FlatPart[] =>
    inner.flatMap((part) => {
      if (part.type !== "include") return [part];
      const included = include(part.prompt);
      if (included === undefined) return [{ type: "text", content: `[There is no prompt "${part.prompt}".]` }];
      // The outermost prompt has no name here, but its parts are known again.
      const isCycle = included === parts || path.includes(part.prompt);
      return isCycle ? [] : within(included, [...path, part.prompt]);
    });
  return within(parts, []);
}
