// Checks all threads of a scenario after it has come to its end.
import type { Holdfast } from "../../src/holdfast.ts";
import type { EffectLedger } from "../../src/testing/effect-ledger.ts";
import { checkEnding } from "./check-ending.ts";
import type { Database } from "./database.ts";
import type { Scenario } from "./scenario.ts";

export async function checkScenario(
  { endings }: Scenario,
  name: string,
  { holdfast, database, ledger }: { holdfast: Holdfast; database: Database; ledger: EffectLedger },
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [thread, ending] of Object.entries(endings)) {
    const handle = await holdfast.threads.open(`${name}/${thread}`, { agent: ending.agent });
    problems.push(...(await checkEnding(handle, ending, { database, effects: ledger.effects() })));
  }
  return problems;
}
