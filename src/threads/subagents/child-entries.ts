// The messages with which a child begins or goes on, as entries for its inbox.
import type { NewEntry } from "../../backend/inbox.ts";
import { isEmpty, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { argumentsNote, type CopiedFile, fileNote, withPaths } from "../../contracts/standard/child-messages.ts";
import type { Relationship } from "../definitions/relationship.ts";
import { createEntry } from "../new-entry.ts";

export type ForChild = {
  readonly receives: Relationship["receivesMessages"];
  readonly message: string | null;
  readonly arguments: JsonMap | null;
  readonly copied: readonly CopiedFile[];
  /** What the parent waits on until the child is done with it. */
  readonly requestId: string | null;
};

/**
 * First what it works with, silently: its arguments, then every file; then the message, which it acts on. Who wrote them
 * decides which of its sides answers.
 */
export function childEntries(order: ForChild): readonly NewEntry[] {
  const { receives, message, arguments: given, copied, requestId } = order;
  const role = receives === "side_a" ? "user" : "assistant";
  const entries: NewEntry[] = [];
  if (given !== null && !isEmpty(given)) entries.push(silent("system", argumentsNote(given)));
  for (const { attachment } of copied) {
    entries.push(silent(role, fileNote(attachment), { attachments: [snapshotMap(attachment)] }));
  }
  if (message !== null) entries.push(createEntry.fromParent({ role, content: withPaths(message, copied) }, requestId));
  return entries;
}

function silent(role: string, content: string, more: JsonMap = {}): NewEntry {
  return createEntry.injected({ role, content, metadata: { silent: true, ...more } }, {});
}
