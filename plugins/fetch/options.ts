// The plugin's configuration, with its defaults.
import { type AllowedHost, parseAllowedHost } from "./allowed-hosts.ts";
import { failure } from "./failure.ts";

export type Options = {
  readonly allowHosts: readonly AllowedHost[];
  readonly allowDowngrade: boolean;
  readonly methods: readonly string[];
  readonly okStatuses: readonly number[];
  readonly maxBytes: number;
  readonly maxContentChars: number | undefined;
  readonly timeoutMs: number;
  readonly userAgent: string;
  readonly content: "raw" | "text";
};

/** More would not fit into a response, whose limit is 10 MiB: a character takes up to six bytes of JSON. */
export const MOST_CONTENT_CHARS = 1_048_576;

const NEVER = ["CONNECT", "TRACE"];

/** Refuses what it cannot read, so that a mistyped guard does not count as absent. */
export function readOptions(config: Readonly<Record<string, unknown>>): Options {
  const content = config.content ?? "raw";
  if (content !== "raw" && content !== "text") throw failure('config.content is "raw" or "text".');
  const maxContentChars = config.max_content_chars;
  return {
    allowHosts: texts(config, "allow_hosts").map(parseAllowedHost),
    allowDowngrade: flag(config, "allow_downgrade"),
    methods: methods(config),
    okStatuses: numbers(config, "ok_statuses"),
    maxBytes: positive(config, "max_bytes", 2 * 1_048_576),
    maxContentChars:
      maxContentChars === undefined
        ? undefined
        : Math.min(positive(config, "max_content_chars", MOST_CONTENT_CHARS), MOST_CONTENT_CHARS),
    timeoutMs: Math.min(positive(config, "timeout_ms", 30_000), 2_147_483_647),
    userAgent: text(config, "user_agent", "holdfast-fetch/1"),
    content,
  };
}

function methods(config: Readonly<Record<string, unknown>>): readonly string[] {
  const listed = texts(config, "methods").map((method) => method.toUpperCase());
  const wrong = listed.find((method) => !/^[A-Z]+$/.test(method) || NEVER.includes(method));
  if (wrong !== undefined) throw failure(`config.methods: ${JSON.stringify(wrong)} cannot be allowed.`);
  return listed.length === 0 ? ["GET", "HEAD"] : listed;
}

function texts(config: Readonly<Record<string, unknown>>, key: string): readonly string[] {
  const value = config[key] ?? [];
  const isText = (item: unknown): item is string => typeof item === "string";
  if (!Array.isArray(value) || !value.every(isText)) throw failure(`config.${key} is a list of texts.`);
  return value.map((item) => item.trim());
}

function numbers(config: Readonly<Record<string, unknown>>, key: string): readonly number[] {
  const value = config[key] ?? [];
  const isStatus = (item: unknown): item is number => Number.isInteger(item);
  if (!Array.isArray(value) || !value.every(isStatus)) throw failure(`config.${key} is a list of whole numbers.`);
  return value;
}

function positive(config: Readonly<Record<string, unknown>>, key: string, preset: number): number {
  const value = config[key] ?? preset;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1) {
    throw failure(`config.${key} is a whole number above 0.`);
  }
  return value;
}

function flag(config: Readonly<Record<string, unknown>>, key: string): boolean {
  const value = config[key] ?? false;
  if (typeof value !== "boolean") throw failure(`config.${key} is true or false.`);
  return value;
}

function text(config: Readonly<Record<string, unknown>>, key: string, preset: string): string {
  const value = config[key] ?? preset;
  if (typeof value !== "string" || !/^[\x20-\x7e]+$/.test(value))
    throw failure(`config.${key} is a line of ASCII text.`);
  return value;
}
