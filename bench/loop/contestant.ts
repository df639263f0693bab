// One loop in a process of its own.
import { answerOrders } from "../subject.ts";
import { aiSdk } from "./ai-sdk.ts";
import { holdfastFull } from "./holdfast-full.ts";
import { holdfastObserved } from "./holdfast-observed.ts";
import { type Loop, verify } from "./workload.ts";

const loop = loopNamed(process.argv[2]);

/** What the process is asked for: microseconds per turn of this many runs of this length. */
export type Order = { readonly turns: number; readonly runs: number };

answerOrders(async (order: Order) => {
  await timed(order); // The compiler forgets while a loop waits for its turn.
  return await timed(order);
});

function loopNamed(wanted: unknown): Loop {
  const found = [holdfastObserved, holdfastFull, aiSdk].find(({ name }) => name === wanted);
  if (!found) throw new Error(`There is no loop "${wanted}".`);
  return found;
}

/** One run after another; all else is done before the clock starts or after it stops. */
async function timed({ turns, runs }: Order): Promise<number> {
  const prepared = Array.from({ length: runs }, () => loop.prepare(turns));
  const outcomes = [];
  const begun = performance.now();
  for (const run of prepared) outcomes.push(await run());
  const elapsed = performance.now() - begun;
  for (const done of outcomes) verify(loop, turns, done);
  return (elapsed * 1000) / (turns * runs);
}
