// A process that plays a scenario, or only works for others, and dies where it is told to. Run by `startChild`.
import { createHoldfast } from "../../src/holdfast.ts";
import { meetFate } from "../../src/testing/crash-points.ts";
import { openEffectLedger } from "../../src/testing/ledger-client.ts";
import { tell } from "../../src/testing/told.ts";
import { backendOf, LEASE_MS, SECRET_KEY } from "./database.ts";
import type { Order } from "./order.ts";
import { definitionsOf, scenarioNamed, scenarios, special } from "./scenarios.ts";

const order = JSON.parse(process.argv[2] ?? "{}") as Order;
const reached = meetFate(order);

function fail(error: unknown): void {
  tell({ kind: "error", text: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

const ledger = openEffectLedger(order.ledger);
// Where others share the database, they wait until a call that was cut off cannot be made any more.
const isMortal = order.database.kind === "postgres" && (order.at !== undefined || order.quiet === true);
const world = { ledger, reached, isMortal };
const played = order.play === undefined ? undefined : scenarioNamed(order.play.scenario);
const definitions = definitionsOf(played ? [played] : [...scenarios, ...special], world);

const holdfast = await createHoldfast({
  backend: backendOf(order.database),
  ...definitions,
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
