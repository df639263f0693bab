// The tables of memories: what is remembered with all that is known about it, and beside it the words that it is found by.
import type { MigrationStatement } from "./migration.ts";

/** `id` numbers the rows, because that is how the words of SQLite refer to them. Names are compared byte by byte. */
const table = (id: string, bytewise: string) => `create table memories (
    id ${id},
    scope text ${bytewise} not null,
    filename text ${bytewise} not null,
    nested integer not null,
    layer text not null,
    workspace_type text not null,
    workspace_id text not null,
    user_id bigint not null,
    agent_id bigint not null,
    hash text not null,
    bytes bigint not null,
    revision text not null,
    source_type text ${bytewise},
    source_ref text,
    created_by_user_id bigint,
    created_by_agent_id bigint,
    about_type text,
    about_id text,
    confidence double precision,
    validator text ${bytewise},
    authority_tier text,
    authority_rank integer,
    created_at bigint,
    updated_at bigint,
    validation_status text,
    validation_message text,
    validated_at bigint,
    consent text,
    content text not null,
    unique (scope, filename)
  )`;

/** What ranks a scope is found in its order; whoever lacks the value comes last. */
const ranked = (field: string): MigrationStatement => {
  const index = (order: string) => `create index memories_by_${field} on memories (scope, ${field} ${order}, filename)`;
  return { sqlite: index("desc"), postgres: index("desc nulls last") };
};

export const memories: readonly MigrationStatement[] = [
  {
    sqlite: table("integer primary key", ""),
    postgres: table("bigint generated always as identity primary key", 'collate "C"'),
  },
  "create index memories_of_layers on memories (scope, filename) where nested = 0",
  ...["confidence", "authority_rank", "created_at", "updated_at"].map(ranked),
  "create index memories_by_source on memories (scope, source_type, filename)",
  "create index memories_by_validator on memories (scope, validator, filename) where validator is not null",
  "create index memories_of_users on memories (user_id) where user_id > 0",
  "create index memories_of_workspaces on memories (workspace_type, workspace_id)",

  // One name and one way to write it on both databases.
  // `ascii` leaves everything beyond ASCII as it is: the words come folded and cut.
  {
    sqlite: "create virtual table memory_words using fts5 (scope, words, tokenize = 'ascii')",
    postgres: `create table memory_words (
        rowid bigint primary key references memories (id) on delete cascade,
        scope text,
        words text,
        vector tsvector not null
      )`,
  },
  // What is forgotten must not stay readable in the index until its pages are merged some day.
  {
    sqlite: "insert into memory_words (memory_words, rank) values ('secure-delete', 1)",
    postgres: "comment on table memory_words is 'The words that memories are found by.'",
  },
  {
    sqlite: `create trigger memories_gone after delete on memories begin
      delete from memory_words where rowid = old.id;
    end`,
    // The scope is a word too, of a kind that no text holds, so that one index finds both together.
    postgres: `do $do$ begin
      create function index_memory_words() returns trigger language plpgsql as $body$
        begin
          select cast(string_agg(word || ':' || places, ' ') as tsvector) into new.vector from (
            select word, string_agg(cast(least(place, 16383) as text), ',') as places
            from unnest(string_to_array(new.words, ' ')) with ordinality as each_word (word, place) group by word
          ) as lexeme;
          new.vector := coalesce(new.vector, '') || array_to_tsvector(array['@' || new.scope]);
          new.scope := null;
          new.words := null;
          return new;
        end $body$;
      create trigger memory_words_indexed before insert on memory_words
        for each row execute function index_memory_words();
      -- Sorted in at once: what is put aside for later would be read through by every search until then.
      create index memory_words_by_word on memory_words using gin (vector) with (fastupdate = off);
    end $do$`,
  },
];
