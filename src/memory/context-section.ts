// Defines a section of a context: a function that writes one part of what a composable source brings into a prompt.
import { createBrand } from "../contracts/brand.ts";
import { trimmed } from "../contracts/coerce.ts";
import { cleanSlug } from "../contracts/context/clean-name.ts";
import type { ContextSection, ContextSectionArguments } from "../contracts/context/context-sections.ts";
import { holdfastError } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import { isListOfModes } from "./mode.ts";
import type { SourceContext } from "./source-context.ts";

/** `manual`: only for an agent that asks for the source by name. What depends on the moment is for sources to say. */
const policies = ["always", "manual", "never"] as const;

export type ContextSectionOptions = Omit<ContextSectionArguments, "retrieval_policy"> & {
  /** When it is written; `always` unless given. */
  readonly retrieval_policy?: (typeof policies)[number];
  /** Low ones come first; 50 unless given. */
  readonly priority?: number;
  /** Writes the section, now or later; what is no text, or blank, leaves it out. */
  readonly render: (context: SourceContext, section: ContextSection) => unknown;
};

/** A section, ready to be registered. */
export type ContextSectionDefinition = {
  readonly contextSlug: string;
  readonly slug: string;
  readonly given: ContextSectionOptions;
};

const sections = createBrand();

/** Throws `invalid_definition` with what is wrong. */
export function contextSection(
  contextSlug: string,
  slug: string,
  options: ContextSectionOptions,
): ContextSectionDefinition {
  const names = [contextSlug, slug].map((name) => (trimmed(name) === undefined ? "" : cleanSlug(name)));
  const [context = "", section = ""] = names;
  if (context === "" || section === "") throw invalid("a section needs the name of its context and its own", names);
  if (typeof options?.render !== "function") throw invalid("render must be a function", names);
  if (options.priority !== undefined && !Number.isInteger(options.priority)) {
    throw invalid("priority must be a whole number", names);
  }
  const { retrieval_policy: policy = "always", modes = [] } = options;
  if (!policies.includes(policy)) throw invalid(`retrieval_policy must be one of ${policies.join(", ")}`, names);
  if (!isListOfModes(modes)) throw invalid("modes must be a list of names with letters or digits in them", names);
  const made = { contextSlug: context, slug: section, given: Object.freeze({ ...options }) };
  sections.mark(made);
  return Object.freeze(made);
}

export function isContextSection(value: unknown): value is ContextSectionDefinition {
  return isMap(value) && sections.has(value);
}

function invalid(detail: string, names: readonly string[]) {
  return holdfastError("invalid_definition", `${detail} (context section ${names.join("/")})`);
}
