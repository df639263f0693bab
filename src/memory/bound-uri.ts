// How the record of a context names a memory: with letters that only the installation can make. A name may tell as much as
// a text, and the record stays when the memory is forgotten.
import type { Json } from "../contracts/json.ts";
import { type MemoryScope, normalize } from "../contracts/memory/memory-scope.ts";

/** Makes of a value what nobody else can make, and nobody can guess the value from. */
export type Bind = (value: Json) => string;

export function boundUri(scope: MemoryScope, bind: Bind): string {
  return `memory:${bind(normalize(scope))}`;
}
