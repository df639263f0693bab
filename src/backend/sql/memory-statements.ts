// What changes memories, statement by statement: for the store, and for a commit that remembers something on the way.
import { holdfastError } from "../../contracts/error.ts";
import type { MemoryMetadata } from "../../contracts/memory/memory-metadata.ts";
import type { MemoryScope } from "../../contracts/memory/memory-scope.ts";
import { memoryProblem } from "../memory-limits.ts";
import type { Scalar, Statement } from "../sql-driver.ts";
import { digestOf, type MemoryPlace, metadataColumns, placeOf, storable } from "./memory-rows.ts";
import { wordsOf } from "./words.ts";

export type NewMemory = {
  readonly scope: MemoryScope;
  readonly content: string;
  /** With its defaults; null where nothing is said about it. */
  readonly metadata: MemoryMetadata | null;
  /** JSON of the decision that allowed it. */
  readonly consent: string | null;
  /** Tells this write from all others. */
  readonly revision?: string;
  /** The hash of the content that it replaces; another one, or none at all, refuses the batch. */
  readonly ifMatch?: string | null;
  /** Nothing is written unless the thread has this consent, null for none that was ever given. */
  readonly if_consent?: { readonly thread_id: string; readonly consent: string | null };
};

/**
 * Writes a memory and the words that it is found by. `byAgent`: nothing is written over what somebody else wrote. Throws
 * `invalid_argument` for a memory that no index could hold.
 */
export function keepMemory(memory: NewMemory, { byAgent = false } = {}): readonly Statement[] {
  const problem = memoryProblem(memory.scope, memory.metadata ?? {});
  if (problem !== undefined) throw holdfastError("invalid_argument", problem);
  const place = placeOf(memory.scope);
  const content = storable(memory.content);
  const { ifMatch = null, if_consent, revision = crypto.randomUUID() } = memory;
  const values = { ...columnsOf(memory, place, content), revision };
  const kept = ifMatch === null ? upsert(place, values, { byAgent, if_consent }) : replace(place, values, ifMatch);
  return [kept, forgetWords(place, revision), indexWords(place, revision, wordsOf(place.filename, content))];
}

/** `byAgent`: only what an agent wrote, or what the user has said. */
export function forgetMemory(scope: MemoryScope, { byAgent = false } = {}): Statement {
  const { scope: hash, filename } = placeOf(scope);
  const only = byAgent ? ` and (${OF_AGENT} or memories.source_type = 'user_asserted')` : "";
  return { sql: `delete from memories where ${AT}${only}`, params: [hash, filename] };
}

/** What an agent wrote, and what nobody knows the writer of. */
const OF_AGENT = `(memories.source_type is null or memories.source_type = 'agent_inferred'
  or coalesce(memories.created_by_agent_id, 0) <> 0)`;

/** Where a memory is, as `$1` and `$2`. */
export const AT = "scope = $1 and filename = $2";

function columnsOf({ metadata, consent }: NewMemory, { parts }: MemoryPlace, content: string) {
  const { layer, workspace_type, workspace_id, user_id, agent_id, filename } = parts;
  return {
    ...{ layer, workspace_type, workspace_id, user_id, agent_id, nested: filename.includes("/") ? 1 : 0 },
    ...digestOf(content),
    ...metadataColumns(metadata),
    consent: consent === null ? null : storable(consent),
    content,
  };
}

type Columns = Readonly<Record<string, Scalar>>;

/** What was found out about the content before says nothing about this one. */
const NOT_VALIDATED = "validation_status = null, validation_message = null, validated_at = null";

type Conditions = { readonly byAgent: boolean; readonly if_consent: NewMemory["if_consent"] };

function upsert({ scope, filename }: MemoryPlace, columns: Columns, { byAgent, if_consent }: Conditions): Statement {
  const names = Object.keys(columns);
  const params = [scope, filename, ...Object.values(columns)];
  const condition = ifConsent(if_consent, params.length);
  const sql = `insert into memories (scope, filename, ${names.join(", ")})
    select $1, $2, ${names.map((name, index) => placeholder(name, index + 3)).join(", ")} where ${condition.sql}
    on conflict (scope, filename) do update
      set ${names.map((name) => `${name} = excluded.${name}`).join(", ")}, ${NOT_VALIDATED}
      ${byAgent ? `where ${OF_AGENT}` : ""}`;
  return { sql, params: [...params, ...condition.params] };
}

/** Consent is held while the batch lasts: whoever takes it back finds the memory there to be erased, or none. */
function ifConsent(given: NewMemory["if_consent"], placeholders: number) {
  if (!given) return { sql: "1 = 1", params: [] };
  const of = `select 1 from thread_subjects where thread_id = $${placeholders + 1}`;
  const { thread_id, consent } = given;
  if (consent === null) return { sql: `not exists (${of})`, params: [thread_id] };
  return { sql: `exists (${of} and consent = $${placeholders + 2} /*for update*/)`, params: [thread_id, consent] };
}

function replace({ scope, filename }: MemoryPlace, columns: Columns, ifMatch: string): Statement {
  const names = Object.keys(columns);
  const sql = `update memories
    set ${names.map((name, index) => `${name} = ${placeholder(name, index + 4)}`).join(", ")}, ${NOT_VALIDATED}
    where ${AT} and hash = $3`;
  return { sql, params: [scope, filename, storable(ifMatch), ...Object.values(columns)], expect: 1 };
}

// A confidence of 1 must not make a whole number of the next one.
function placeholder(name: string, place: number): string {
  return name === "confidence" ? `cast($${place} as double precision)` : `$${place}`;
}

// Where nothing was written, what is there keeps its own words.
const WRITTEN = `from memories where ${AT} and revision = $3`;

function forgetWords({ scope, filename }: MemoryPlace, revision: string): Statement {
  return {
    sql: `delete from memory_words where rowid = (select id ${WRITTEN})`,
    params: [scope, filename, revision],
  };
}

function indexWords({ scope, filename }: MemoryPlace, revision: string, words: string): Statement {
  const sql = `insert into memory_words (rowid, scope, words) select id, scope, $4 ${WRITTEN}`;
  return { sql, params: [scope, filename, revision, words] };
}
