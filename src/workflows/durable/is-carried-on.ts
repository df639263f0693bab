import type { RunHost } from "./run-host.ts";

/** True for a run that has ended and is about to be carried on: the wish is stored, and no process has taken it yet. */
export async function isCarriedOn({ threads }: RunHost, id: string): Promise<boolean> {
  const wish = await threads.stores.inbox.left(id, "retry");
  return wish?.drained === false;
}
