// The process that `crashTest` starts: it runs a user's scenario and dies where it is told to.
import { errorMessage } from "../contracts/error.ts";
import type { OnCrashPoint } from "../engine/crash-points.ts";
import { createHoldfast, type Holdfast } from "../holdfast.ts";
import { backendOf, type CaseDatabase, SECRET_KEY } from "./case-database.ts";
import { type Fate, meetFate } from "./crash-points.ts";
import { type LedgerClient, openEffectLedger } from "./ledger-client.ts";
import { isScenario, type Scenario } from "./scenario.ts";
import { tell } from "./told.ts";
import { untilAllAtRest } from "./until-at-rest.ts";

export type CrashOrder = Fate & {
  readonly database: CaseDatabase;
  /** The address of the ledger. */
  readonly ledger: string;
  /** The address of the module, and what it exports the scenario as. */
  readonly module: string;
  readonly exported: string;
};

/** Short, so that nobody waits long for what a dead worker held. */
const LEASE_MS = 1_500;

await obey(JSON.parse(process.argv[2] ?? "{}") as CrashOrder).catch(fail);
tell({ kind: "done" });
process.exit(0);

async function obey(order: CrashOrder): Promise<void> {
  const played = await load(order);
  const reached = meetFate(order);
  const ledger = withPoints(openEffectLedger(order.ledger), reached);
  const world = { ledger, reached };
  const holdfast = await createHoldfast({
    secretKey: SECRET_KEY,
    leaseMs: LEASE_MS,
    drainMs: 2_000,
    verifies: true,
    ...played.options,
    ...played.definitions?.(world),
    backend: await backendOf(order.database),
    agents: played.agents(world),
    onPoint: reached,
    onError: fail,
  });
  // Whoever started us is gone, or has waited long enough.
  const asked = new Promise<void>((resolve) => process.stdin.resume().once("end", resolve));
  const late = asked.then(() => Promise.reject(new Error("The scenario did not come to its end.")));
  try {
    // What was left for threads may still be on its way when the program has ended.
    await Promise.race([played.run({ holdfast, ...world }).then(() => untilAllAtRest(holdfast)), late]);
    await Promise.race([check(played, holdfast, ledger), late]);
  } catch (error) {
    fail(error);
  }
  await holdfast.close();
}

async function load({ module, exported }: CrashOrder): Promise<Scenario> {
  const { [exported]: found } = (await import(module)) as Record<string, unknown>;
  if (isScenario(found)) return found;
  throw new Error(`"${exported}" is no scenario of ${module}.`);
}

/** Right after something was done outside, and nobody here knows it yet, a crash hurts most. */
function withPoints(ledger: LedgerClient, reached: OnCrashPoint): LedgerClient {
  return {
    ...ledger,
    async record(effect) {
      const recorded = await ledger.record(effect);
      await reached(`after recording ${effect.name}`);
      return recorded;
    },
  };
}

async function check({ check }: Scenario, holdfast: Holdfast, ledger: LedgerClient): Promise<void> {
  if (!check) return;
  const effects = await ledger.effects();
  try {
    await check({ holdfast, effects });
  } catch (error) {
    tell({ kind: "violation", text: errorMessage(error) });
  }
}

function fail(error: unknown): void {
  tell({ kind: "error", text: errorMessage(error) });
}
