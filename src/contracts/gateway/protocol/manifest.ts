// A plugin's manifest, as it is written and as the gateway keeps it.
import { isMap, type JsonMap, snapshot, type UnknownMap } from "../../json.ts";

export type CommandType = "read" | "write";

export type ManifestCommand = {
  readonly name: string;
  readonly type: CommandType;
  readonly description: string;
  /** JSON Schemas: the compact form is expanded. */
  readonly input_schema?: JsonMap;
  readonly output_schema?: JsonMap;
  readonly values?: CommandValues;
  readonly idempotent?: boolean;
  readonly retry_safe?: boolean;
};

/** The names that a command reads from payloads, and those that its events carry. */
export type CommandValues = {
  /** `payload.<name>` or `payload.*`. */
  readonly consume: readonly string[];
  readonly emit: readonly { readonly event: string; readonly values: readonly string[] }[];
};

/** `state_updates` of a command are recorded as a fact, and with `mirrors` replace the whole state. */
export type FactOutput = { readonly command: string; readonly fact_type: string; readonly mirrors: boolean };

export type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** Relative to the plugin's folder. */
  readonly entrypoint: string;
  readonly concurrency_safe: boolean;
  readonly commands: readonly ManifestCommand[];
  readonly fact_outputs: readonly FactOutput[];
  readonly required_config: readonly string[];
  readonly optional_config?: readonly string[];
};

/** The manifest with what was odd about it, or everything that is wrong with it, each sentence naming the field. */
export type ManifestOutcome =
  | { readonly manifest: Manifest; readonly warnings: readonly string[] }
  | { readonly problems: readonly string[] };

const MANIFEST_SPEC = "ductile.plugin";
const MANIFEST_VERSION = 1;
const PROTOCOL = 2;

/** Reads a manifest. `strict` refuses what is otherwise only warned of: missing spec and version, unknown keys. */
export function parseManifest(value: unknown, { strict }: { readonly strict: boolean }): ManifestOutcome {
  const report = newReport(strict);
  const written = plain(value);
  if (written === undefined) return { problems: ["The manifest is not a map of JSON values."] };
  report.unknownKeys(written, "the manifest", topLevelKeys);
  checkSpec(written, report);
  const name = readName(written.name, report);
  const version = readVersion(written.version, report);
  const description = readText(written.description, "description", report) ?? "";
  const entrypoint = readEntrypoint(written.entrypoint, report);
  const concurrencySafe = readFlag(written.concurrency_safe, "concurrency_safe", report) ?? true;
  const commands = readCommands(written.commands, report);
  const facts = readFacts(written.fact_outputs, commands, report);
  const { required, optional } = readConfigKeys(written.config_keys, report);
  if (report.problems.length > 0) return { problems: report.problems };
  const manifest: Manifest = {
    name,
    version,
    description,
    entrypoint,
    concurrency_safe: concurrencySafe,
    commands,
    fact_outputs: facts,
    required_config: required,
    ...(optional.length > 0 && { optional_config: optional }),
  };
  return { manifest, warnings: report.warnings };
}

/** True for what can name a plugin or an alias. */
export function isPluginName(name: unknown): name is string {
  return typeof name === "string" && name.length <= LONGEST_NAME && PLUGIN_NAME.test(name) && !name.startsWith("core.");
}

/** True for what can name a command. */
export function isCommandName(name: unknown): name is string {
  return typeof name === "string" && name.length <= LONGEST_NAME && COMMAND_NAME.test(name);
}

const LONGEST_NAME = 128;
const PLUGIN_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;
const COMMAND_NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;

const topLevelKeys = [
  ...["manifest_spec", "manifest_version", "name", "version", "protocol", "entrypoint", "description"],
  ...["concurrency_safe", "commands", "fact_outputs", "config_keys", "stopwatch"],
];

const commandKeys = [
  ...["name", "type", "description", "input_schema", "output_schema", "idempotent", "retry_safe", "values"],
];

type Report = {
  readonly problems: string[];
  readonly warnings: string[];
  problem(sentence: string): void;
  /** A problem when strict, otherwise a warning. */
  oddity(sentence: string): void;
  unknownKeys(map: UnknownMap, where: string, known: readonly string[]): void;
};

function newReport(strict: boolean): Report {
  const problems: string[] = [];
  const warnings: string[] = [];
  const oddity = (sentence: string) => void (strict ? problems : warnings).push(sentence);
  return {
    problems,
    warnings,
    oddity,
    problem: (sentence) => void problems.push(sentence),
    unknownKeys(map, where, known) {
      for (const key of Object.keys(map)) {
        if (!known.includes(key)) oddity(`${JSON.stringify(key)} is no key of ${where}.`);
      }
    },
  };
}

function plain(value: unknown): UnknownMap | undefined {
  try {
    const copied = snapshot(value);
    return isMap(copied) ? copied : undefined;
  } catch {
    return undefined;
  }
}

