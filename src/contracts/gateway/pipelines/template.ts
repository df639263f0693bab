// Templates of a step's `with` map: `{payload.x}` and `{context.y}` inside text.
import { holdfastError } from "../../error.ts";
import type { Json, JsonMap } from "../../json.ts";
import { type DottedPath, lookUp, parsePath } from "../../predicates/paths.ts";
import type { PipelineScope } from "./pipeline-scope.ts";

type Reference = { readonly path: DottedPath; readonly source: string };
type Segment = { readonly text: string } | Reference;

/** What is wrong with how a template is written; undefined when nothing is. Whether its paths exist shows later. */
export function templateProblem(template: string): string | undefined {
  const parsed = parse(template);
  return "problem" in parsed ? parsed.problem : undefined;
}

/**
 * The value of a template: a lone reference keeps the type of what it finds, anything else is text. Throws
 * `invalid_template` for a brace without its partner and for a path that is not there.
 */
export function expandTemplate(template: string, scope: PipelineScope): Json {
  const parsed = parse(template);
  if ("problem" in parsed) throw holdfastError("invalid_template", parsed.problem);
  const [first, ...rest] = parsed.segments;
  if (first !== undefined && "path" in first && rest.length === 0) return resolve(first, scope, template);
  return parsed.segments
    .map((segment) => ("text" in segment ? segment.text : asText(resolve(segment, scope, template))))
    .join("");
}

/** Every value of a `with` map, from one snapshot of the scope. Text inside lists and maps is expanded too. */
export function expandWith(templates: Readonly<Record<string, Json>>, scope: PipelineScope): JsonMap {
  return Object.fromEntries(Object.entries(templates).map(([key, template]) => [key, expand(template, scope)]));
}

function expand(template: Json, scope: PipelineScope): Json {
  if (typeof template === "string") return expandTemplate(template, scope);
  if (Array.isArray(template)) return template.map((item) => expand(item, scope));
  return typeof template === "object" && template !== null ? expandWith(template as JsonMap, scope) : template;
}

function parse(template: string): { readonly segments: readonly Segment[] } | { readonly problem: string } {
  const segments: Segment[] = [];
  for (let at = 0; at < template.length; ) {
    const open = template.indexOf("{", at);
    const end = open === -1 ? template.length : open;
    const text = template.slice(at, end);
    if (text.includes("}")) return problem("has a } without a {", template);
    if (text !== "") segments.push({ text });
    if (open === -1) break;
    const close = template.indexOf("}", open);
    if (close === -1) return problem("has a { without a }", template);
    const source = template.slice(open + 1, close).trim();
    if (source === "") return problem("has an empty reference", template);
    if (source.includes("{")) return problem("has a { inside a reference", template);
    const path = parsePath(source, ["payload", "context"]);
    if (path === undefined) {
      return problem(`refers to ${quoted(source)}, which is below neither payload nor context`, template);
    }
    segments.push({ path, source });
    at = close + 1;
  }
  return { segments };
}

function resolve({ path, source }: Reference, scope: PipelineScope, template: string): Json {
  const lookup = lookUp(scope, path);
  if (lookup.found) return lookup.value;
  throw holdfastError("invalid_template", `The template ${quoted(template)} refers to ${source}, which is not there.`);
}

function asText(value: Json): string {
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function problem(what: string, template: string): { readonly problem: string } {
  return { problem: `The template ${quoted(template)} ${what}.` };
}

const LONGEST_QUOTE = 200;

function quoted(text: string): string {
  return JSON.stringify(text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text);
}
