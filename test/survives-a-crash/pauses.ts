// A worker that sleeps past its lease, such as a machine that was suspended: another one takes its thread, and what the
// sleeper does when it wakes up must count for nothing.
import { checkEnding } from "./check-ending.ts";
import { PATIENCE_MS } from "./database.ts";
import type { PostgresSite } from "./postgres-cases.ts";
import type { Ending } from "./scenario.ts";
import { sleeperAnswer } from "./scenarios/sleeper.ts";
import { startChild } from "./start-child.ts";
import { within } from "./within.ts";

const AT = "before commit begun call_model #2";

/**
 * The sleeper has the result of a call in its hands and wakes up while its successor still looks up what became of that
 * call: nothing but the lease itself tells them apart. It must not commit, and the result that counts is the successor's.
 */
export async function sleeperCommitsNothing(site: PostgresSite): Promise<readonly string[]> {
  const { client, database, ledger, second } = site;
  second.signal("SIGSTOP");
  const sleeper = startChild({ database, ledger: ledger.url, at: AT, fate: "paused" });
  await sleeper.heard("ready");
  const thread = await client.threads.open(`sleeper-${sleeper.pid}-${Date.now()}`, { agent: "sleeper" });
  const sent = thread.send("Who are you?", { key: "who" });
  await within(PATIENCE_MS, sleeper.heard("paused"), "The worker never fell asleep.");
  second.signal("SIGCONT");
  const problems: string[] = [];
  await within(PATIENCE_MS, ledger.noted(`successor of ${thread.id}`), "Nobody took the thread over.");
  sleeper.signal("SIGCONT");
  sleeper.finish();
  const { points, problems: own } = await sleeper.ended(PATIENCE_MS);
  problems.push(...own);
  const after = points.slice(points.indexOf(AT) + 1).filter((point) => point.startsWith("after commit"));
  for (const point of after) problems.push(`a worker without a lease came to: ${point}`);
  ledger.note(`go on with ${thread.id}`);
  await within(PATIENCE_MS, sent, "The message was never answered.");
  const ending = sleeperAnswer.endings.main as Ending;
  problems.push(...(await checkEnding(thread, ending, { database, effects: ledger.effects() })));
  return problems;
}