function checkSpec(written: UnknownMap, report: Report): void {
  const { manifest_spec: spec, manifest_version: version, protocol } = written;
  if (isAbsent(spec)) report.oddity(`manifest_spec is missing; it is ${MANIFEST_SPEC}.`);
  else if (spec !== MANIFEST_SPEC) report.problem(`manifest_spec must be ${MANIFEST_SPEC}.`);
  if (isAbsent(version)) report.oddity(`manifest_version is missing; it is ${MANIFEST_VERSION}.`);
  else if (version !== MANIFEST_VERSION) report.problem(`manifest_version must be ${MANIFEST_VERSION}.`);
  if (protocol !== PROTOCOL) report.problem(`protocol must be ${PROTOCOL}.`);
}

function readName(value: unknown, report: Report): string {
  const name = typeof value === "string" ? value.trim() : value;
  if (isPluginName(name)) return name;
  report.problem(
    `name must be letters, digits, "_", "-" and ".", beginning with a letter or digit and not with "core.".`,
  );
  return "";
}

// YAML reads a version such as 1.0 as a number.
function readVersion(value: unknown, report: Report): string {
  const version = typeof value === "number" ? String(value) : value;
  if (typeof version === "string" && version.trim() !== "") return version.trim();
  report.problem("version must be text that is not blank.");
  return "";
}

function readEntrypoint(value: unknown, report: Report): string {
  if (typeof value !== "string" || value.trim() === "" || value.includes("\0")) {
    report.problem("entrypoint must be the path of a file.");
    return "";
  }
  const path = value.trim();
  const isAbsolute = path.startsWith("/") || path.startsWith("\\") || /^[A-Za-z]:/.test(path);
  if (isAbsolute || path.split(/[/\\]/).includes("..")) {
    report.problem('entrypoint must be relative to the plugin\'s folder, without "..".');
  }
  return path;
}

function readCommands(value: unknown, report: Report): ManifestCommand[] {
  const entries = commandEntries(value, report);
  if (entries === undefined) {
    report.problem("commands must be a list of { name, type } with at least one entry.");
    return [];
  }
  const commands = entries.flatMap(({ where, entry }) => readCommand(where, entry, report));
  for (const [index, { name }] of commands.entries()) {
    if (commands.findIndex((each) => each.name === name) < index) report.problem(`commands has ${name} twice.`);
  }
  return commands;
}

type Entry = { readonly where: string; readonly entry: unknown };

function commandEntries(value: unknown, report: Report): readonly Entry[] | undefined {
  if (Array.isArray(value)) {
    return value.length === 0 ? undefined : value.map((entry, index) => ({ where: `commands[${index}]`, entry }));
  }
  if (!isMap(value) || Object.keys(value).length === 0) return undefined;
  report.oddity("commands is a map keyed by name; write a list of { name, type }.");
  return Object.entries(value).map(([name, entry]) => ({
    where: `commands.${name}`,
    entry: isMap(entry) ? { ...entry, name: entry.name ?? name } : entry,
  }));
}

function readCommand(where: string, entry: unknown, report: Report): ManifestCommand[] {
  if (!isMap(entry)) {
    report.problem(`${where} must be a map with name and type.`);
    return [];
  }
  report.unknownKeys(entry, where, commandKeys);
  const name = typeof entry.name === "string" ? entry.name.trim() : entry.name;
  if (!isCommandName(name)) {
    report.problem(`${where}.name must be a letter followed by letters, digits, "_" and "-".`);
    return [];
  }
  if (entry.type !== "read" && entry.type !== "write") {
    report.problem(`${where}.type of ${name} must be read or write.`);
    return [];
  }
  const inputSchema = readSchema(entry.input_schema, `${where}.input_schema`, report);
  const outputSchema = readSchema(entry.output_schema, `${where}.output_schema`, report);
  const values = readValues(entry.values, `${where}.values`, report);
  const idempotent = readFlag(entry.idempotent, `${where}.idempotent`, report);
  const retrySafe = readFlag(entry.retry_safe, `${where}.retry_safe`, report);
  return [
    {
      name,
      type: entry.type,
      description: readText(entry.description, `${where}.description`, report) ?? "",
      ...(inputSchema !== undefined && { input_schema: inputSchema }),
      ...(outputSchema !== undefined && { output_schema: outputSchema }),
      ...(values !== undefined && { values }),
      ...(idempotent !== undefined && { idempotent }),
      ...(retrySafe !== undefined && { retry_safe: retrySafe }),
    },
  ];
}

