// What somebody asks for who creates a child or writes to one: read field by field, so that an error names every field
// that is wrong.
import { trimmed } from "../coerce.ts";
import { isEmpty, isMap, type Json, type JsonMap } from "../json.ts";

/** What was read, or a sentence that names each argument that is wrong. */
export type Read<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: string };

export type CreateArguments = {
  readonly agent: string;
  readonly message: string;
  /** Paths of the parent's files. */
  readonly attachments: readonly string[];
  /** In one line. */
  readonly name: string;
  readonly arguments: JsonMap | null;
};

export type MessageArguments = {
  readonly reference: string;
  readonly message: string;
  readonly attachments: readonly string[];
};

/** Which arguments of a call become the first message, its files and the name of what the call starts. */
type Init = {
  readonly initUserMessageProperty?: string | undefined;
  readonly initAttachmentsProperty?: string | undefined;
  readonly initAgentNameProperty?: string | undefined;
};

/** What a child begins with, as the arguments of a call under the child's own name tell. */
export type InitialPayload = {
  readonly message: string;
  readonly attachments: readonly string[];
  /** Null when nobody gave one. */
  readonly name: string | null;
};

export function readCreateArguments(given: JsonMap): Read<CreateArguments> {
  const wrong: string[] = [];
  const value = {
    agent: text(given, "agent", wrong),
    message: text(given, "message", wrong),
    attachments: paths(given.attachments, "attachments", wrong),
    name: threadName(text(given, "name", wrong)),
    arguments: map(given, "arguments", wrong),
  };
  return wrong.length === 0 ? { ok: true, value } : refused(wrong);
}

export function readMessageArguments(given: JsonMap): Read<MessageArguments> {
  const wrong: string[] = [];
  const value = {
    reference: text(given, "referenceId", wrong).trim(),
    message: text(given, "message", wrong),
    attachments: paths(given.attachments, "attachments", wrong),
  };
  return wrong.length === 0 ? { ok: true, value } : refused(wrong);
}

/**
 * What a child begins with: the arguments that are named for it, or all of them as the message. Its name may also stand
 * among the values that it is given.
 */
export function readInitialPayload(
  init: Init,
  given: JsonMap,
  values: Readonly<Record<string, string>> = {},
): Read<InitialPayload> {
  const wrong: string[] = [];
  const { initAttachmentsProperty: files, initAgentNameProperty: named } = init;
  const listed = files === undefined ? undefined : given[files];
  const attachments =
    files === undefined || listed === undefined || listed === null
      ? []
      : paths(typeof listed === "string" ? [listed] : listed, files, wrong);
  const name = named === undefined ? undefined : (trimmed(given[named]) ?? trimmed(values[named]));
  if (wrong.length > 0) return refused(wrong);
  const value = { message: messageOf(init, given), attachments, name: name === undefined ? null : threadName(name) };
  return { ok: true, value };
}

const LONGEST_NAME = 120;

/** The name of a thread: in one line, and not too long for a list. */
export function threadName(given: string): string {
  const line = given.trim().replaceAll(/\s+/g, " ");
  // Cut by characters as people count them: half of one would be none.
  return line.length <= LONGEST_NAME ? line : [...line].slice(0, LONGEST_NAME).join("").trimEnd();
}

function messageOf({ initUserMessageProperty }: Init, given: JsonMap): string {
  const message = initUserMessageProperty === undefined ? undefined : given[initUserMessageProperty];
  if (message !== undefined && message !== null) return typeof message === "string" ? message : JSON.stringify(message);
  return isEmpty(given) ? "" : JSON.stringify(given, null, 2);
}

function text(given: JsonMap, argument: string, wrong: string[]): string {
  const value = given[argument];
  if (trimmed(value) !== undefined) return value as string;
  wrong.push(`${argument} must be a text that is not blank`);
  return "";
}

function paths(value: Json | undefined, argument: string, wrong: string[]): readonly string[] {
  if (!Array.isArray(value)) {
    wrong.push(`${argument} must be a list of paths, and may be []`);
    return [];
  }
  const listed: readonly Json[] = value;
  for (const [index, path] of listed.entries()) {
    if (trimmed(path) === undefined) wrong.push(`${argument}[${index}] must be a path such as /attachments/report.pdf`);
  }
  return listed.filter((path) => typeof path === "string");
}

function map(given: JsonMap, argument: string, wrong: string[]): JsonMap | null {
  const value = given[argument];
  if (value === undefined || value === null) return null;
  if (isMap(value)) return value as JsonMap;
  wrong.push(`${argument} must be a map`);
  return null;
}

function refused(wrong: readonly string[]): { readonly ok: false; readonly error: string } {
  return { ok: false, error: `${wrong.join("; ")}.` };
}
