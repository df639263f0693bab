// What the parts of a memory may be that databases look it up by; its text has no limit of ours.
import type { MemoryMetadata } from "../contracts/memory/memory-metadata.ts";
import type { MemoryScope } from "../contracts/memory/memory-scope.ts";
import { isStorable } from "../contracts/storable-name.ts";

/** Below what an index of PostgreSQL takes in one entry. */
const MOST_BYTES = 1_000;

/** What is wrong with it, as a sentence; undefined when it can be stored. */
export function memoryProblem(scope: MemoryScope, metadata: MemoryMetadata = {}): string | undefined {
  const { source_type = "", validator = "" } = metadata;
  const parts = { ...namesOf(scope), source_type, validator };
  const [name] = Object.entries(parts).find(([, text]) => byteLength(text) > MOST_BYTES) ?? [];
  if (name !== undefined) return `The ${name} of a memory is at most ${MOST_BYTES} bytes long.`;
  const numbers = [metadata.created_by_user_id, metadata.created_by_agent_id, metadata.created_at, metadata.updated_at];
  const isWhole = numbers.every((number) => number === undefined || Number.isSafeInteger(number));
  if (!isWhole) return "The numbers in the metadata of a memory are whole and no larger than 2^53.";
  return nameProblem(scope);
}

/**
 * The same for the names alone. No text of a database may hold a zero or half a character, and a name that lost them would
 * be the name of something else.
 */
export function nameProblem(scope: Partial<MemoryScope>): string | undefined {
  const [name] = Object.entries(namesOf(scope)).find(([, text]) => typeof text === "string" && !isStorable(text)) ?? [];
  return name === undefined ? undefined : `The ${name} of a memory must hold whole characters, and no zero.`;
}

// Whoever reads a scope takes numbers for names too.
function namesOf({ filename, layer, workspace_type, workspace_id }: Partial<MemoryScope>): Record<string, unknown> {
  return { filename, layer, workspace_type, workspace_id };
}

function byteLength(text: unknown): number {
  return typeof text === "string" ? Buffer.byteLength(text) : 0;
}
