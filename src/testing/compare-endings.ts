// What a scenario has come to after a crash, held against what it comes to when nobody disturbs it.
import type { StoredCall } from "../backend/thread-rows.ts";
import type { RecordedEffect } from "./effect-ledger.ts";
import type { ReadThread } from "./read-threads.ts";

/** What stands in the database, and what has happened outside. */
export type ReadEnding = {
  readonly threads: readonly ReadThread[];
  readonly effects: readonly RecordedEffect[];
};

/** A sentence for everything that was lost, doubled or moved. With `anyOrder`, messages may change places. */
export function compareEndings(
  undisturbed: ReadEnding,
  ending: ReadEnding,
  { anyOrder }: { readonly anyOrder: boolean },
): readonly string[] {
  const keys = new Set([...undisturbed.threads, ...ending.threads].map(({ key }) => key));
  const ofThreads = [...keys].flatMap((key) => {
    const wanted = undisturbed.threads.find((thread) => thread.key === key);
    const found = ending.threads.find((thread) => thread.key === key);
    if (!wanted) return [`thread "${key}" is there, and undisturbed it is not`];
    if (!found) return [`thread "${key}" is missing`];
    return compareThreads(wanted, found, anyOrder).map((problem) => `thread "${key}": ${problem}`);
  });
  return [...ofThreads, ...compareEffects(undisturbed, ending)];
}

function compareThreads(wanted: ReadThread, found: ReadThread, anyOrder: boolean): string[] {
  const problems = [...found.problems];
  if (found.status !== wanted.status) problems.push(`it is ${found.status}, and undisturbed it is ${wanted.status}`);
  const [said, expected] = [found.said, wanted.said].map((words) => (anyOrder ? words.toSorted() : words));
  // What a tool leaves for its own thread is committed with its outcome: it falls with a call whose outcome is unknown.
  const isKept = found.unknown.length > 0 ? isPartOf(said ?? [], expected ?? []) : String(said) === String(expected);
  if (!isKept) problems.push(`the messages are ${quoted(found.said)}, and undisturbed they are ${quoted(wanted.said)}`);
  return problems;
}

/** True when the lines are all among the others, in the same order. */
function isPartOf(lines: readonly string[], others: readonly string[]): boolean {
  let next = 0;
  for (const line of others) if (line === lines[next]) next++;
  return next === lines.length;
}

/** Each effect as often as undisturbed; one that is missing has to be that of a call which is known to be unknown. */
function compareEffects(undisturbed: ReadEnding, ending: ReadEnding): string[] {
  const unknown = unknownCalls(ending).length;
  return effectNames([undisturbed, ending]).flatMap((name) => {
    const wanted = countEffects(undisturbed, name);
    const found = countEffects(ending, name);
    if (found > wanted) return [`"${name}" happened ${times(found)}, and undisturbed ${times(wanted)}`];
    if (found < wanted - unknown) return [`"${name}" happened ${times(found)} instead of ${times(wanted)}, in silence`];
    return [];
  });
}

export function unknownCalls({ threads }: ReadEnding): readonly StoredCall[] {
  return threads.flatMap(({ unknown }) => unknown);
}

export function effectNames(endings: readonly ReadEnding[]): readonly string[] {
  return [...new Set(endings.flatMap(({ effects }) => effects.map(({ name }) => name)))];
}

export function countEffects({ effects }: ReadEnding, name: string): number {
  return effects.filter((effect) => effect.name === name).length;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function quoted(lines: readonly string[]): string {
  return `[${lines.map((line) => `"${line}"`).join(", ")}]`;
}
