import { expect, it } from "vitest";
import { postgresWorld, secretKey, sqliteWorld } from "../test/databases.ts";
import { checkDatabase, migrateDatabase } from "./database.ts";

it.each([
  ["SQLite", sqliteWorld],
  ["PostgreSQL", postgresWorld],
])("tells on %s how far it is with what takes long, from the first step to the last", async (_name, newWorld) => {
  const { backend } = await newWorld();
  const versions: (readonly number[])[] = [];
  const { to } = await migrateDatabase(backend, (...counts) => versions.push(counts));
  expect(versions).toEqual(Array.from({ length: to }, (_, version) => [version, to]));

  const reader = await backend.open();
  const steps: (readonly [done: number, of: number, what: string])[] = [];
  const onChecked = (...step: [number, number, string]) => void steps.push(step);
  await checkDatabase(backend, reader, { secretKey, onChecked }).finally(() => reader.close());
  expect(steps.map(([done]) => done)).toEqual(steps.map((_, index) => index));
  expect(new Set(steps.map(([, of]) => of))).toEqual(new Set([steps.length]));
  expect(steps.map(([, , what]) => what)).toContain("messages");
});