/** Keys by which a map is known to be a JSON Schema already. */
const schemaKeys = ["type", "properties", "$schema", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"];
const schemaTypes = ["string", "number", "integer", "boolean", "object", "array", "null"];

/** A JSON Schema as it is; the compact form `{ field: type }` becomes the schema of an object. */
function readSchema(value: unknown, where: string, report: Report): JsonMap | undefined {
  if (isAbsent(value)) return undefined;
  if (!isMap(value)) {
    report.problem(`${where} must be a JSON Schema or a map of fields and types.`);
    return undefined;
  }
  if (schemaKeys.some((key) => Object.hasOwn(value, key))) return value as JsonMap;
  const properties = Object.entries(value).map(([field, type]) => [
    field,
    fieldSchema(type, `${where}.${field}`, report),
  ]);
  return { type: "object", properties: Object.fromEntries(properties) as JsonMap };
}

function fieldSchema(type: unknown, where: string, report: Report): JsonMap {
  if (isMap(type)) return type as JsonMap;
  if (typeof type !== "string" || type.trim() === "") {
    report.problem(`${where} must be a type or a JSON Schema.`);
    return {};
  }
  if (!schemaTypes.includes(type)) report.oddity(`${where} has the type ${type}, which JSON Schema does not know.`);
  return { type };
}

const CONSUMED = /^payload\.(?:\*|[^\s.*]+(?:\.[^\s.*]+)*)$/;

function readValues(value: unknown, where: string, report: Report): CommandValues | undefined {
  if (isAbsent(value)) return undefined;
  if (!isMap(value)) {
    report.problem(`${where} must be a map with consume and emit.`);
    return undefined;
  }
  report.unknownKeys(value, where, ["consume", "emit"]);
  const emit = isAbsent(value.emit) ? [] : value.emit;
  if (!Array.isArray(emit)) report.problem(`${where}.emit must be a list.`);
  return {
    consume: readPaths(value.consume, `${where}.consume`, report),
    emit: (Array.isArray(emit) ? emit : []).flatMap((entry, index) =>
      readEmitted(entry, `${where}.emit[${index}]`, report),
    ),
  };
}

function readEmitted(entry: unknown, where: string, report: Report): CommandValues["emit"] {
  if (!isMap(entry) || typeof entry.event !== "string" || entry.event.trim() === "") {
    report.problem(`${where} must be a map with event and values.`);
    return [];
  }
  report.unknownKeys(entry, where, ["event", "values"]);
  return [{ event: entry.event.trim(), values: readPaths(entry.values, `${where}.values`, report) }];
}

function readPaths(value: unknown, where: string, report: Report): string[] {
  const paths = readTexts(value, where, report);
  for (const path of paths) {
    if (!CONSUMED.test(path))
      report.problem(`${where} has ${JSON.stringify(path)}, which is not payload.<name> or payload.*.`);
  }
  return paths;
}

function readFacts(value: unknown, commands: readonly ManifestCommand[], report: Report): FactOutput[] {
  if (isAbsent(value)) return [];
  if (!Array.isArray(value)) {
    report.problem("fact_outputs must be a list.");
    return [];
  }
  return value.flatMap((entry, index) => readFact(entry, `fact_outputs[${index}]`, commands, report));
}

function readFact(entry: unknown, where: string, commands: readonly ManifestCommand[], report: Report): FactOutput[] {
  if (!isMap(entry)) {
    report.problem(`${where} must be a map with when, from and fact_type.`);
    return [];
  }
  report.unknownKeys(entry, where, ["when", "from", "fact_type", "compatibility_view"]);
  const command = isMap(entry.when) ? entry.when.command : undefined;
  const { fact_type: factType, compatibility_view: view } = entry;
  const problems = [
    commands.some(({ name }) => name === command) ? undefined : `${where}.when.command must be a declared command.`,
    entry.from === "state_updates" ? undefined : `${where}.from must be state_updates.`,
    typeof factType === "string" && factType.trim() !== ""
      ? undefined
      : `${where}.fact_type must be text that is not blank.`,
    isAbsent(view) || view === "mirror_object" ? undefined : `${where}.compatibility_view must be mirror_object.`,
  ].filter((problem) => problem !== undefined);
  for (const problem of problems) report.problem(problem);
  if (problems.length > 0 || typeof command !== "string" || typeof factType !== "string") return [];
  return [{ command, fact_type: factType.trim(), mirrors: view === "mirror_object" }];
}

function readConfigKeys(value: unknown, report: Report): { required: string[]; optional: string[] } {
  if (isAbsent(value)) return { required: [], optional: [] };
  if (!isMap(value)) {
    report.problem("config_keys must be a map with required and optional.");
    return { required: [], optional: [] };
  }
  report.unknownKeys(value, "config_keys", ["required", "optional"]);
  return {
    required: readTexts(value.required, "config_keys.required", report),
    optional: readTexts(value.optional, "config_keys.optional", report),
  };
}

function readTexts(value: unknown, where: string, report: Report): string[] {
  if (isAbsent(value)) return [];
  const texts = Array.isArray(value) ? value.filter((item) => typeof item === "string" && item.trim() !== "") : [];
  if (!Array.isArray(value) || texts.length < value.length) report.problem(`${where} must be a list of names.`);
  return [...new Set(texts.map((text: string) => text.trim()))];
}

function readText(value: unknown, where: string, report: Report): string | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === "string") return value.trim();
  report.problem(`${where} must be text.`);
  return undefined;
}

function readFlag(value: unknown, where: string, report: Report): boolean | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === "boolean") return value;
  report.problem(`${where} must be true or false.`);
  return undefined;
}

// A key without a value in YAML is null.
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
