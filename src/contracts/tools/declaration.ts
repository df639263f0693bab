// What a tool says about itself before anybody may call it. A client tool is run by whoever started the run, a server
// tool by the host; both are declared in one shape that requests, transcripts and providers can carry.
import { nonEmptyString, trim, trimmed } from "../coerce.ts";
import { type ErrorCode, holdfastError } from "../error.ts";
import {
  emptyMap,
  isContainer,
  isEmpty,
  isMap,
  type Json,
  type JsonMap,
  snapshot,
  snapshotMap,
  type UnknownMap,
} from "../json.ts";
import { type Bindings, isWellFormed, normalizeBindings, normalizeDefaults } from "./bindings.ts";
import * as runtimeMetadata from "./runtime-metadata.ts";

type Executor = "client" | "host";

/** A declaration in its normalised form, frozen. Fields the contract does not know are carried along. */
export type ToolDeclaration = JsonMap &
  Readonly<{
    name: string;
    source: string;
    description: string;
    parameters: JsonMap | readonly Json[];
    executor: Executor;
    scope: "run";
    provider_safe_name?: string;
    runtime?: JsonMap;
    parameter_bindings?: Bindings;
    parameter_defaults?: JsonMap;
    required_capability?: string;
  }>;

/** Declarations by tool name. Lookups index a map once, so it must not change afterwards. */
export type ToolMap = Readonly<Record<string, ToolDeclaration>>;

/** The fields that keep a value from being a client declaration, in the contract's order; none when it is one. */
export function validate(value: unknown): string[] {
  return invalidFields(snapshotMap(value), "client");
}

/** The fields that keep a value from being a server declaration as it stands, without any defaults. */
export function validateServer(value: unknown): string[] {
  return invalidFields(snapshotMap(value), "host");
}

/** A client declaration in canonical form; otherwise throws `invalid_runtime_tool_declaration` with the fields. */
export function normalize(value: unknown): ToolDeclaration {
  return settled(value, "client") ?? canonical(snapshotMap(value), "client", "invalid_runtime_tool_declaration");
}

/** A server declaration in canonical form; otherwise throws `invalid_server_tool_declaration` with the fields. */
export function normalizeForServer(value: unknown): ToolDeclaration {
  return settled(value, "host") ?? serverDeclaration(snapshotMap(value), "invalid_server_tool_declaration");
}

/**
 * A declaration of either kind, as a request's catalogue gives it. Client entries may leave out what the catalogue
 * implies; a server entry that is invalid throws `invalid_conversation_tool_declaration`.
 */
export function normalizeForConversationRequest(value: unknown): ToolDeclaration {
  const known = settled(value, "client") ?? settled(value, "host");
  if (known) return known;
  const declaration = snapshotMap(value);
  if (declaration.executor !== "client" && namespaceOf(declaration.name) !== "client") {
    return serverDeclaration(declaration, "invalid_conversation_tool_declaration");
  }
  const completed = snapshotMap({
    ...declaration,
    source: declaration.source ?? "client",
    description: trimmed(declaration.description) ?? declaration.name,
    executor: declaration.executor ?? "client",
    scope: declaration.scope ?? "run",
  });
  return canonical(completed, "client", "invalid_runtime_tool_declaration", statesScope(declaration));
}

/**
 * True when a tool was declared with `scope: "run"`. A canonical declaration always has that scope, and answers here
 * what the one it was made from said.
 */
export function statesScope(definition: UnknownMap): boolean {
  return canonicalDeclarations.get(definition) ?? definition.scope === "run";
}

/** The name in letters, digits and underscores, beginning with a letter: what every provider accepts. */
export function providerSafeName(name: string): string {
  const safe = trimUnderscores(trim(name).replace(/[^A-Za-z0-9_]+/g, "__"));
  if (safe === "") return "tool";
  return /^[A-Za-z]/.test(safe) ? safe : `tool_${safe}`;
}

/** The name under which a tool is declared, given that name, its provider-safe one or an alias; else the name as given. */
export function canonicalName(toolName: string, tools: ToolMap): string {
  if (Object.hasOwn(tools, toolName)) return toolName;
  return aliasIndex(tools).get(toolName) ?? toolName;
}

/** The other names by which a provider may call the tool. */
export function aliasesOf({ name, provider_safe_name, provider_aliases }: ToolDeclaration): readonly string[] {
  const aliases = Array.isArray(provider_aliases) ? provider_aliases : [];
  const own = nonEmptyString(provider_safe_name) ?? providerSafeName(name);
  return [own, ...aliases].filter((alias) => typeof alias === "string");
}

const aliasIndexes = new WeakMap<ToolMap, ReadonlyMap<string, string>>();

function aliasIndex(tools: ToolMap): ReadonlyMap<string, string> {
  const known = aliasIndexes.get(tools);
  if (known) return known;
  const index = new Map<string, string>();
  for (const [name, declaration] of Object.entries(tools)) {
    if (!isContainer(declaration)) continue;
    // The first declaration keeps an alias that a later one claims too.
    for (const alias of aliasesOf({ ...declaration, name })) if (!index.has(alias)) index.set(alias, name);
  }
  aliasIndexes.set(tools, index);
  return index;
}

