// Memories in SQL.
import { trim, trimEnd } from "../../contracts/coerce.ts";
import { holdfastError } from "../../contracts/error.ts";
import * as memoryCapabilities from "../../contracts/memory/memory-capabilities.ts";
import { type MemoryMetadata, metadataFields, withDefaults } from "../../contracts/memory/memory-metadata.ts";
import * as memoryQuery from "../../contracts/memory/memory-query.ts";
import type { MemoryScope } from "../../contracts/memory/memory-scope.ts";
import type { MemoryRead, MemoryWritten } from "../../contracts/memory/memory-store.ts";
import * as workspaces from "../../contracts/workspace.ts";
import { nameProblem } from "../memory-limits.ts";
import type { Forgotten, KeptMemories } from "../memory-store.ts";
import type { Scalar, SqlDriver, Statement } from "../sql-driver.ts";
import { attemptBatch, COMMITTED } from "./attempt-batch.ts";
import { filtersOf, rankingOf } from "./memory-query.ts";
import { digestOf, ENTRY, entryReader, metadataOf, placeOf, storable } from "./memory-rows.ts";
import { searchStatement } from "./memory-search.ts";
import { AT, forgetMemory, keepMemory } from "./memory-statements.ts";
import * as rows from "./rows.ts";

const capabilities = memoryCapabilities.all();

const MOST_FOUND = 50;

type MemoryStoreOptions = {
  /** Unix seconds, for what a writer does not say; the clock of the database unless given. */
  readonly now?: () => number;
};

export function createMemoryStore(driver: SqlDriver, { now }: MemoryStoreOptions = {}): KeptMemories {
  async function complete(metadata: MemoryMetadata): Promise<MemoryMetadata> {
    if (now) return withDefaults(metadata, now());
    const [row] = await driver.all("select now_us() as now");
    return withDefaults(metadata, Math.floor(rows.number(row?.now) / 1_000_000));
  }

  async function hasRevision(scope: MemoryScope, revision: string) {
    const place = placeOf(scope);
    const sql = `select id from memories where ${AT} and revision = $3`;
    const [row] = await driver.all(sql, [place.scope, place.filename, revision]);
    return row && COMMITTED;
  }

  /** The entries of a scope that pass the query; `within` goes on from the scope, with placeholders from `$2`. */
  async function list(scope: MemoryScope, within: string, values: readonly Scalar[], query?: memoryQuery.MemoryQuery) {
    const asked = memoryQuery.normalize(query);
    const filters = filtersOf(asked, values.length + 1);
    const found = await driver.all(
      `select ${ENTRY} from memories where scope = $1${within}${filters.where} order by ${rankingOf(asked)}filename`,
      [placeOf(scope).scope, ...values, ...filters.params],
    );
    return found.map(readerOf(asked).entry);
  }

  return {
    capabilities: () => capabilities,

    async read(scope, fields = metadataFields) {
      const place = placeOf(scope);
      const sql = `select ${ENTRY}, hash, content from memories where ${AT}`;
      const [row] = await driver.all(sql, [place.scope, place.filename]);
      if (!row) return nothing;
      return {
        exists: true,
        content: rows.text(row.content),
        hash: rows.text(row.hash),
        bytes: rows.number(row.bytes),
        updated_at: rows.optionalNumber(row.updated_at),
        metadata: metadataOf(row, new Set(fields)),
        unsupported_metadata_fields: memoryCapabilities.unsupported(capabilities, fields, "read"),
      };
    },

    async write(scope, content, { ifMatch = null, metadata: given, consent } = {}) {
      const metadata = given === undefined ? null : await complete(given);
      const revision = crypto.randomUUID();
      const decision = consent === undefined ? null : JSON.stringify(consent);
      const statements = keepMemory({ scope, content, metadata, consent: decision, revision, ifMatch });
      const done = await attemptBatch(driver, statements, () => hasRevision(scope, revision));
      return done.outcome === "refused" ? conflict : { ...written, ...digestOf(storable(content)), metadata };
    },

    async exists(scope) {
      const { scope: hash, filename } = placeOf(scope);
      return (await driver.all(`select id from memories where ${AT}`, [hash, filename])).length > 0;
    },

    async delete(scope) {
      await attemptBatch(driver, [forgetMemory(scope)]);
      return written;
    },

    listLayer: (scope, query) => list(scope, " and nested = 0", [], query),

    async listSubtree(scope, prefix, query) {
      const folder = trimEnd(trim(prefix), "/");
      const problem = nameProblem({ filename: folder });
      if (problem !== undefined) throw holdfastError("invalid_argument", problem);
      if (folder === "") return await list(scope, "", [], query);
      // A range of names and no pattern: behind the slash comes the zero.
      return await list(scope, " and filename >= $2 and filename < $3", [`${folder}/`, `${folder}0`], query);
    },

    async search(scope, words, query, { limit = MOST_FOUND } = {}) {
      const asked = memoryQuery.normalize(query);
      const statement = searchStatement(driver, placeOf(scope).scope, words, asked, whole(limit));
      if (!statement) return [];
      return (await driver.readLong(statement.sql, statement.params)).map(readerOf(asked).found);
    },

    async retrieve(scope, query, { limit = MOST_FOUND } = {}) {
      const asked = memoryQuery.normalize(query);
      const filters = filtersOf(asked, 2);
      const found = await driver.all(
        `select ${ENTRY}, hash, content from memories where scope = $1${filters.where}
         order by ${rankingOf(asked)}filename limit $2`,
        [placeOf(scope).scope, whole(limit), ...filters.params],
      );
      return found.map(readerOf(asked).found);
    },

    async revalidated(scope, hash, { status, confidence = null, message = null, at }) {
      const place = placeOf(scope);
      const sql = `update memories set validation_status = $4, validation_message = $5, validated_at = $6,
          confidence = coalesce(cast($7 as double precision), confidence)
        where ${AT} and hash = $3`;
      const found = [storable(status), message === null ? null : storable(message), Math.trunc(at), confidence];
      const params = [place.scope, place.filename, storable(hash), ...found];
      return (await attemptBatch(driver, [{ sql, params, expect: 1 }])).outcome === "committed";
    },

    async validation(scope) {
      const place = placeOf(scope);
      const sql = `select validation_status, validation_message, validated_at from memories
        where ${AT} and validation_status is not null`;
      const [row] = await driver.all(sql, [place.scope, place.filename]);
      return (
        row && {
          status: rows.text(row.validation_status),
          message: rows.optionalText(row.validation_message),
          validated_at: rows.number(row.validated_at),
        }
      );
    },

    async forgetAll(of) {
      const done = await attemptBatch(driver, [forgetStatement(of)]);
      return done.outcome === "committed" ? (done.rows[0]?.length ?? 0) : 0;
    },
  };
}

