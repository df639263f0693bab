// A statement of a migration: one text for both databases, or one for each where they do not share the words.
export type MigrationStatement = string | { readonly sqlite: string; readonly postgres: string };
