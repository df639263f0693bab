// How much one commit may add to the queue. Every event carries the result of its job along, so that a small answer with many
// events may come to gigabytes, all of which would be sealed, and held, for one transaction.
import { byteLength } from "../../../contracts/canonical-json.ts";
import type { Applied } from "../execute/executed-job.ts";

/** Of payloads and contexts together, as JSON in UTF-8. */
const MOST_ADDED_MIB = 64;

const MOST_ADDED_BYTES = MOST_ADDED_MIB * 1024 * 1024;

/** Whether the jobs that are added would take more. No further value is looked at than it takes to know. */
export function addsTooMuch({ children, contexts }: Pick<Applied, "children" | "contexts">): boolean {
  const used = new Set(children.map(({ context_id }) => context_id));
  let bytes = 0;
  const isBeyond = (value: object) => {
    bytes += byteLength(JSON.stringify(value));
    return bytes > MOST_ADDED_BYTES;
  };
  return (
    children.some(({ payload }) => isBeyond(payload)) ||
    contexts.some(({ id, accumulated }) => used.has(id) && isBeyond(accumulated))
  );
}

export function eventsTooLarge({ children }: Pick<Applied, "children">): string {
  return `events_too_large: The ${children.length} jobs that follow from the job would take more than ${MOST_ADDED_MIB} MiB; each has the result of the job in its payload.`;
}
