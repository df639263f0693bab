// Memories by their words. What is asked is the same on both databases; how an index of words is asked is their own.
import type { CompleteQuery } from "../../contracts/memory/memory-query.ts";
import type { SqlDriver, Statement } from "../sql-driver.ts";
import { filtersOf, rankingOf } from "./memory-query.ts";
import { ENTRY } from "./memory-rows.ts";
import { type Sought, soughtWords } from "./words.ts";

type FullText = {
  /** The values that the other two take: every word within a scope, as the database wants to be asked. */
  asked(scope: string, sought: Sought): readonly string[];
  readonly from: string;
  /** The lower, the better. */
  readonly score: string;
};

const fullText: Readonly<Record<SqlDriver["name"], FullText>> = {
  sqlite: {
    asked: (scope, sought) => [`scope : "${scope}" AND words : (${together(sought, '"', "*", " AND ")})`],
    // In this order and no other: from the memories to the words it would ask once for each of them.
    from: `memory_words cross join memories on memories.id = memory_words.rowid
      where memory_words match $1`,
    // That the scope is right makes nothing better.
    score: "bm25(memory_words, 0.0, 1.0)",
  },
  postgres: {
    asked: (scope, sought) => {
      const words = together(sought, "'", ":*", " & ");
      return [`'@${scope}' & ${words}`, words];
    },
    from: `memory_words join memories on memories.id = memory_words.rowid
      where memory_words.vector @@ cast($1 as tsquery)`,
    // A word says more in a short text than in a long one.
    score: "-ts_rank(memory_words.vector, cast($2 as tsquery), 1)",
  },
};

/** Every word in quotes, of which there are none in it: a word is letters and digits. */
function together({ words, isLastOpen }: Sought, quote: string, open: string, and: string): string {
  return words.map((word) => `${quote}${word}${quote}`).join(and) + (isLastOpen ? open : "");
}

/** The best memories of a scope that hold every word; undefined where no word is asked for. */
export function searchStatement(
  { name }: Pick<SqlDriver, "name">,
  scope: string,
  question: string,
  query: CompleteQuery,
  limit: number,
): Statement | undefined {
  const sought = soughtWords(question);
  if (sought.words.length === 0) return undefined;
  const { from, score, ...ways } = fullText[name];
  const ranking = rankingOf(query);
  const asked = ways.asked(scope, sought).slice(0, ranking ? 1 : undefined);
  const filters = filtersOf(query, asked.length + 1);
  const order = `${ranking || "score, "}filename`;
  // The content is read of those only that are shown.
  const sql = `select ${ENTRY}, hash, content from (
      select memories.id as found_id, ${ranking ? "0" : score} as score from ${from}${filters.where}
      order by ${order} limit $${asked.length + 1}
    ) as found join memories on memories.id = found_id order by ${order}`;
  return { sql, params: [...asked, limit, ...filters.params] };
}
