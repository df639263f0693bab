// The hooks that the children of a thread install on it.

import type { Host } from "../host.ts";
import type { ParentHook } from "./hook-set.ts";

/** Most programs define none: then nobody is asked. */
export async function readChildHooks({ registry, stores }: Host, threadId: string): Promise<readonly ParentHook[]> {
  if (![...registry.agents.values()].some(({ parentHooks }) => parentHooks.length > 0)) return [];
  const children = await stores.threads.children(threadId, { live: true });
  const agents = new Set(children.map(({ agent }) => agent));
  return [...agents].flatMap((slug) => registry.agents.get(slug)?.parentHooks ?? []);
}
