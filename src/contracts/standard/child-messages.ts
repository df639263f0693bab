// What a parent and its child are told of each other, in sentences that models read.
import type { JsonMap } from "../json.ts";
import type { Attachment } from "./standard-message.ts";

/** A file that was copied from one thread to another: where it stood, and how the other thread points to it. */
export type CopiedFile = { readonly from: string; readonly attachment: Attachment };

/** What a child's session came to, as its parent is told. */
export type ChildReport = {
  readonly reference: string;
  readonly name: string;
  readonly success: boolean;
  readonly text: string;
  /** Where the files that came with it stand in the parent. */
  readonly paths: readonly string[];
};

/** What the child is shown of what it was created with. */
export function argumentsNote(given: JsonMap): string {
  return `This thread was started with these arguments:\n${JSON.stringify(given, null, 2)}`;
}

/** What the child is shown of a file that was copied to it. */
export function fileNote({ path, name }: Attachment): string {
  return `The file "${name}" was put at ${path}.`;
}

/** What the parent is told when nobody waits for it. */
export function reportNote({ reference, name, success, text, paths }: ChildReport): string {
  const head = success
    ? `The subagent "${name}" (${reference}) has finished.`
    : `The subagent "${name}" (${reference}) has failed.`;
  return [head, ...(text === "" ? [] : [text]), ...filesNote(paths)].join("\n\n");
}

/** Why a call failed that waited for a child. */
export function failureNote({ reference, name, text, paths }: ChildReport): string {
  const head = `The subagent "${name}" (${reference}) has failed: ${text === "" ? "it gave no reason." : text}`;
  return [head, ...filesNote(paths)].join("\n\n");
}

function filesNote(paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? [] : [`Files:\n${paths.map((path) => `- ${path}`).join("\n")}`];
}

/** What a child's own history keeps of what went to its parent. */
export function handoffNote(success: boolean): string {
  return success ? "The result was handed to the parent." : "The failure was handed to the parent.";
}

/** Why a child failed that was to end its session by a tool and did not. */
export function endedWithoutTool(code: string, failure?: string): string {
  const why = failure === undefined ? "" : ` ${failure}`;
  return `It stopped without calling the tool that ends its session; the reason is ${code}.${why}`;
}

/** Why a child failed that has no such tool. */
export function endedEarly(code: string, failure: string): string {
  return `It stopped before it was done (${code}): ${failure}`;
}

export function filesNotHandedOver(text: string, detail: string): string {
  return [...(text === "" ? [] : [text]), `The files could not be handed over: ${detail}`].join("\n\n");
}

export function createdNote(name: string, isDelivered: boolean): string {
  const later = isDelivered ? "; what it comes to will be delivered as a message" : "";
  return `The subagent "${name}" was created and is at work${later}.`;
}

export function deliveredNote(name: string): string {
  return `The message was delivered to "${name}", which is at work on it.`;
}

export function waitingNote(name: string): string {
  return `The call waits until the subagent "${name}" is done.`;
}

export function unknownAgent(agent: string, available: readonly string[]): string {
  const others = available.length === 0 ? "There is none." : `Available: ${available.join(", ")}.`;
  return `There is no subagent "${agent}" that could be created. ${others}`;
}

export function wrongArguments(agent: string, problems: readonly string[]): string {
  return `The arguments do not fit "${agent}": ${problems.join("; ")}.`;
}

export function tooMany(agent: string, most: number, references: readonly string[]): string {
  const are = most === 1 ? "is 1" : `are ${most}`;
  const live = `Write to a live one with subagent_message: ${references.join(", ")}.`;
  return `No further "${agent}" can be created: there ${are} already, which is the most. ${live}`;
}

export function variablesNeeded(agent: string, missing: readonly string[]): string {
  const names = missing.join(", ");
  return `"${agent}" cannot be created yet: somebody has to set ${names} first. It starts by itself as soon as that is done.`;
}

export function notActive(reference: string): string {
  return `The subagent "${reference}" is not active. List those that are with subagents.`;
}

/** The text with the paths of one thread replaced by those of the copies in the other. */
export function withPaths(text: string, copied: readonly CopiedFile[]): string {
  if (copied.length === 0) return text;
  const places = new Map(copied.map(({ from, attachment }) => [from, attachment.path]));
  // The longest first, and nothing that only begins like a path: /attachments/a.txt is no part of /attachments/a.txt.gz.
  const alternatives = [...places.keys()].sort((left, right) => right.length - left.length).map(RegExp.escape);
  const pattern = new RegExp(`(?:${alternatives.join("|")})(?![\\w/-]|\\.\\w)`, "g");
  return text.replace(pattern, (from) => places.get(from) ?? from);
}