function trimUnderscores(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text[start] === "_") start++;
  while (end > start && text[end - 1] === "_") end--;
  return text.slice(start, end);
}

const SLUG = /^[a-z][a-z0-9_-]*$/;
const NAMESPACED = /^[a-z][a-z0-9_-]*\/[a-z][a-z0-9_-]*$/;

function invalidFields(declaration: JsonMap, executor: Executor): string[] {
  const bindingField = Object.hasOwn(declaration, "parameter_bindings")
    ? "parameter_bindings"
    : "client_context_bindings";
  const isValid = {
    name: typeof declaration.name === "string" && NAMESPACED.test(declaration.name),
    source: executor === "client" ? isClientSource(declaration) : isServerSource(declaration),
    description: trimmed(declaration.description) !== undefined,
    parameters: isContainer(declaration.parameters ?? emptyMap),
    executor: declaration.executor === executor,
    scope: declaration.scope === "run",
    runtime: isContainer(declaration.runtime ?? emptyMap),
    [bindingField]: isWellFormed(normalizeBindings, declaration),
    parameter_defaults: isWellFormed(normalizeDefaults, declaration),
  };
  return Object.entries(isValid).flatMap(([field, valid]) => (valid ? [] : [field]));
}

function isClientSource({ name, source }: JsonMap): boolean {
  return (namespaceOf(name) ?? "client") === "client" && (source ?? "client") === "client";
}

// The source of a server tool may differ from its namespace, but the namespace `client` belongs to the client.
function isServerSource({ name, source }: JsonMap): boolean {
  return namespaceOf(name) !== "client" && typeof source === "string" && SLUG.test(source);
}

/** What stands before the first slash of a name, well-formed or not. */
function namespaceOf(name: unknown): string | undefined {
  if (typeof name !== "string" || !name.includes("/")) return undefined;
  return name.slice(0, name.indexOf("/")) || undefined;
}

// Catalogues are normalised again at every boundary they cross; a declaration that came from here needs no second look.
// Each is kept with whether the scope was stated or filled in, because only a stated one makes a runtime tool.
const canonicalDeclarations = new WeakMap<object, boolean>();

function settled(value: unknown, executor: Executor): ToolDeclaration | undefined {
  if (!isMap(value) || value.executor !== executor || !canonicalDeclarations.has(value)) return undefined;
  return value as ToolDeclaration;
}

function serverDeclaration(declaration: JsonMap, code: ErrorCode): ToolDeclaration {
  // Other labels for an executor are older names of the host.
  const executor = declaration.executor === "client" ? "client" : "host";
  const completed = { ...declaration, executor, scope: declaration.scope ?? "run" };
  return canonical(completed, "host", code, statesScope(declaration));
}

const CANONICAL_FIELDS: ReadonlySet<string> = new Set([
  "name",
  "source",
  "description",
  "parameters",
  "executor",
  "scope",
  "runtime",
  "parameter_bindings",
  "parameter_defaults",
]);

function canonical(
  declaration: JsonMap,
  executor: Executor,
  code: ErrorCode,
  isScopeStated = statesScope(declaration),
): ToolDeclaration {
  const invalid = invalidFields(declaration, executor);
  if (invalid.length > 0) throw holdfastError(code, invalid.join(", "));
  const { name, source, description, parameters, required_capability } = declaration as ToolDeclaration;
  const safeName = providerSafeName(name);
  const normalized = snapshot({
    name,
    source: executor === "client" ? "client" : source,
    description: trim(description),
    parameters: filled(parameters ?? emptyMap) ?? emptyMap,
    executor,
    scope: "run",
    provider_safe_name: safeName === name ? undefined : safeName,
    runtime: filled(runtimeMetadata.normalize(declaration.runtime)),
    ...extensionsOf(declaration, executor),
    parameter_bindings: filled(normalizeBindings(declaration)),
    parameter_defaults: filled(normalizeDefaults(declaration)),
    ...(executor === "host" && { required_capability: trimmed(required_capability) }),
  }) as ToolDeclaration;
  canonicalDeclarations.set(normalized, isScopeStated);
  return normalized;
}

function extensionsOf(declaration: JsonMap, executor: Executor): JsonMap {
  const extensions: Record<string, Json> = {};
  for (const [field, value] of Object.entries(declaration)) {
    const kept = isExtension(field, value, executor) ? runtimeMetadata.withoutNulls(value) : undefined;
    if (kept !== undefined) extensions[field] = kept;
  }
  return extensions;
}

function isExtension(field: string, value: Json, executor: Executor): boolean {
  if (field === "required_capability") return executor === "client";
  // A declaration may bring its own provider-safe name, but not an unusable one.
  if (field === "provider_safe_name") return nonEmptyString(value) !== undefined;
  return !CANONICAL_FIELDS.has(field);
}

/** The list or map unless it holds nothing. */
function filled<Container extends object>(container: Container): Container | undefined {
  return isEmpty(container as JsonMap | readonly Json[]) ? undefined : container;
}
