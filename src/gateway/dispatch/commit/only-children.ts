// What is left of the parts of a commit when some of its children are not added.
import type { Applied } from "../execute/executed-job.ts";
import type { Child } from "./new-child.ts";

/** With these children alone, and without the contexts of the others and what is said of them. */
export function onlyChildren<Parts extends Pick<Applied, "children" | "contexts" | "stream">>(
  parts: Parts,
  stays: (child: Child) => boolean,
): Parts {
  const left = parts.children.filter((child) => !stays(child));
  if (left.length === 0) return parts;
  const children = parts.children.filter(stays);
  const [used, jobs] = [new Set(children.map(({ context_id }) => context_id)), new Set(left.map(({ id }) => id))];
  return {
    ...parts,
    children,
    contexts: parts.contexts.filter(({ id }) => used.has(id)),
    stream: parts.stream.filter(({ data }) => typeof data.job_id !== "string" || !jobs.has(data.job_id)),
  };
}
