// Checks all threads of a scenario: after it has come to its end, with all that descend from them, and where it was cut off.
import type { EffectLedger } from "../../src/testing/effect-ledger.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";
import { checkEnding } from "./check-ending.ts";
import { threadIdOf } from "./database.ts";
import type { Ending, Scenario, Site } from "./scenario.ts";

type SiteOfEffects = Site & { readonly ledger: EffectLedger };

export async function checkScenario(scenario: Scenario, name: string, site: SiteOfEffects): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [thread, ending] of Object.entries(scenario.endings)) {
    const handle = await site.holdfast.threads.open(`${name}/${thread}`, { agent: ending.agent });
    problems.push(...(await checkFamily(handle, ending, site)));
    problems.push(...((await scenario.check?.(handle, site.ledger.effects(), site)) ?? []));
  }
  return [...problems, ...(await checkAlways(scenario, name, site))];
}

/** What must hold at any moment of those of its threads that are there. */
export async function checkAlways(scenario: Scenario, name: string, site: Site): Promise<readonly string[]> {
  const problems: string[] = [];
  if (!scenario.always) return problems;
  for (const thread of Object.keys(scenario.endings)) {
    const id = await threadIdOf(site.database, `${name}/${thread}`);
    if (id !== undefined) problems.push(...(await scenario.always(await site.holdfast.threads.get(id), site)));
  }
  return problems;
}

async function checkFamily(thread: ThreadHandle, ending: Ending, site: SiteOfEffects): Promise<readonly string[]> {
  const { holdfast, database, ledger } = site;
  const problems = [...(await checkEnding(thread, ending, { database, effects: ledger.effects() }))];
  const wanted = ending.children ?? [];
  const children = await thread.children();
  const shown = children.map(({ threadName, status }) => `${threadName} (${status})`).sort();
  const expected = wanted.map(({ name, shown: status }) => `${name} (${status})`).sort();
  if (String(shown) !== String(expected)) {
    problems.push(
      `${thread.key}: its children are ${shown.join(", ") || "none"}, not ${expected.join(", ") || "none"}`,
    );
  }
  for (const { reference, threadName } of children) {
    const own = wanted.find(({ name }) => name === threadName);
    if (!own) continue;
    const status = own.shown === "terminated" ? "terminated" : "idle";
    problems.push(...(await checkFamily(await holdfast.threads.get(reference), { ...own, status }, site)));
  }
  return problems;
}
