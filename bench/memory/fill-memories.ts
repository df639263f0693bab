// A hundred thousand memories for the benchmark: sentences of common and rare words, of all sources.

import { keepMemory } from "../../src/backend/sql/memory-statements.ts";
import type { SqlDriver } from "../../src/backend/sql-driver.ts";
import { withDefaults } from "../../src/contracts/memory/memory-metadata.ts";
import type { MemoryScope } from "../../src/contracts/memory/memory-scope.ts";

const AT_A_TIME = 500;

const sources = [
  "agent_inferred",
  "agent_inferred",
  "agent_inferred",
  "user_asserted",
  "workspace_extracted",
  "imported",
  "curated",
  "system_generated",
];

/** How many memories each of the others has. */
const OF_OTHERS = 10;

export function scopeOf(user: number): MemoryScope {
  return { layer: "user", workspace_type: "site", workspace_id: "1", user_id: user, agent_id: 1, filename: "" };
}

/** So many memories of user 1, and ten each of as many others. */
export async function fillMemories(driver: SqlDriver, count: number, others: number): Promise<void> {
  const all = count + others * OF_OTHERS;
  for (let from = 0; from < all; from += AT_A_TIME) {
    const numbers = Array.from({ length: Math.min(AT_A_TIME, all - from) }, (_, index) => from + index);
    await driver.batch(
      numbers.flatMap((number) => memory(number, number < count ? 1 : 2 + ((number - count) % others))),
    );
  }
  // On the file nobody would: SQLite plans without having counted.
  if (driver.name === "postgres") await driver.batch([{ sql: "analyze", params: [] }]);
}

/** The same in every run. A tenth of all hold the word "frequent", one in a thousand each of a thousand others. */
function memory(number: number, user: number) {
  const random = scattered(number);
  const words = Array.from({ length: 40 }, (_, place) => `word${scattered(number * 41 + place) % 2_000}`);
  const rare = `rare${random % 1_000}`;
  const content = [...words, rare, ...(random % 10 === 0 ? ["frequent"] : [])].join(" ");
  const day = 1_700_000_000 + (random % 100_000) * 100;
  return keepMemory({
    scope: { ...scopeOf(user), filename: `note-${number}.md` },
    content,
    metadata: withDefaults({ source_type: sources[random % sources.length] ?? "", source_ref: `chat:${number}` }, day),
    consent: null,
  });
}

/** A number that looks like chance. */
function scattered(number: number): number {
  let mixed = Math.imul(number ^ (number >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
