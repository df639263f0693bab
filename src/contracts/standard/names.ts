// The names of definitions: which are well written, which are taken, and how a plain one is declared as a tool's.

/** The namespace under which plain names are declared, since a tool's declared name always has one. */
const NAMESPACE = "standard";

const STANDARD = /^[a-z](?:[a-z0-9_]*[a-z0-9])?$/;
const ACCEPTED = /^[a-z][a-z0-9_-]*$/;
const PLAIN = /^[A-Za-z][A-Za-z0-9_-]*$/;

/** True for a name as it should be: small letters, digits and underscores, beginning with a letter. */
export function isStandardName(name: string): boolean {
  return STANDARD.test(name);
}

/** True for a name that models, prompts and agents may have too: with hyphens. */
export function isAcceptedName(name: string): boolean {
  return ACCEPTED.test(name);
}

/** True for a tool's name without a namespace, well written or not. */
export function isPlainName(name: string): boolean {
  return PLAIN.test(name);
}

/** The tools that come with the runtime, and those that a provider or a server brings. */
const RESERVED: ReadonlySet<string> = new Set(["subagent_create", "subagent_message", "subagents", "send_to_agent"]);
const RESERVED_PREFIXES = ["provider:", "mcp:"];

export function isReservedName(name: string): boolean {
  return RESERVED.has(name) || isForeignName(name);
}

/** True for the name of a tool that is run by somebody else. */
export function isForeignName(name: string): boolean {
  return RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** The name under which a tool, prompt or agent of that name is declared. Declared names are small. */
export function declaredName(name: string): string {
  return name.includes("/") ? name : `${NAMESPACE}/${name.toLowerCase()}`;
}

/** The name as it was given: what is declared under our own namespace has none. */
export function plainName(declared: string): string {
  return declared.startsWith(`${NAMESPACE}/`) ? declared.slice(NAMESPACE.length + 1) : declared;
}
