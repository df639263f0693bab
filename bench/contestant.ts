// One subject in a process of its own, as in a program that uses nothing else: what another subject leaves in the heap
// or teaches the compiler does not reach it.
import { aiSdk } from "./ai-sdk.ts";
import { holdfastFull } from "./holdfast-full.ts";
import { holdfastObserved } from "./holdfast-observed.ts";
import { type Subject, verify } from "./workload.ts";

const subject = subjectNamed(process.argv[2]);

/** What the process is asked for: microseconds per turn of this many runs of this length. */
export type Order = { readonly turns: number; readonly runs: number };

process.on("message", async (order: Order) => {
  await timed(order); // The compiler forgets while a subject waits for its turn.
  process.send?.(await timed(order));
});

function subjectNamed(wanted: unknown): Subject {
  const found = [holdfastObserved, holdfastFull, aiSdk].find(({ name }) => name === wanted);
  if (!found) throw new Error(`There is no subject "${wanted}".`);
  return found;
}

/** One run after another; all else is done before the clock starts or after it stops. */
async function timed({ turns, runs }: Order): Promise<number> {
  const prepared = Array.from({ length: runs }, () => subject.prepare(turns));
  const outcomes = [];
  const begun = performance.now();
  for (const run of prepared) outcomes.push(await run());
  const elapsed = performance.now() - begun;
  for (const done of outcomes) verify(subject, turns, done);
  return (elapsed * 1000) / (turns * runs);
}
