// A process that plays a scenario, or only works for others, and dies where it is told to. Run by `startChild`.
import { writeSync } from "node:fs";
import { createHoldfast } from "../../src/holdfast.ts";
import { backendOf, LEASE_MS, SECRET_KEY } from "./database.ts";
import { openLedger } from "./ledger-client.ts";
import type { Order, Told } from "./order.ts";
import { countPoints } from "./points.ts";
import { scenarioNamed, scenarios, special } from "./scenarios.ts";

const order = JSON.parse(process.argv[2] ?? "{}") as Order;

/** At once and for certain: what is told asynchronously dies with the process. */
function tell(told: Told): void {
  writeSync(1, `${JSON.stringify(told)}\n`);
}

const numbered = countPoints();

function reached(point: string): void {
  if (order.quiet) return;
  const name = numbered(point);
  tell({ kind: "point", name });
  if (order.at !== name) return;
  tell({ kind: order.fate ?? "killed", name });
  process.kill(process.pid, order.fate === "paused" ? "SIGSTOP" : "SIGKILL");
}

function fail(error: unknown): void {
  tell({ kind: "error", text: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

const ledger = openLedger(order.ledger);
const world = { ledger, reached };
const played = order.play === undefined ? undefined : scenarioNamed(order.play.scenario);
const agents = (played ? [played] : [...scenarios, ...special]).flatMap((scenario) => scenario.agents(world));

const holdfast = await createHoldfast({
  backend: backendOf(order.database),
  agents,
  secretKey: SECRET_KEY,
  leaseMs: LEASE_MS,
  drainMs: 2_000,
  verifies: true,
  onPoint: reached,
  onError: fail,
});
tell({ kind: "ready" });

// Whoever started us is gone, or wants us to come to an end.
const ended = new Promise<void>((resolve) => process.stdin.resume().once("end", resolve));

if (order.play && played) {
  const { name } = order.play;
  const key = (thread: string) => `${name}/${thread}`;
  try {
    await Promise.race([
      played.play({ holdfast, ledger, key }),
      ended.then(() => Promise.reject(new Error("The scenario did not come to its end."))),
    ]);
  } catch (error) {
    fail(error);
  }
} else {
  await ended;
}
await holdfast.close();
tell({ kind: "done" });
process.exit(0);
