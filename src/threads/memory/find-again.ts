// Finds the memories of which the record of a context holds only keyed hashes, as far as they are still there.
import { key, type MemoryScope, normalize } from "../../contracts/memory/memory-scope.ts";
import { boundUri } from "../../memory/bound-uri.ts";
import { readMemoryText } from "../../memory/memory-text.ts";
import type { Host } from "../host.ts";

/** `scope`: without the name. `hash`: of the text as it was, bound. */
type Kept = { readonly scope: MemoryScope; readonly uri: string; readonly hash?: string };

/** `uri`: as it is kept where the memory is gone. `text`: null where it is another by now. */
type Again = {
  readonly uri: string;
  readonly text: { readonly content: string; readonly about: string | null } | null;
};

/** For one look at a record of a thread: the names of a scope are listed once. */
export function finder({ memory, sealing }: Host, threadId: string): (kept: Kept) => Promise<Again> {
  const bind: Parameters<typeof boundUri>[1] = (value) => sealing.bind(value, threadId);
  const listed = new Map<string, Promise<ReadonlyMap<string, MemoryScope>>>();

  async function list(scope: MemoryScope): Promise<ReadonlyMap<string, MemoryScope>> {
    const entries = await memory.store.listSubtree(scope, "", { metadata_fields: [] });
    const scopes = entries.map(({ filename }) => ({ ...scope, filename }));
    return new Map(scopes.map((each) => [boundUri(each, bind), each]));
  }

  return async ({ scope: kept, uri, hash }) => {
    const scope = normalize(kept);
    const place = JSON.stringify(scope);
    const names = listed.get(place) ?? list(scope);
    listed.set(place, names);
    const found = (await names).get(uri);
    if (!found) return { uri, text: null };
    const again = { uri: `memory:${key(found)}`, text: null };
    if (hash === undefined) return again;
    const read = await memory.store.read(found, []);
    const isSame = read.exists && bind(read.hash) === hash;
    return isSame ? { ...again, text: readMemoryText(read.content) } : again;
  };
}
