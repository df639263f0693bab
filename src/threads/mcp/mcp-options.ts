// Where an MCP server is and what of it an agent may use, as the program says it, checked once.
import { trimmed } from "../../contracts/coerce.ts";
import { type HoldfastError, holdfastError } from "../../contracts/error.ts";
import { isMap, type UnknownMap } from "../../contracts/json.ts";
import { isTextMap } from "../definitions/tool-entry.ts";
import type { ToolDefinition } from "../tool.ts";
import { isWholeNumber } from "../whole-number.ts";

/** What may be said of a tool that somebody else runs; each means what it means for any tool. */
type RemoteSettings = Pick<
  ToolDefinition,
  "actionPolicy" | "approvers" | "timeoutMs" | "waitMs" | "requiredCapability" | "sensitive" | "categories" | "modes"
> & {
  /** Overrules what the server says of the tool: true when running it twice is the same as running it once. */
  readonly idempotent?: boolean;
};

/** A tool by the server's own name for it, with what is said of it alone. */
export type AllowedTool = { readonly tool: string } & RemoteSettings;

type Reached =
  | {
      /** Where the server answers over Streamable HTTP: https, or http on this machine. */
      readonly url: string | URL;
      readonly headers?: Readonly<Record<string, string>>;
      readonly command?: never;
    }
  | {
      /** The program to start; no shell reads it. */
      readonly command: string;
      readonly args?: readonly string[];
      /** What it is told beside PATH, HOME and the few other variables without which no program starts. */
      readonly env?: Readonly<Record<string, string>>;
      readonly cwd?: string;
      readonly url?: never;
    };

export type McpToolsOptions = Reached &
  RemoteSettings & {
    /** The namespace of its tools: `github` makes `github/create_issue` of `create_issue`. */
    readonly name: string;
    /** The tools that may be used, by the server's names; all that it has now with `"*"`. */
    readonly allow: "*" | readonly (string | AllowedTool)[];
    /**
     * A file that keeps how the tools were declared when they were allowed: with it a changed tool is refused after a restart
     * too, and the server need not be there when the program starts.
     */
    readonly lock?: string;
    /** The most characters of an answer that a model is shown; 100,000 unless given. */
    readonly maxOutputCharacters?: number;
    /** How long one attempt to reach the server may take; 30 seconds unless given. */
    readonly connectTimeoutMs?: number;
  };

export type McpAddress =
  | { readonly kind: "http"; readonly url: URL; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
    };

export type McpSource = {
  readonly name: string;
  readonly address: McpAddress;
  /** By the server's names; `"*"` with the settings of all. */
  readonly allow: "*" | ReadonlyMap<string, RemoteSettings>;
  readonly settings: RemoteSettings;
  readonly lock?: string;
  readonly maxOutputCharacters: number;
  readonly connectTimeoutMs: number;
};

const SETTINGS = [
  ...["actionPolicy", "approvers", "timeoutMs", "waitMs", "requiredCapability", "sensitive", "categories", "modes"],
  "idempotent",
];

const FIELDS = [
  ...SETTINGS,
  ...["name", "url", "headers", "command", "args", "env", "cwd", "allow", "lock", "maxOutputCharacters"],
  "connectTimeoutMs",
];

/** Throws `invalid_mcp_server` with the field that is wrong; a field that there is not is wrong too. */
export function readMcpOptions(options: McpToolsOptions): McpSource {
  const given: UnknownMap = isMap(options) ? options : {};
  const name = trimmed(given.name);
  const invalid = (detail: string) => invalidServer(name ?? "without a name", detail);
  if (name === undefined || !/^[a-z][a-z0-9_-]*$/.test(name) || ["client", "standard"].includes(name)) {
    throw invalid("name must be small letters, digits, _ and -, and neither client nor standard");
  }
  const stray = Object.keys(given).find((field) => !FIELDS.includes(field));
  if (stray !== undefined) throw invalid(`${stray} is no field of a server`);
  const { lock, maxOutputCharacters = 100_000, connectTimeoutMs = 30_000 } = given;
  if (lock !== undefined && trimmed(lock) === undefined) throw invalid("lock must be the path of a file");
  if (!isWholeNumber(maxOutputCharacters, 1)) throw invalid("maxOutputCharacters must be a whole number from 1");
  if (!isWholeNumber(connectTimeoutMs, 1)) throw invalid("connectTimeoutMs must be a whole number of milliseconds");
  return {
    name,
    address: readAddress(given, invalid),
    allow: readAllow(given.allow, invalid),
    settings: settingsOf(given),
    ...(lock !== undefined && { lock: lock as string }),
    maxOutputCharacters: maxOutputCharacters as number,
    connectTimeoutMs: connectTimeoutMs as number,
  };
}

export function invalidServer(name: string, detail: string, cause?: unknown): HoldfastError {
  return holdfastError("invalid_mcp_server", `${detail} (${name})`, cause);
}

type Invalid = (detail: string) => HoldfastError;

function readAddress(given: UnknownMap, invalid: Invalid): McpAddress {
  const { url, headers = {}, command, args = [], env = {}, cwd } = given;
  if ((url === undefined) === (command === undefined)) throw invalid("either url or command must be given");
  if (url !== undefined) {
    if (!isTextMap(headers)) throw invalid("headers must be a map of texts");
    return { kind: "http", url: readUrl(url, invalid), headers: { ...headers } };
  }
  if (trimmed(command) === undefined) throw invalid("command must name a program");
  if (!Array.isArray(args) || args.some((each) => typeof each !== "string")) {
    throw invalid("args must be a list of texts");
  }
  if (!isTextMap(env)) throw invalid("env must be a map of texts");
  if (cwd !== undefined && trimmed(cwd) === undefined) throw invalid("cwd must be a folder");
  return {
    ...{ kind: "stdio", command: command as string, args: [...(args as string[])], env: { ...env } },
    ...(cwd !== undefined && { cwd: cwd as string }),
  };
}

function readUrl(given: unknown, invalid: Invalid): URL {
  const url = URL.parse(String(given));
  const isHere = url !== null && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  // Its headers are secrets more often than not.
  if (url === null || (url.protocol !== "https:" && !(url.protocol === "http:" && isHere))) {
    throw invalid("url must be https, or http on this machine");
  }
  return url;
}

function readAllow(given: unknown, invalid: Invalid): McpSource["allow"] {
  if (given === "*") return given;
  if (!Array.isArray(given) || given.length === 0) throw invalid('allow must list tools, or be "*"');
  const allowed = new Map<string, RemoteSettings>();
  for (const [index, each] of given.entries()) {
    const fields: UnknownMap = isMap(each) ? each : { tool: each };
    const tool = trimmed(fields.tool);
    if (tool === undefined) throw invalid(`allow[${index}] must name a tool`);
    const stray = Object.keys(fields).find((field) => field !== "tool" && !SETTINGS.includes(field));
    if (stray !== undefined) throw invalid(`allow[${index}].${stray} is no setting of a tool`);
    if (allowed.has(tool)) throw invalid(`allow[${index}] names ${tool} again`);
    allowed.set(tool, settingsOf(fields));
  }
  return allowed;
}

/** They are checked where the tool is defined. */
function settingsOf(given: UnknownMap): RemoteSettings {
  return Object.fromEntries(SETTINGS.flatMap((field) => (given[field] === undefined ? [] : [[field, given[field]]])));
}
