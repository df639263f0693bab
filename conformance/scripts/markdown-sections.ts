// markdownSections.replace and .group, which the vectors ask of a document instead of its items.
import * as markdownSections from "../../src/contracts/conversation/markdown-sections.ts";

export type Replacement = { markdown: string; index: number; summary?: string; destination?: string };

/** The summary of the item at the index, or the pointer to where it went when no summary is given. */
export function runReplacement({ markdown, index, summary, destination }: Replacement) {
  const section = markdownSections.parse(markdown)[index];
  if (summary == null) return markdownSections.pointerItem(section, destination);
  return markdownSections.summaryItem(section, summary);
}

/** The ids of the items in each group. */
export function runGrouping({ markdown, level }: { markdown: string; level?: number }) {
  const groups = markdownSections.group(markdownSections.parse(markdown), level);
  return Object.fromEntries(Array.from(groups, ([key, items]) => [key, items.map(({ id }) => id)]));
}
