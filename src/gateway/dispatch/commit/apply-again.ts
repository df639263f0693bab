// An outcome is applied again when it has become known that part of it has no place, or that the state of the plugin has changed.
import type { Applied } from "../execute/executed-job.ts";

/** The children and contexts that there were before are the same objects, as they were sealed: none is sealed twice. */
export function asBefore(before: Applied, again: Applied): Applied {
  // A failure says why, under the ids that another failure has.
  if (before.settlement.status !== "succeeded" || again.settlement.status !== "succeeded") return again;
  return {
    ...again,
    children: keepKnown(before.children, again.children),
    contexts: keepKnown(before.contexts, again.contexts),
  };
}

function keepKnown<Part extends { readonly id: string }>(
  before: readonly Part[],
  again: readonly Part[],
): readonly Part[] {
  const known = new Map(before.map((part) => [part.id, part]));
  return again.map((part) => known.get(part.id) ?? part);
}
