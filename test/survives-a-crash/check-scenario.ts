// Checks all threads of a scenario after it has come to its end.
import type { Holdfast } from "../../src/holdfast.ts";
import { checkThread } from "./check-thread.ts";
import type { Database } from "./database.ts";
import type { EffectLedger } from "./effect-ledger.ts";
import type { Scenario } from "./scenario.ts";

export async function checkScenario(
  { endings }: Scenario,
  name: string,
  { holdfast, database, ledger }: { holdfast: Holdfast; database: Database; ledger: EffectLedger },
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [thread, ending] of Object.entries(endings)) {
    const handle = await holdfast.threads.open(`${name}/${thread}`, { agent: ending.agent });
    problems.push(...(await checkThread(handle, ending, { database, arrivals: ledger.arrivalsOf(handle.id) })));
  }
  return problems;
}
