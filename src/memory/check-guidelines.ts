// What is passed to guidelines, checked before a host or a database sees it.
import type { Guideline, GuidelineChange, GuidelinePage } from "../backend/guideline-store.ts";
import { trimmed } from "../contracts/coerce.ts";
import { holdfastError } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import { type GuidelineScope, PRIVATE_MEMORY, SHARED_GUIDANCE } from "../contracts/memory/guideline.ts";
import { isStorable } from "../contracts/storable-name.ts";

/** What an index takes. */
const MOST_ID_BYTES = 1_000;

export const MOST_LISTED = 100;

/** Throws `invalid_guideline`. */
export function checkInput(input: unknown): void {
  if (!isMap(input)) throw invalid("a guideline must be a map");
  if (!isWorkspaceId(input.workspace_id)) throw invalid("workspace_id must name a workspace");
  if (!isScope(input.scope)) throw invalid("scope must be one of the two there are");
}

type Texts = Pick<Guideline, "type" | "title" | "content" | "status">;

/** Throws `invalid_guideline`. */
export function checkTexts({ type, title, content, status }: Texts, types: Readonly<Record<string, string>>): void {
  if (typeof title !== "string" || typeof content !== "string") throw invalid("title and content must be texts");
  if (trimmed(status) === undefined) throw invalid("status must not be blank");
  if (typeof type !== "string" || !Object.hasOwn(types, type)) {
    throw invalid(`type must be one of ${Object.keys(types).join(", ")}`);
  }
}

/** The fields of a change that say something. Throws `invalid_guideline`. */
export function readChange(change: unknown): GuidelineChange {
  if (!isMap(change)) throw invalid("a change must be a map");
  const { type, title, content, status } = change;
  const given = Object.entries({ type, title, content, status }).filter(([, text]) => text !== undefined);
  return Object.fromEntries(given);
}

export type GuidelineList = {
  readonly workspace_id: string;
  /** Both, as far as they may be seen, unless given. */
  readonly scope?: GuidelineScope;
  readonly type?: string;
  readonly status?: string;
  readonly after?: GuidelinePage["after"];
  readonly limit?: number;
};

/** Throws `invalid_argument`. A list is always one of one workspace. */
export function checkList(list: unknown): void {
  if (!isMap(list)) throw wrong("what is listed", "a map");
  const { workspace_id, scope, type, status, after, limit } = list;
  if (!isWorkspaceId(workspace_id)) throw wrong("workspace_id", "the name of a workspace");
  if (scope !== undefined && !isScope(scope)) throw wrong("scope", "one of the two there are");
  if (type !== undefined && !isStorable(type)) throw wrong("type", "a text");
  if (status !== undefined && !isStorable(status)) throw wrong("status", "a text");
  if (after !== undefined && !isPlace(after)) throw wrong("after", "a record of the page before");
  if (limit !== undefined && !isWhole(limit)) throw wrong("limit", "a whole number from 0");
}

/** Throws `invalid_argument`. A slip in a name must not have more forgotten than was meant. */
export function checkForgotten(of: unknown): void {
  if (!isMap(of)) throw wrong("what is forgotten", "a map");
  const { user_id, workspace_id, ...rest } = of;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw holdfastError("invalid_argument", `There is no ${unknown} to be forgotten.`);
  if (!isWhole(user_id) || user_id === 0) throw wrong("user_id", "the number of a user");
  if (workspace_id !== undefined && !isWorkspaceId(workspace_id))
    throw wrong("workspace_id", "the name of a workspace");
}

/** Throws `invalid_argument`. */
export function checkVersion(version: unknown): void {
  if (!isWhole(version)) throw wrong("version", "the version of a record");
}

/** Throws `invalid_argument`; a text that is the id of nothing is found out later. */
export function checkId(id: unknown): void {
  if (!isStorable(id)) throw wrong("id", "the id of a guideline");
}

function isScope(value: unknown): value is GuidelineScope {
  return value === PRIVATE_MEMORY || value === SHARED_GUIDANCE;
}

function isWorkspaceId(value: unknown): boolean {
  return isStorable(value) && trimmed(value) !== undefined && Buffer.byteLength(value) <= MOST_ID_BYTES;
}

function isPlace(value: unknown): boolean {
  return isMap(value) && isWhole(value.created_at) && isStorable(value.id);
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function invalid(detail: string) {
  return holdfastError("invalid_guideline", detail);
}

function wrong(argument: string, kind: string) {
  return holdfastError("invalid_argument", `${argument} must be ${kind}.`);
}