const nothing: MemoryRead = Object.freeze({
  exists: false,
  content: "",
  hash: "",
  bytes: 0,
  updated_at: null,
  metadata: null,
  unsupported_metadata_fields: Object.freeze([]),
});

const written: MemoryWritten = Object.freeze({
  success: true,
  hash: "",
  bytes: 0,
  error: null,
  metadata: null,
  unsupported_metadata_fields: Object.freeze([]),
});

const conflict: MemoryWritten = Object.freeze({ ...written, success: false, error: "conflict" });

function readerOf({ metadata_fields }: memoryQuery.CompleteQuery) {
  return entryReader(metadata_fields, memoryCapabilities.unsupported(capabilities, metadata_fields, "read"));
}

function whole(limit: number): number {
  return Number.isFinite(limit) ? Math.max(0, Math.trunc(limit)) : MOST_FOUND;
}

/** Nobody is user or agent 0, and a memory of nobody is not to be forgotten with somebody. */
function forgetStatement({ workspace, user_id, agent_id }: Forgotten): Statement {
  const params: Scalar[] = [];
  const conditions: string[] = [];
  const wanted = (column: string, value: Scalar) => conditions.push(`${column} = $${params.push(value)}`);
  for (const [column, number] of Object.entries({ user_id, agent_id })) {
    if (number === undefined) continue;
    if (!(Number.isSafeInteger(number) && number > 0)) {
      throw holdfastError("invalid_argument", `${column} must be a number from 1.`);
    }
    wanted(column, number);
  }
  // What the index of users is made for.
  if (user_id !== undefined) conditions.push("user_id > 0");
  if (workspace) {
    const problem = nameProblem(workspace);
    if (problem !== undefined) throw holdfastError("invalid_argument", problem);
    const { workspace_type, workspace_id } = workspaces.normalize(workspace);
    wanted("workspace_type", workspace_type);
    wanted("workspace_id", workspace_id);
  }
  if (params.length > 0) return { sql: `delete from memories where ${conditions.join(" and ")} returning id`, params };
  throw holdfastError("invalid_argument", "Name the user, agent or workspace whose memories are to be forgotten.");
}
