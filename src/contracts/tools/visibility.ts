// Which tools the model sees. Everybody with a say here, from the tool itself to the host's providers, may only narrow the
// choice; what is expressly denied is hidden whatever else they said.
import { stringList } from "../coerce.ts";
import { asMap, emptyMap, isContainer, type UnknownMap } from "../json.ts";
import { agentConfigOf } from "./agent-config.ts";
import { type AbilityCategory, categoriesOf, namesAbilities } from "./categories.ts";
import { statesScope } from "./declaration.ts";
import { perDefinition } from "./per-definition.ts";
import { isAutonomous, type Listed, readPolicy, type VisibilityPolicy } from "./visibility-policy.ts";

/** A host's say in what the model sees: returns a fragment of policy, or null to say nothing. */
export type ToolPolicyProvider = (context: UnknownMap) => unknown;

/** A tool in one of these categories counts as one that writes. */
export const WRITE_CATEGORIES: readonly string[] = Object.freeze(["write", "publishing", "mutating", "destructive"]);

/** Those with a say beside the context. */
type Given = {
  /** What policy providers returned, in order. */
  readonly fragments?: readonly unknown[];
  /** Asked last and only for tools that would be seen; one that throws, or does not answer `true`, hides the tool. */
  readonly isAccessible?: (name: string, definition: UnknownMap) => boolean;
  /** Hides tools that write from runs on nobody's behalf, unless they are asked for expressly. */
  readonly hidesWrites?: boolean;
  /** In place of the usual ones; an empty list hides no tool for writing. */
  readonly writeCategories?: readonly unknown[];
  readonly abilityCategory?: AbilityCategory;
};

/**
 * The names of the tools that the model sees. They keep their order, except that mandatory tools come first as soon as
 * a policy lists tools. A definition that is not a map is never seen; one that is must not change afterwards.
 */
export function resolve(tools: UnknownMap, context: UnknownMap, given: Given = {}): readonly string[] {
  const policy = readPolicy(context, given.fragments ?? []);
  const { mode, steps, allowOnly, denied, mandatory, optedIn } = policy;
  const { abilityCategory, isAccessible } = given;
  const writing = writeCategories(policy, context, given);
  const leading: string[] = [];
  const names = steps.length > 0 || allowOnly.size > 0 ? [] : leading;
  for (const { name, definition, traits } of toolsOf(tools)) {
    if (denied.size > 0 && denied.has(name)) continue;
    if (traits.modes !== undefined && mode !== "" && !traits.modes.includes(mode)) continue;
    const dependsOnAbilities = abilityCategory !== undefined && traits.namesAbilities;
    const categories = dependsOnAbilities ? categoriesOf(definition, abilityCategory) : traits.categories;
    const isPreserved = traits.isMandatory || lists(mandatory, name, categories);
    if (!isPreserved) {
      if (!isWanted(policy, name, categories)) continue;
      const needsOptIn = traits.isRuntime || (writing !== undefined && writes(traits, categories, writing));
      if (needsOptIn && !lists(optedIn, name, categories)) continue;
    }
    if (isAccessible !== undefined && !affirms(isAccessible, name, definition)) continue;
    (isPreserved ? leading : names).push(name);
  }
  return names === leading ? names : leading.concat(names);
}

const SPEAKING = [
  ...["tool_policy", "categories", "allow_only", "deny", "runtime_tools", "runtime_categories"],
  ...["mandatory_tools", "mandatory_categories"],
];

/**
 * True when a context says anything about visibility, or a tool says where it may be used. An empty policy or list
 * counts, null does not.
 */
export function isConfigured(context: UnknownMap, tools: UnknownMap): boolean {
  if (SPEAKING.some((field) => context[field] != null) || agentConfigOf(context).tool_policy != null) return true;
  return toolsOf(tools).some(({ traits }) => traits.modes !== undefined);
}

/** True for a fragment of policy that can be read as it was meant: a known mode, and names as texts or lists of them. */
export function isFragment(value: unknown): boolean {
  const fragment = asMap(value);
  if (fragment === undefined) return false;
  const mode = fragment.mode ?? "deny";
  return (mode === "allow" || mode === "deny") && listsNames(fragment);
}

/** True when everything that a context or fragment lists is a name or a list of names. */
export function listsNames(speaker: UnknownMap): boolean {
  return LISTS.every((field) => speaker[field] == null || isListOfNames(speaker[field]));
}

const LISTS = [
  ...["tools", "categories", "allow_only", "deny", "runtime_tools", "runtime_categories"],
  ...["mandatory_tools", "mandatory_categories"],
];

function isListOfNames(value: unknown): boolean {
  const names = Array.isArray(value) ? value : [value];
  return names.every((name) => typeof name === "string");
}

/** Whether a tool without privileges passes everything that narrows the choice. */
function isWanted(policy: VisibilityPolicy, name: string, categories: readonly string[]): boolean {
  const { steps, categories: wanted, allowOnly } = policy;
  for (const step of steps) if (lists(step, name, categories) !== (step.mode === "allow")) return false;
  if (wanted.size > 0 && !includesOne(wanted, categories)) return false;
  return allowOnly.size === 0 || allowOnly.has(name);
}

function lists(listed: Listed, name: string, categories: readonly string[]): boolean {
  if (listed.names.size > 0 && listed.names.has(name)) return true;
  return listed.categories.size > 0 && includesOne(listed.categories, categories);
}

function includesOne(set: ReadonlySet<string>, items: readonly string[]): boolean {
  for (const item of items) if (set.has(item)) return true;
  return false;
}

/** The categories that hide a tool for writing; undefined when no tool is hidden for that. */
function writeCategories(
  { allowsWrites }: VisibilityPolicy,
  context: UnknownMap,
  { hidesWrites, writeCategories: given = WRITE_CATEGORIES }: Given,
): ReadonlySet<string> | undefined {
  if (hidesWrites !== true || allowsWrites || !isAutonomous(context)) return undefined;
  const categories = stringList(given);
  return categories.length > 0 ? new Set(categories) : undefined;
}

function writes(traits: Traits, categories: readonly string[], writing: ReadonlySet<string>): boolean {
  return traits.isWriting || includesOne(writing, categories);
}

// A checker that cannot answer has not granted anything.
function affirms(check: NonNullable<Given["isAccessible"]>, name: string, definition: UnknownMap): boolean {
  try {
    return check(name, definition) === true;
  } catch {
    return false;
  }
}

type Traits = {
  /** Where the tool may be used, as it is written: nowhere when empty, everywhere when undefined. */
  readonly modes: readonly unknown[] | undefined;
  readonly categories: readonly string[];
  readonly namesAbilities: boolean;
  readonly isMandatory: boolean;
  readonly isRuntime: boolean;
  readonly isWriting: boolean;
};
type Tool = { readonly name: string; readonly definition: UnknownMap; readonly traits: Traits };

const traitsOf = perDefinition((definition): Traits => {
  const { modes, mode, mandatory, runtime_tool, executor, write, mutating } = definition;
  return {
    modes: modesOf(modes ?? mode),
    categories: categoriesOf(definition),
    namesAbilities: namesAbilities(definition),
    // A client declares its own tools; that they must be seen is for the host to say.
    isMandatory: mandatory === true && executor !== "client",
    isRuntime: runtime_tool === true || executor === "client" || statesScope(definition),
    isWriting: write === true || mutating === true,
  };
});

function modesOf(value: unknown): Traits["modes"] {
  if (value == null) return undefined;
  return isContainer(value) ? Object.values(value) : [value];
}

// A run asks about the same catalogue every turn. Only one that cannot change is remembered.
const catalogues = new WeakMap<object, readonly Tool[]>();

function toolsOf(tools: UnknownMap): readonly Tool[] {
  const known = catalogues.get(tools);
  if (known) return known;
  const listed: Tool[] = [];
  for (const name of Object.keys(asMap(tools) ?? emptyMap)) {
    const definition = asMap(tools[name]);
    if (definition) listed.push({ name, definition, traits: traitsOf(definition) });
  }
  if (Object.isFrozen(tools)) catalogues.set(tools, listed);
  return listed;
}
